package import ErrandSystem

/// Whether two bodies have the same bytes.
///
/// For `#expect` with large bodies: if a comparison with `==` fails, Swift Testing looks for the shortest list of
/// differences, which can take hours, and blocks the threads of all other tests.
package func haveSameBytes(_ left: Data?, _ right: Data?) -> Bool { left == right }
