import ErrandHTTP

/// The status codes that count as success: a set, or a custom rule.
///
///     override var statusCodeValidator: StatusCodeValidator? { .codes([200, 304, 404]) }
public struct StatusCodeValidator: Sendable {
    private let body: @Sendable (Int) -> Bool

    /// Creates a rule from a closure, which is called off the main actor for every response, also stored ones.
    public init(_ body: @escaping @Sendable (Int) -> Bool) { self.body = body }

    /// Accepts every status code; the caller must check the status.
    public static var any: Self { StatusCodeValidator { _ in true } }

    /// Accepts only these status codes.
    public static func codes(_ codes: Set<Int>) -> Self {
        StatusCodeValidator { codes.contains($0) }
    }

    /// Whether a response with this status code is a success.
    public func accepts(_ status: Int) -> Bool { body(status) }
}
