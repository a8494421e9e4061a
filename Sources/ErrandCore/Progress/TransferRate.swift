import ErrandHTTP

/// The smoothed rate of a transfer in one direction: a moving average over time; pure.
///
/// At first it is the average since the first sample; after ``timeConstant`` seconds, older samples lose weight
/// exponentially. So a rate is meaningful after the first samples, and follows changes within seconds.
package struct TransferRate: Sendable, Hashable {
    /// The time after which a sample has lost two thirds of its weight, in seconds.
    static let timeConstant = 5.0
    /// The minimum time between two samples: the bytes of shorter times are counted together.
    static let minimumInterval = Duration.milliseconds(100)

    private var bytes: Int64 = 0
    private var sampled: Duration?
    private var began = Duration.zero
    /// The rate in bytes per second; `nil` before the first interval has passed.
    package private(set) var bytesPerSecond: Double?

    package init() {}

    /// Takes the number of bytes at a time; times do not decrease.
    ///
    /// A smaller number than before begins a new attempt: the rate remains, and bytes are counted from there.
    package mutating func add(_ count: Int64, at now: Duration) {
        guard let sampled, count >= bytes else {
            // The average begins again, unless there is one.
            if bytesPerSecond == nil { began = now }
            (bytes, self.sampled) = (count, now)
            return
        }
        let interval = now - sampled
        guard interval >= Self.minimumInterval else { return }
        let seconds = interval / .seconds(1)
        let rate = Double(count - bytes) / seconds
        let elapsed = (now - began) / .seconds(1)
        let weight = max(min(1, seconds / elapsed), seconds / (seconds + Self.timeConstant))
        bytesPerSecond = (bytesPerSecond ?? rate) * (1 - weight) + rate * weight
        (bytes, self.sampled) = (count, now)
    }

    /// Adds bytes that were not transferred to the count.
    package mutating func shift(by count: Int64) { bytes += count }
}
