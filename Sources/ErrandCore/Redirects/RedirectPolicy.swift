/// The redirects that are followed (RFC 9110 §15.4).
///
/// A negative ``maximumCount`` fails requests with ``RequestError/Code/invalidConfiguration``.
public struct RedirectPolicy: Sendable, Hashable, Codable {
    /// The maximum number of consecutive redirects; 0 returns every 3xx response as it is (default 20).
    public var maximumCount: Int
    /// Whether a redirect from https to http is followed, without credentials (default false).
    public var allowsDowngrade: Bool

    /// Creates a policy.
    public init(maximumCount: Int = 20, allowsDowngrade: Bool = false) {
        self.maximumCount = maximumCount
        self.allowsDowngrade = allowsDowngrade
    }

    /// Follows up to 20 redirects, but none from https to http.
    public static let follow = RedirectPolicy()
    /// Follows no redirects: a 3xx response is returned as it is.
    public static let none = RedirectPolicy(maximumCount: 0)
}

extension RedirectPolicy {
    /// The first setting whose value is invalid, and the values that are valid.
    package var fault: String? {
        maximumCount < 0
            ? "redirectPolicy.maximumCount is \(maximumCount). Set 0 to deliver redirects, or more."
            : nil
    }
}
