public import ErrandJSON
import ErrandSystem

extension JSON: ArgumentValue {
    /// The value with its members in order; an absent value becomes null.
    public var argumentNode: Arguments.Node {
        switch kind {
        case .absent, .null:
            return .null
        case .bool:
            return bool.map { .bool($0) } ?? .null
        case .string:
            return .string(string ?? "")
        case .number:
            return numberNode
        case .array:
            return .array((array ?? []).map(\.argumentNode))
        case .object:
            return .object(Arguments(pairs: (object ?? []).map { ($0.key, $0.value) }))
        }
    }

    /// Whole numbers exactly; other numbers as `Decimal` if `Double` would lose digits.
    private var numberNode: Arguments.Node {
        if let int64 { return .integer(int64) }
        if let uint64 { return .unsigned(uint64) }
        if let text = number, text.utf8.count > 16, let decimal = Decimal(string: text),
            decimal.isFinite
        {
            return .decimal(decimal)
        }
        return double.map { .double($0) } ?? .null
    }
}
