/// Which statuses are a success: a range, a set, or a rule of your own (row VAL-14).
///
///     override var statusCodeValidator: StatusCodeValidator? { .codes([200, 304, 404]) }
public struct StatusCodeValidator: Sendable {
    private let body: @Sendable (Int) -> Bool

    /// Makes a rule of a closure, called off the main actor for each answer, stored ones too.
    public init(_ body: @escaping @Sendable (Int) -> Bool) { self.body = body }

    /// Every status is a success: what it means is for the caller to see.
    public static var any: Self { StatusCodeValidator { _ in true } }

    /// These statuses and no others.
    public static func codes(_ codes: Set<Int>) -> Self {
        StatusCodeValidator { codes.contains($0) }
    }

    /// Whether an answer with this status is a success.
    public func accepts(_ status: Int) -> Bool { body(status) }
}

extension RequestDescription {
    /// Whether an answer with this status is a success: the validator decides, without one the range.
    package func acceptsStatus(_ status: Int) -> Bool {
        statusCodeValidator?.accepts(status) ?? acceptableStatusCodes.contains(status)
    }
}
