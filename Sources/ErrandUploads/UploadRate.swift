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

    /// Waits until the limit allows to read some bytes.
    func wait(for bytes: Int) async throws {
        let delay = schedule.withLock { $0.reserve(Int64(bytes), at: clock.uptime) }
        if delay > .zero { try await clock.sleep(for: delay) }
    }
}
