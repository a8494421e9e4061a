import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization

/// A clock that calls a closure while it is read, as another thread may act then.
final class HookedClock: RequestClock {
    private let base = ManualClock()
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)
    private let (ends, ended) = AsyncStream<Void>.makeStream()

    /// Calls a closure once, when the uptime is read.
    func whenRead(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

    var now: Date { base.now }

    var uptime: Duration {
        hook.withLock { $0.take() }?()
        return base.uptime
    }

    func sleep(for duration: Duration) async throws {
        defer { ended.yield() }
        try await base.sleep(for: duration)
    }

    /// Waits for the end of a sleep.
    func untilAwake() async {
        for await _ in ends { return }
    }
}
