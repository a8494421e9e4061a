import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Records every save, and fails while `isBroken` is set.
private final class RecordingPersistence: CookiePersistence {
    struct Broken: Error {}
    let saves = Mutex<[[Cookie]]>([])
    let isBroken = Mutex(false)
    private let start: [Cookie]

    init(_ start: [Cookie] = []) { self.start = start }

    func load() throws -> [Cookie] {
        if isBroken.withLock({ $0 }) { throw Broken() }
        return start
    }

    func save(_ cookies: [Cookie]) throws {
        if isBroken.withLock({ $0 }) { throw Broken() }
        saves.withLock { $0.append(cookies) }
    }

    var last: [String]? { saves.withLock { $0.last?.map(\.name) } }
}

@Suite(.limited) struct CookiePersistenceTests {
    private let clock = ManualClock()
    private let origin: HTTPURL

    init() throws { origin = try HTTPURL(parsing: "https://example.com/") }

    @Test func changesAreSavedWithoutSessionCookies() async throws {
        let persistence = RecordingPersistence()
        let jar = CookieJar(persistence: persistence, clock: clock)
        jar.receive("session=1", from: origin)
        try await jar.flush()
        #expect(persistence.saves.withLock { $0.isEmpty })
        jar.receive("a=1; Max-Age=60", from: origin)
        jar.receive("b=1; Max-Age=60", from: origin)
        try await jar.flush()
        #expect(persistence.last == ["a", "b"])
        jar.receive("a=; Max-Age=0", from: origin)
        try await jar.flush()
        #expect(persistence.last == ["b"])
        jar.clear()
        try await jar.flush()
        #expect(persistence.last == [])
    }

    @Test func savedCookiesAreRestoredWithTheirCreationTime() async throws {
        let persistence = RecordingPersistence()
        let jar = CookieJar(persistence: persistence, clock: clock)
        jar.receive("old=1; Max-Age=60", from: origin)
        jar.receive("short=1; Max-Age=5", from: origin)
        try await jar.flush()
        let created = jar.all.first?.created
        clock.advance(by: .seconds(10))
        let restored = CookieJar(
            persistence: RecordingPersistence(persistence.saves.withLock { $0.last ?? [] }),
            clock: clock)
        #expect(restored.all.map(\.name) == ["old"])
        #expect(restored.all.first?.created == created)
    }

    @Test func persistenceFailuresAreReportedAndTheJarStaysUsable() async throws {
        let persistence = RecordingPersistence()
        persistence.isBroken.withLock { $0 = true }
        let jar = CookieJar(persistence: persistence, clock: clock)
        #expect(jar.persistenceFailure is RecordingPersistence.Broken)
        jar.receive("a=1; Max-Age=60", from: origin)
        await #expect(throws: RecordingPersistence.Broken.self) { try await jar.flush() }
        #expect(jar.all.count == 1)
        persistence.isBroken.withLock { $0 = false }
        jar.receive("b=1; Max-Age=60", from: origin)
        try await jar.flush()
        #expect(jar.persistenceFailure == nil)
        #expect(persistence.last == ["a", "b"])
    }

    @Test func concurrentChangesAreAllSaved() async throws {
        let persistence = RecordingPersistence()
        let jar = CookieJar(persistence: persistence, clock: clock)
        await withTaskGroup { group in
            for number in 0..<40 {
                group.addTask { [origin] in
                    jar.receive("n\(number)=1; Max-Age=60", from: origin)
                }
            }
        }
        try await jar.flush()
        #expect(Set(persistence.last ?? []) == Set((0..<40).map { "n\($0)" }))
    }

    /// Holds each save until the semaphore is signalled.
    private final class HeldPersistence: CookiePersistence {
        let gate = DispatchSemaphore(value: 0)
        func load() throws -> [Cookie] { [] }
        func save(_ cookies: [Cookie]) throws { gate.wait() }
    }

    @Test func cancelledFlushEndsAtOnce() async throws {
        let persistence = HeldPersistence()
        let jar = CookieJar(persistence: persistence, clock: clock)
        jar.receive("a=1; Max-Age=60", from: origin)
        let flush = Task {
            await #expect(throws: RequestError.self) { try await jar.flush() }
        }
        flush.cancel()
        #expect(await flush.value?.code == .cancelled)
        persistence.gate.signal()
        try await jar.flush()
    }
}
