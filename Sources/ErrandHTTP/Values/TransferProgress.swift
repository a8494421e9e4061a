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

    /// Creates progress at zero.
    public init() {}

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
