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
            "The head is larger than \(limit) bytes; raise maximumHeadBytes if that is expected.")
    }

    /// The server sends interim responses without end.
    package static func tooManyInterim(limit: Int) -> HeadParseError {
        HeadParseError("There are more than \(limit) interim responses.")
    }

    /// The server switches protocols, but the request offers no `Upgrade`.
    package static var switchesProtocols: HeadParseError {
        HeadParseError("The server switches protocols without a request.")
    }

    /// The status line names a version that the connection does not use.
    package static var versionNotNegotiated: HeadParseError {
        HeadParseError("Its version is HTTP/2, which was not negotiated.")
    }
}
