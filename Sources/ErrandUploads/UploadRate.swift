import ErrandHTTP
import Synchronization

/// The bandwidth limit of one upload: delays reads of the body.
final class UploadRate: Sendable {
    /// The time at which each read may begin; pure.
    struct Schedule: Sendable, Equatable {
        let bytesPerSecond: Int64
        private var next: Duration?

        init(bytesPerSecond: Int64) { self.bytesPerSecond = bytesPerSecond }

        /// Reserves the time of some bytes; returns the delay until they may be read.
        ///
        /// Unused time is not saved: after a pause there is no burst.
        mutating func reserve(_ bytes: Int, at now: Duration) -> Duration {
            let start = max(next ?? now, now)
            next = start + .seconds(Double(bytes) / Double(bytesPerSecond))
            return start - now
        }
    }

    /// The size of the chunks: at most about an eighth of a second.
    let chunkSize: Int
    private let clock: any RequestClock
    private let schedule: Mutex<Schedule>

    init(bytesPerSecond: Int64, clock: any RequestClock) {
        self.clock = clock
        chunkSize = Int(clamping: max(1, bytesPerSecond / 8))
        schedule = Mutex(Schedule(bytesPerSecond: bytesPerSecond))
    }

    /// Waits until the limit allows to read some bytes.
    func wait(for bytes: Int) async throws {
        let delay = schedule.withLock { $0.reserve(bytes, at: clock.uptime) }
        if delay > .zero { try await clock.sleep(for: delay) }
    }
}
