import ErrandHTTP

/// The extension permessage-deflate: its offer, and the check of the server's response (RFC 7692 §7).
package struct DeflateExtension: Sendable, Hashable {
    package static let name = "permessage-deflate"

    /// Messages of fewer bytes are sent without compression.
    package var threshold = 256
    /// The level of zlib, from 1 (fastest) to 9 (smallest).
    package var level = 6
    /// The largest window of the client, as a power of two from 9 to 15.
    ///
    /// zlib needs 32 KiB for 12 and 256 KiB for 15.
    package var clientWindowBits = 12
    /// The largest window of the server, as a power of two from 8 to 15; the client needs as many bytes.
    package var serverWindowBits = 15
    /// Whether a message may refer to the client's messages before it.
    package var keepsClientContext = true
    /// Whether a message may refer to the server's messages before it.
    package var keepsServerContext = true

    package init() {}

    /// What the server has accepted.
    package struct Agreement: Sendable, Hashable {
        package var clientWindowBits: Int
        package var serverWindowBits = 15
        package var keepsClientContext: Bool
        package var keepsServerContext = true
        package var threshold: Int
        package var level: Int

        /// Whether the client can compress.
        ///
        /// zlib has no window of 256 bytes (RFC 7692 §7.1.2.2). Messages without compression are always allowed (§6).
        var isDeflating: Bool { clientWindowBits >= 9 }
    }

    /// The element of `Sec-WebSocket-Extensions` (RFC 7692 §7.1).
    package var offer: String {
        var text = Self.name
        // §7.1.1.1: the server must accept this one.
        if !keepsServerContext { text += "; server_no_context_takeover" }
        // §7.1.1.2: a hint.
        if !keepsClientContext { text += "; client_no_context_takeover" }
        // §7.1.2.1: the server must accept this one.
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        // §7.1.2.2: the server may choose a smaller window only if the offer has the parameter.
        text += "; client_max_window_bits"
        return clientWindowBits < 15 ? "\(text)=\(clientWindowBits)" : text
    }

    /// Checks the parameters of the server's response.
    package func agreement(
        _ parameters: [(name: String, value: String?)]
    ) throws(WebSocketFault) -> Agreement {
        var agreement = Agreement(
            clientWindowBits: clientWindowBits, keepsClientContext: keepsClientContext,
            threshold: threshold, level: level)
        var seen: Set<String> = []
        for (name, value) in parameters {
            // §7.1: no parameter repeats.
            guard seen.insert(name).inserted else { throw Self.refusal("repeats \(name)") }
            switch name {
            // §7.1.1.1, §7.1.1.2: without a value.
            case "server_no_context_takeover" where value == nil:
                agreement.keepsServerContext = false
            case "client_no_context_takeover" where value == nil:
                agreement.keepsClientContext = false
            // §7.1.2.1: the same value as in the offer, or a smaller one.
            case "server_max_window_bits":
                agreement.serverWindowBits = try Self.bits(value, of: name)
            // §7.1.2.2: the response needs a value. A larger window than the offered one changes nothing.
            case "client_max_window_bits":
                agreement.clientWindowBits = min(
                    clientWindowBits, try Self.bits(value, of: name))
            default: throw Self.refusal("has an invalid parameter \(Self.shown(name))")
            }
        }
        guard agreement.serverWindowBits <= serverWindowBits else {
            throw Self.refusal("has no server_max_window_bits of at most \(serverWindowBits)")
        }
        guard keepsServerContext || !agreement.keepsServerContext else {
            throw Self.refusal("lacks server_no_context_takeover")
        }
        return agreement
    }

    /// §7.1.2: a decimal number from 8 to 15 without leading zeros.
    private static func bits(
        _ value: String?, of name: String
    ) throws(WebSocketFault) -> Int {
        for bits in 8...15 where value == "\(bits)" { return bits }
        throw refusal("has an invalid value of \(name)")
    }

    private static func shown(_ name: String) -> String {
        name.isToken && name.utf8.count <= 40 ? name : "with a malformed name"
    }

    private static func refusal(_ what: String) -> WebSocketFault {
        WebSocketFault(.missingExtension, "Its response to the offer of \(name) \(what).")
    }
}
