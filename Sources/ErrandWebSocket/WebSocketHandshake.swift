package import ErrandHTTP
import ErrandSystem

/// The opening handshake of a client over HTTP/1.1 (RFC 6455 §4.1), or HTTP/2 (RFC 8441).
package struct WebSocketHandshake: Sendable {
    /// What both sides have agreed on.
    package struct Agreement: Sendable, Hashable {
        package var subprotocol: String?
        package var deflate: DeflateExtension.Agreement?

        package init() {}
    }

    /// The text that the server appends to the key (RFC 6455 §1.3).
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    private let key: String
    private let subprotocols: [String]
    private let deflate: DeflateExtension?

    /// Creates a handshake with a new key.
    ///
    /// - Throws: ``RequestError/Code/invalidConfiguration`` for subprotocols that are no tokens, or that repeat.
    package init(subprotocols: [String], deflate: DeflateExtension?) throws(RequestError) {
        // §4.1: 16 random bytes for each connection.
        var random = SystemRandomNumberGenerator()
        try self.init(
            subprotocols: subprotocols, deflate: deflate,
            key: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// Creates a handshake with a key of 16 bytes.
    init(
        subprotocols: [String], deflate: DeflateExtension?, key: [UInt8]
    ) throws(RequestError) {
        // §4.1: unique tokens.
        for (index, name) in subprotocols.enumerated()
        where !name.isToken || subprotocols[..<index].contains(name) {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The subprotocol '\(name)' \(name.isToken ? "repeats" : "is not a token"). "
                    + "Name each subprotocol once, without spaces, commas and other separators.")
        }
        self.subprotocols = subprotocols
        self.deflate = deflate
        self.key = Data(key).base64EncodedString()
    }

    /// Sets the fields of the request (RFC 6455 §4.1); its method is GET.
    package func apply(to headers: inout HTTPFields) {
        headers[.upgrade] = "websocket"
        headers[.connection] = "Upgrade"
        headers[.secWebSocketKey] = key
        headers[.secWebSocketVersion] = "13"
        headers[.secWebSocketProtocol] =
            subprotocols.isEmpty ? nil : subprotocols.joined(separator: ", ")
        headers[.secWebSocketExtensions] = deflate?.offer
    }

    /// Checks the response that accepts the connection.
    ///
    /// - Parameter isSwitch: Whether its status is 101; otherwise it is a success of an extended CONNECT, whose stream
    ///   takes the place of the key (RFC 8441 §5).
    package func agreement(
        _ headers: HTTPFields, isSwitch: Bool = true
    ) throws(WebSocketFault) -> Agreement {
        if isSwitch { try checkSwitch(headers) }
        var agreement = try extensions(headers[values: .secWebSocketExtensions])
        agreement.subprotocol = try subprotocol(headers[values: .secWebSocketProtocol])
        return agreement
    }

    /// Checks a response with the status 101 (RFC 6455 §4.1, §4.2.2).
    private func checkSwitch(_ headers: HTTPFields) throws(WebSocketFault) {
        // §4.1, 2.: the only value, regardless of case.
        guard headers[values: .upgrade].map({ $0.lowercasedASCII() }) == ["websocket"] else {
            throw Self.refusal("Its response 101 lacks 'Upgrade: websocket'.")
        }
        // §4.1, 3.: one of the values, regardless of case.
        let options = headers[values: .connection].flatMap { Array(ListElements($0)) }
        guard options.contains(where: { $0.hasSameBytes(ignoringCase: "upgrade") }) else {
            throw Self.refusal("Its response 101 lacks 'Connection: Upgrade'.")
        }
        // §4.1, 4.
        guard headers[values: .secWebSocketAccept] == [Self.accept(key)] else {
            throw Self.refusal(
                "Its response 101 has not the Sec-WebSocket-Accept of this connection, so it does not speak WebSocket."
            )
        }
    }

    /// The value of `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2, 5.4).
    package static func accept(_ key: String) -> String {
        var digest = SHA1()
        digest.update(Data((key + suffix).utf8))
        return Data(digest.finalize()).base64EncodedString()
    }

    /// §4.1, 6.: none, or one that was offered.
    private func subprotocol(_ values: [String]) throws(WebSocketFault) -> String? {
        guard let first = values.first else { return nil }
        guard values.count == 1, subprotocols.contains(first) else {
            throw Self.refusal("It selects a subprotocol that was not offered.")
        }
        return first
    }

    /// §4.1, 5., and §9.1: none, or the one that was offered, once.
    private func extensions(_ values: [String]) throws(WebSocketFault) -> Agreement {
        var agreement = Agreement()
        for element in values.flatMap({ Array(ListElements($0)) }) {
            var pieces = QuotedSplitter(element, at: UInt8(ascii: ";"))
            let name = pieces.next()?.trimmingBlanks() ?? ""
            guard let deflate, name.hasSameBytes(as: DeflateExtension.name),
                agreement.deflate == nil
            else {
                throw WebSocketFault(
                    .missingExtension, "It selects an extension that was not offered.")
            }
            agreement.deflate = try deflate.agreement(pieces.map(Self.parameter))
        }
        return agreement
    }

    /// A parameter of an extension (RFC 6455 §9.1): a token, or a token and a value, which may be quoted.
    private static func parameter(_ piece: Substring) -> (name: String, value: String?) {
        let parts = piece.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
        let name = String((parts.first ?? "").trimmingBlanks())
        guard parts.count == 2 else { return (name, nil) }
        let value = parts[1].trimmingBlanks()
        // §9.1: the value of a quoted string is a token, so nothing in it needs a backslash.
        guard let quoted = value.dropping(prefix: "\"")?.dropping(suffix: "\"") else {
            return (name, String(value))
        }
        return (name, String(quoted))
    }

    private static func refusal(_ message: String) -> WebSocketFault {
        .violation(message)
    }
}
