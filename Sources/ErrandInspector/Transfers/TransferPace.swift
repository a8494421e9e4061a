import ErrandHTTP
import ErrandTransport
import Synchronization

/// The speed limit of one request, which its transfers share, in each direction.
final class TransferPace: Sendable {
    private struct State {
        var received: BandwidthSchedule
        var sent: BandwidthSchedule
    }

    /// The limit, at least 1.
    let bytesPerSecond: Int
    /// The number of bytes that are passed on together: those of an eighth of a second, at most 64 KiB.
    let chunkSize: Int
    private let clock: any RequestClock
    private let state: Mutex<State>

    init(bytesPerSecond: Int, clock: any RequestClock) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        self.clock = clock
        chunkSize = min(max(1, bytesPerSecond / 8), 64 << 10)
        let schedule = BandwidthSchedule(bytesPerSecond: Int64(bytesPerSecond))
        state = Mutex(State(received: schedule, sent: schedule))
    }

    /// Counts bytes that were delivered; returns how long the next ones wait.
    func received(_ bytes: Int) -> Duration {
        state.withLock { state in
            let now = clock.uptime
            return state.received.count(Int64(bytes), at: now).map { $0 - now } ?? .zero
        }
    }

    /// Waits until bytes may be sent.
    func send(_ bytes: Int) async throws {
        let delay = state.withLock { $0.sent.reserve(Int64(bytes), at: clock.uptime) }
        if delay > .zero { try await clock.sleep(for: delay) }
    }
}
