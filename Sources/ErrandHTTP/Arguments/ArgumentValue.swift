public import ErrandSystem

/// A value of ``Arguments``: a string, number, Boolean, date, data, or a collection of these.
///
/// A custom type conforms by converting itself to a supported value. An enum with raw values only needs the
/// conformance:
///
///     enum Order: String, ArgumentValue { case newest, oldest }
///
///     struct Money: ArgumentValue {
///         var cents: Int
///         var argumentNode: Arguments.Node { cents.argumentNode }
///     }
public protocol ArgumentValue: Sendable {
    /// The value as a node of the argument tree.
    var argumentNode: Arguments.Node { get }
}

extension Arguments {
    /// A node of an argument tree, the form that serializers receive.
    public indirect enum Node: Sendable, Hashable {
        /// No value; JSON's null.
        case null
        /// A Boolean.
        case bool(Bool)
        /// A whole number.
        case integer(Int64)
        /// A whole number beyond `Int64`.
        case unsigned(UInt64)
        /// A floating-point number; infinity and NaN cannot be encoded.
        case double(Double)
        /// An exact decimal number.
        case decimal(Decimal)
        /// Text.
        case string(String)
        /// A date; ``ArgumentEncoding/dates`` decides its form.
        case date(Date)
        /// Bytes; ``ArgumentEncoding/data`` decides their form.
        case data(Data)
        /// An ordered list of values.
        case array([Arguments.Node])
        /// An unordered collection, written in sorted order; a form repeats its key without brackets.
        case set([Arguments.Node])
        /// Named values.
        case object(Arguments)
    }
}

extension Arguments.Node: ArgumentValue {
    /// The node itself.
    public var argumentNode: Arguments.Node { self }
}

extension ArgumentValue where Self: RawRepresentable, RawValue: ArgumentValue {
    /// The node of the raw value.
    public var argumentNode: Arguments.Node { rawValue.argumentNode }
}

extension Optional: ArgumentValue where Wrapped: ArgumentValue {
    /// The node of the value, or ``Arguments/Node/null``.
    public var argumentNode: Arguments.Node { self?.argumentNode ?? .null }
}

extension String: ArgumentValue {
    /// The text as an argument node.
    public var argumentNode: Arguments.Node { .string(self) }
}

extension Substring: ArgumentValue {
    /// The text as an argument node.
    public var argumentNode: Arguments.Node { .string(String(self)) }
}

// text of the author: a value
extension Character: ArgumentValue {
    /// The character as text.
    public var argumentNode: Arguments.Node { .string(String(self)) }
}

extension Bool: ArgumentValue {
    /// The Boolean as an argument node.
    public var argumentNode: Arguments.Node { .bool(self) }
}

extension Double: ArgumentValue {
    /// The number as an argument node.
    public var argumentNode: Arguments.Node { .double(self) }
}

extension Float: ArgumentValue {
    /// The number with the digits of its description, so that 0.1 stays 0.1.
    public var argumentNode: Arguments.Node { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ArgumentValue {
    /// The number as an argument node.
    public var argumentNode: Arguments.Node { .decimal(self) }
}

extension Date: ArgumentValue {
    /// The date as an argument node.
    public var argumentNode: Arguments.Node { .date(self) }
}

extension Data: ArgumentValue {
    /// The bytes as an argument node.
    public var argumentNode: Arguments.Node { .data(self) }
}

extension URL: ArgumentValue {
    /// The absolute URL as text.
    public var argumentNode: Arguments.Node { .string(absoluteString) }
}

extension UUID: ArgumentValue {
    /// The UUID as text in upper case.
    public var argumentNode: Arguments.Node { .string(uuidString) }
}

extension Array: ArgumentValue where Element: ArgumentValue {
    /// The elements in order.
    public var argumentNode: Arguments.Node { .array(map(\.argumentNode)) }
}

extension Set: ArgumentValue where Element: ArgumentValue {
    /// The elements, without order.
    public var argumentNode: Arguments.Node { .set(map(\.argumentNode)) }
}

extension Dictionary: ArgumentValue where Key == String, Value: ArgumentValue {
    /// The entries, sorted by key.
    public var argumentNode: Arguments.Node {
        var arguments = Arguments()
        arguments.items = map { Arguments.Item(name: $0, node: $1.argumentNode) }
        return .object(arguments.sorted())
    }
}
