import ErrandHTTP
import ErrandTransport
import Synchronization

/// The bandwidth limit of one upload: delays reads of the body.
final class UploadRate: Sendable {
    /// The size of the chunks: at most about an eighth of a second.
    let chunkSize: Int
    private let clock: any RequestClock
    private let schedule: Mutex<BandwidthSchedule>

    init(bytesPerSecond: Int64, clock: any RequestClock) {
        self.clock = clock
        chunkSize = Int(clamping: max(1, bytesPerSecond / 8))
        schedule = Mutex(BandwidthSchedule(bytesPerSecond: bytesPerSecond))
    }

    /// Waits until the limit allows to read some bytes, which are counted before.
    func wait(for bytes: Int) async throws {
        let now = clock.uptime
        let end = schedule.withLock { $0.count(Int64(bytes), at: now) }
        if let end { try await clock.sleep(for: end - now) }
    }
}
