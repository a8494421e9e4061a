/// When the receivers of a limited number of bytes per second may go on; pure.
///
/// Bytes are counted when they have arrived, and their time is waited for afterwards, so the long-term rate is exact,
/// whatever the size of the chunks is. A wait that ends late is made up for, by at most ``credit``; other unused time
/// is not, so a pause is not followed by a burst.
struct BandwidthSchedule: Sendable, Equatable {
    /// The time that is made up for.
    static let credit = Duration.milliseconds(100)

    /// The limit; `nil` is none.
    private(set) var bytesPerSecond: Int64?
    /// The time at which all bytes that have arrived are paid for.
    private var due: Duration?

    init(bytesPerSecond: Int64?) { self.bytesPerSecond = bytesPerSecond.map { max(1, $0) } }

    /// Counts bytes that have arrived; returns the time at which their receiver may go on, `nil` for at once.
    mutating func count(_ bytes: Int, at now: Duration) -> Duration? {
        guard let bytesPerSecond else { return nil }
        let start = max(due ?? now, now - Self.credit)
        let end = start + .seconds(Double(bytes) / Double(bytesPerSecond))
        due = end
        return end > now ? end : nil
    }

    /// Changes the limit; earlier bytes are forgotten.
    mutating func change(to bytesPerSecond: Int64?) {
        self = BandwidthSchedule(bytesPerSecond: bytesPerSecond)
    }
}
