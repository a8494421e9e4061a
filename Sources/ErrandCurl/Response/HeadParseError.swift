/// The reason why a head is not valid HTTP: a sentence for the error message, without values from
/// the response.
package struct HeadParseError: Error, Sendable, Hashable {
    package let message: String

    package init(_ message: String) { self.message = message }

    /// The first header line is folded, without a line that it continues.
    package static var beginsFolded: HeadParseError {
        HeadParseError("The head begins with a folded line.")
    }
}
