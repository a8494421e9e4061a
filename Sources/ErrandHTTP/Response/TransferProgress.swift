/// The progress of a request in both directions, in bytes.
public struct TransferProgress: Sendable, Hashable {
    /// The number of request body bytes that were sent.
    public var bytesSent: Int64 = 0
    /// The length of the request body; `nil` if unknown.
    public var totalBytesToSend: Int64?
    /// The number of response body bytes that were received, including those before a download was resumed.
    public var bytesReceived: Int64 = 0
    /// The length of the response body; `nil` if unknown.
    public var totalBytesToReceive: Int64?
    /// The part of ``bytesReceived`` that was on the disk when a download began.
    public var resumedBytes: Int64 = 0
    /// The smoothed rate of the request body in bytes per second; `nil` until it was measured for 100 ms.
    ///
    /// It is measured while the progress is observed, by a closure, a sequence or a Foundation `Progress`.
    public var bytesSentPerSecond: Double?
    /// The smoothed rate of the response body in bytes per second, without ``resumedBytes``; `nil` until it was
    /// measured for 100 ms.
    ///
    /// It is measured while the progress is observed, by a closure, a sequence or a Foundation `Progress`.
    public var bytesReceivedPerSecond: Double?

    /// Creates progress at zero.
    public init() {}

    /// Whether bytes were transferred, including those of earlier runs.
    package var hasBytes: Bool { bytesSent > 0 || bytesReceived > 0 }

    /// The sent fraction of the request body, from 0 to 1; `nil` if its length is unknown, or without a body.
    public var fractionSent: Double? { Self.fraction(bytesSent, of: totalBytesToSend) }

    /// The received fraction of the response body, from 0 to 1; `nil` if its length is unknown.
    public var fractionReceived: Double? { Self.fraction(bytesReceived, of: totalBytesToReceive) }

    /// The completed fraction of both directions together, from 0 to 1; `nil` if the response's length is unknown.
    ///
    /// It is unknown until the response begins, so show the progress of an upload with ``fractionSent``.
    public var fractionCompleted: Double? {
        guard let receive = totalBytesToReceive else { return nil }
        let total = Self.sum(totalBytesToSend ?? 0, receive)
        return Self.fraction(Self.sum(bytesSent, bytesReceived), of: total)
    }

    /// The estimated time until the rest of the response body was received, or, before the response begins, until the
    /// rest of the request body was sent; `nil` if length or rate are unknown.
    public var timeLeft: Duration? {
        if let total = totalBytesToReceive {
            return Self.time(for: total - bytesReceived, at: bytesReceivedPerSecond)
        }
        guard let total = totalBytesToSend, bytesSent < total else { return nil }
        return Self.time(for: total - bytesSent, at: bytesSentPerSecond)
    }

    private static func time(for bytes: Int64, at rate: Double?) -> Duration? {
        guard bytes > 0 else { return .zero }
        guard let rate, rate > 0 else { return nil }
        let seconds = Double(bytes) / rate
        // More than thirty years is no estimate.
        return seconds < 1e9 ? .seconds(seconds) : nil
    }

    private static func fraction(_ part: Int64, of total: Int64?) -> Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(part) / Double(total)) : 1
    }

    /// The sum of two lengths, limited to `Int64.max`: a server can declare any length, so the sum can overflow.
    package static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
