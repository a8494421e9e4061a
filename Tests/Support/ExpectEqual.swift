package import Testing

/// Expects two values to be equal.
///
/// `#expect` accepts no call of a mutating method; an argument of this function may be one.
package func expectEqual<Value: Equatable>(
    _ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, sourceLocation: sourceLocation)
}
