import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A clock that tests advance explicitly.
@Suite("ManualClock", .limited)
struct ManualClockTests {
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1000))

    @Test func advancingWakesDueSleepers() async throws {
        async let short: Void = clock.sleep(for: .seconds(1))
        async let long: Void = clock.sleep(for: .seconds(3))
        try await clock.untilSleeping(2)
        clock.advance(by: .seconds(2))
        try await short
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        try await long
        #expect(clock.uptime == .seconds(3))
        #expect(clock.now == Date(timeIntervalSince1970: 1003))
    }

    @Test func cancelledSleepersThrow() async throws {
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.untilSleeping()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleepers == 0)
        let early = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }
}
