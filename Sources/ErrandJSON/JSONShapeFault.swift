/// One place at which a value does not have the shape that is demanded.
public struct JSONShapeFault: Sendable, Hashable, CustomStringConvertible {
    /// Where, as a normalised path of RFC 9535, for example `$['users'][3]['id']`.
    public var path: String
    /// What was demanded, for example `a number`.
    public var expected: String
    /// What was there, by kind and never by content, for example `a string` or `nothing`.
    public var found: String

    /// Makes a fault.
    public init(path: String, expected: String, found: String) {
        self.path = path
        self.expected = expected
        self.found = found
    }

    /// A sentence with the place, for example `$['id']: expected a number, found a string`.
    public var description: String { "\(path): expected \(expected), found \(found)" }
}

/// A value that does not have its shape.
public struct JSONShapeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first place at which they differ, in the order of the shape.
    public var fault: JSONShapeFault

    /// Makes an error of a fault.
    public init(_ fault: JSONShapeFault) { self.fault = fault }

    /// The fault in a sentence.
    public var description: String { fault.description }
}
