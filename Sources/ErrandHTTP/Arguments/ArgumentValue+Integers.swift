extension ArgumentValue where Self: SignedInteger & FixedWidthInteger {
    /// The number as an argument node.
    public var argumentNode: Arguments.Node { .integer(Int64(self)) }
}

extension ArgumentValue where Self: UnsignedInteger & FixedWidthInteger {
    /// The number as an argument node.
    public var argumentNode: Arguments.Node {
        Int64(exactly: self).map { .integer($0) } ?? .unsigned(UInt64(self))
    }
}

extension Int: ArgumentValue {}
extension Int8: ArgumentValue {}
extension Int16: ArgumentValue {}
extension Int32: ArgumentValue {}
extension Int64: ArgumentValue {}
extension UInt: ArgumentValue {}
extension UInt8: ArgumentValue {}
extension UInt16: ArgumentValue {}
extension UInt32: ArgumentValue {}
extension UInt64: ArgumentValue {}
