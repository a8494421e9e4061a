import ErrandHTTP

/// A rule of the protocol that the server has broken, or a limit that it exceeds.
package struct WebSocketFault: Error, Sendable, Hashable {
    /// The code of the close frame that ends the connection (RFC 6455 §7.1.7).
    package let code: CloseCode
    /// A sentence about the server.
    package let message: String
    /// What the user can do about a limit; `nil` for a rule.
    package let advice: String?

    package init(_ code: CloseCode, _ message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    static func violation(_ message: String) -> WebSocketFault {
        WebSocketFault(.protocolError, message)
    }
}
