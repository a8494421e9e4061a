public import Foundation

/// What may stand as a value in ``Arguments``: text, numbers, Bool, dates, data, and collections of them.
///
/// A type of your own joins by saying what it stands for; an enum with raw values only needs the name:
///
///     enum Order: String, ArgumentValue { case newest, oldest }
///
///     struct Money: ArgumentValue {
///         var cents: Int
///         var argumentNode: ArgumentNode { cents.argumentNode }
///     }
public protocol ArgumentValue: Sendable {
    /// The value as a part of a tree of arguments.
    var argumentNode: ArgumentNode { get }
}

/// A value of arguments in the form that serializers see.
public indirect enum ArgumentNode: Sendable, Hashable {
    /// No value: JSON's null.
    case null
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number beyond `Int64`.
    case unsigned(UInt64)
    /// A number; infinity and NaN cannot be encoded.
    case double(Double)
    /// A decimal number, exact.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A moment; how it is written is a matter of ``ArgumentEncoding/dates``.
    case date(Date)
    /// Bytes; how they are written is a matter of ``ArgumentEncoding/data``.
    case data(Data)
    /// Values in order.
    case array([ArgumentNode])
    /// Values without order: written sorted, in a form as a repeated plain key (row ENC-5).
    case set([ArgumentNode])
    /// Values with names.
    case object(Arguments)
}

extension ArgumentNode: ArgumentValue {
    /// Itself.
    public var argumentNode: ArgumentNode { self }
}

extension ArgumentValue where Self: RawRepresentable, RawValue: ArgumentValue {
    /// The raw value.
    public var argumentNode: ArgumentNode { rawValue.argumentNode }
}

extension Optional: ArgumentValue where Wrapped: ArgumentValue {
    /// The value, or ``ArgumentNode/null``.
    public var argumentNode: ArgumentNode { self?.argumentNode ?? .null }
}

extension String: ArgumentValue {
    /// The text.
    public var argumentNode: ArgumentNode { .string(self) }
}

extension Substring: ArgumentValue {
    /// The text.
    public var argumentNode: ArgumentNode { .string(String(self)) }
}

extension Character: ArgumentValue {
    /// The character as text.
    public var argumentNode: ArgumentNode { .string(String(self)) }
}

extension Bool: ArgumentValue {
    /// The truth value.
    public var argumentNode: ArgumentNode { .bool(self) }
}

extension Double: ArgumentValue {
    /// The number.
    public var argumentNode: ArgumentNode { .double(self) }
}

extension Float: ArgumentValue {
    /// The number with the digits of its own description: 0.1 stays 0.1.
    public var argumentNode: ArgumentNode { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ArgumentValue {
    /// The number.
    public var argumentNode: ArgumentNode { .decimal(self) }
}

extension Date: ArgumentValue {
    /// The moment.
    public var argumentNode: ArgumentNode { .date(self) }
}

extension Data: ArgumentValue {
    /// The bytes.
    public var argumentNode: ArgumentNode { .data(self) }
}

extension URL: ArgumentValue {
    /// The absolute address as text.
    public var argumentNode: ArgumentNode { .string(absoluteString) }
}

extension UUID: ArgumentValue {
    /// The identifier as text, in upper case.
    public var argumentNode: ArgumentNode { .string(uuidString) }
}

extension Array: ArgumentValue where Element: ArgumentValue {
    /// The elements in order.
    public var argumentNode: ArgumentNode { .array(map(\.argumentNode)) }
}

extension Set: ArgumentValue where Element: ArgumentValue {
    /// The elements, without order.
    public var argumentNode: ArgumentNode { .set(map(\.argumentNode)) }
}

extension Dictionary: ArgumentValue where Key == String, Value: ArgumentValue {
    /// The entries, sorted by key.
    public var argumentNode: ArgumentNode {
        var arguments = Arguments()
        arguments.items = map { Arguments.Item(name: $0, node: $1.argumentNode) }
        return .object(arguments.sorted())
    }
}
