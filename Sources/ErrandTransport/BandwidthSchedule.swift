/// When bytes may be received or read under a limit of bytes per second; pure.
///
/// Bytes are counted when they arrive or are read, and their time is waited for afterwards, so the long-term rate is
/// exact, whatever the size of the chunks is. A wait that ends late is made up for, by at most ``credit``; other
/// unused time is not, so a pause is not followed by a burst.
package struct BandwidthSchedule: Sendable, Equatable {
    /// The time that is made up for.
    package static let credit = Duration.milliseconds(100)

    /// The limit, at least 1; `nil` is none.
    package private(set) var bytesPerSecond: Int64?
    /// The time at which all counted bytes are paid for.
    private var due: Duration?

    package init(bytesPerSecond: Int64?) { self.bytesPerSecond = bytesPerSecond.map { max(1, $0) } }

    /// Counts bytes that have arrived; returns the time at which their receiver may go on, `nil` for at once.
    @discardableResult
    package mutating func count(_ bytes: Int64, at now: Duration) -> Duration? {
        guard let bytesPerSecond else { return nil }
        let start = max(due ?? now, now - Self.credit)
        let end = start + .seconds(Double(max(0, bytes)) / Double(bytesPerSecond))
        due = end
        return end > now ? end : nil
    }

    /// The time until all counted bytes are paid for.
    package func delay(at now: Duration) -> Duration { max(.zero, (due ?? now) - now) }

    /// Counts bytes before they are read; returns the delay until they may be read.
    package mutating func reserve(_ bytes: Int64, at now: Duration) -> Duration {
        defer { count(bytes, at: now) }
        return delay(at: now)
    }

    /// Changes the limit; earlier bytes are forgotten.
    package mutating func change(to bytesPerSecond: Int64?) {
        self = BandwidthSchedule(bytesPerSecond: bytesPerSecond)
    }
}
