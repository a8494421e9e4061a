import ErrandHTTP

/// Limits on concurrent and waiting requests.
///
/// A limit of less than 1, or a negative ``waiting``, fails requests with
/// ``RequestError/Code/invalidConfiguration``.
public struct RequestLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests; `nil`, the default, has no limit.
    public var total: Int?
    /// The maximum number of concurrent requests to one host; `nil`, the default, has no limit.
    public var perHost: Int?
    /// The maximum number of concurrent requests by tag (default none).
    public var perTag: [Int: Int]
    /// The maximum number of waiting requests; `nil`, the default, has no limit.
    ///
    /// Another request fails with ``RequestError/Code/queueFull``.
    public var waiting: Int?

    /// Creates limits.
    public init(
        total: Int? = nil, perHost: Int? = nil, perTag: [Int: Int] = [:], waiting: Int? = nil
    ) {
        self.total = total
        self.perHost = perHost
        self.perTag = perTag
        self.waiting = waiting
    }

    /// Whether no request ever waits.
    package var isUnlimited: Bool { total == nil && perHost == nil && perTag.isEmpty }

    /// Describes an invalid value; `nil` if all are valid.
    package var fault: String? {
        let least = "Set at least 1, or nil for no limit."
        if let total, total < 1 { return "limits.total is \(total). \(least)" }
        if let perHost, perHost < 1 { return "limits.perHost is \(perHost). \(least)" }
        if let waiting, waiting < 0 { return "limits.waiting is \(waiting). Set 0 or more." }
        return perTag.first { $0.value < 1 }.map {
            "limits.perTag[\($0.key)] is \($0.value). \(least)"
        }
    }
}
