/// Why the bytes of a head are not HTTP: a sentence for the error's message, without values from the wire.
package struct HeadFault: Error, Sendable, Hashable {
    package let message: String

    package init(_ message: String) { self.message = message }

    /// There is no line before it that it could be the rest of.
    package static var beginsFolded: HeadFault { HeadFault("The head begins with a folded line.") }
}
