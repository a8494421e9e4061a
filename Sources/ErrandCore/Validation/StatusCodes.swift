import ErrandHTTP

/// The status codes that are a success: some codes, ranges of codes, or a rule.
///
///     request.acceptance.statuses = [200, 304, 404]
///     request.acceptance.statuses.insert(404)
public struct StatusCodes: Sendable, ExpressibleByArrayLiteral {
    private enum Storage: Sendable {
        case ranges([Range<Int>])
        case rule(@Sendable (Int) -> Bool)
    }
    private var storage: Storage

    /// Creates a rule from a closure, which is called off the main actor for every response, also stored ones.
    public init(_ accepts: @escaping @Sendable (Int) -> Bool) { storage = .rule(accepts) }

    /// Accepts the status codes of a range.
    public init(_ range: Range<Int>) { storage = .ranges(range.isEmpty ? [] : [range]) }

    /// Accepts these status codes.
    public init(_ codes: some Sequence<Int>) {
        let valid = Set(codes).filter { Self.valid.contains($0) }
        storage = .ranges(valid.sorted().map { $0..<$0 + 1 })
    }

    /// Accepts these status codes.
    public init(arrayLiteral codes: Int...) { self.init(codes) }

    package init(ranges: [Range<Int>]) { storage = .ranges(ranges) }

    /// The codes 200 to 299.
    public static let success = StatusCodes(200..<300)
    /// Every status code; the caller must check the status.
    public static let any = StatusCodes(valid)

    private static let valid = 0..<1000

    /// Accepts a further status code.
    public mutating func insert(_ status: Int) {
        switch storage {
        case .ranges(let ranges):
            if Self.valid.contains(status), !contains(status) {
                storage = .ranges(ranges + [status..<status + 1])
            }
        case .rule(let accepts): storage = .rule { $0 == status || accepts($0) }
        }
    }

    /// Whether a response with this status code is a success.
    public func contains(_ status: Int) -> Bool {
        switch storage {
        case .ranges(let ranges): ranges.contains { $0.contains(status) }
        case .rule(let accepts): accepts(status)
        }
    }

    /// The accepted codes; `nil` for a closure.
    package var ranges: [Range<Int>]? {
        if case .ranges(let ranges) = storage { ranges } else { nil }
    }

    /// The rule in the words of an error.
    var expectation: String {
        guard let ranges else { return "rejected by the closure of acceptance.statuses" }
        return "expected "
            + ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0)" }.joined(separator: ", ")
    }
}
