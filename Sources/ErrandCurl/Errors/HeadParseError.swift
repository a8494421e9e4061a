/// The reason why a head is not valid HTTP: a sentence for the error message, without values from
/// the response.
package struct HeadParseError: Error, Sendable, Hashable {
    package let message: String

    package init(_ message: String) { self.message = message }

    /// The first header line is folded, without a line that it continues.
    package static var beginsFolded: HeadParseError {
        HeadParseError("The head begins with a folded line.")
    }

    /// A line has no colon.
    package static var lacksColon: HeadParseError {
        HeadParseError("A header line has no colon.")
    }

    /// The heads or the trailers of a response exceed the limit.
    package static func tooLarge(limit: Int) -> HeadParseError {
        HeadParseError(
            "Its head or its trailers are larger than \(limit) bytes; raise maximumHeadBytes if that is expected."
        )
    }

    /// The server sends interim responses without end.
    package static func tooManyInterim(limit: Int) -> HeadParseError {
        HeadParseError("There are more than \(limit) interim responses.")
    }

    /// The server switches protocols, but the request does not offer that, or its receiver cannot use it.
    package static var switchesProtocols: HeadParseError {
        HeadParseError(
            "It switches to another protocol (101), which the request cannot use; do not send the header Upgrade."
        )
    }

    /// The status line names a version that the connection does not use.
    package static var versionNotNegotiated: HeadParseError {
        HeadParseError("Its HTTP version was not negotiated.")
    }
}
