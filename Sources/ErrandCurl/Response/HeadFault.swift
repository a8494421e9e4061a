/// Why the bytes of a head are not HTTP: a sentence for the error's message, without values from the wire.
package struct HeadFault: Error, Sendable, Hashable {
    package let message: String

    package init(_ message: String) { self.message = message }
}
