import ErrandHTTP
import HTTPTypes
import Testing

@testable import ErrandWebSocket

/// The opening handshake (RFC 6455 §4).
struct WebSocketHandshakeTests {
    /// The key of RFC 6455 §1.3.
    private static let key = Array("the sample nonce".utf8)

    private static func handshake(
        _ subprotocols: [String] = [], _ deflate: DeflateExtension? = nil
    ) throws -> WebSocketHandshake {
        try WebSocketHandshake(subprotocols: subprotocols, deflate: deflate, key: key)
    }

    private static func headers(_ pairs: [(HTTPField.Name, String)]) -> HTTPFields {
        var headers = HTTPFields()
        for (name, value) in pairs { headers.append(HTTPField(name: name, value: value)) }
        return headers
    }

    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    private static let valid: [(HTTPField.Name, String)] = [
        (.upgrade, "websocket"), (.connection, "Upgrade"), (.secWebSocketAccept, accept),
    ]

    @Test func request() throws {
        var headers = HTTPFields()
        try Self.handshake(["v2", "v1"], DeflateExtension()).apply(to: &headers)
        #expect(headers[.upgrade] == "websocket")
        #expect(headers[.connection] == "Upgrade")
        #expect(headers[.secWebSocketVersion] == "13")
        #expect(headers[.secWebSocketKey] == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(headers[.secWebSocketProtocol] == "v2, v1")
        #expect(
            headers[.secWebSocketExtensions] == "permessage-deflate; client_max_window_bits=12")
    }

    @Test func smallestRequest() throws {
        var headers = Self.headers([(.secWebSocketProtocol, "of the user")])
        try Self.handshake().apply(to: &headers)
        #expect(headers[.secWebSocketProtocol] == nil && headers[.secWebSocketExtensions] == nil)
    }

    /// §4.1: a new key of 16 bytes for each connection.
    @Test func keys() throws {
        let keys = try (0..<20).map { _ in
            var headers = HTTPFields()
            try WebSocketHandshake(subprotocols: [], deflate: nil).apply(to: &headers)
            return headers[.secWebSocketKey] ?? ""
        }
        #expect(Set(keys).count == 20)
        #expect(keys.allSatisfy { $0.utf8.count == 24 && $0.hasSuffix("==") })
    }

    /// §1.3.
    @Test func acceptOfTheSample() {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == Self.accept)
    }

    @Test(arguments: [["a b"], [""], ["a,b"], ["v1", "v1"], ["é"]])
    func refusedSubprotocols(_ names: [String]) {
        #expect {
            _ = try Self.handshake(names)
        } throws: { error in
            (error as? RequestError)?.code == .invalidConfiguration
        }
    }

    /// The steps 1 to 6 of §4.1.
    @Test(arguments: [
        ("Upgrade: websocket, regardless of case", "upgrade", ["WebSocket"], true),
        ("no Upgrade", "upgrade", [], false), ("another protocol", "upgrade", ["h2c"], false),
        ("a list of protocols", "upgrade", ["websocket, h2c"], false),
        ("Upgrade twice", "upgrade", ["websocket", "websocket"], false),
        ("a list of options", "connection", ["keep-alive, upgrade"], true),
        ("two fields of options", "connection", ["keep-alive", "UPGRADE"], true),
        ("no Connection", "connection", [], false),
        ("another option", "connection", ["keep-alive"], false),
        ("no Accept", "sec-websocket-accept", [], false),
        ("Accept twice", "sec-websocket-accept", [accept, accept], false),
        ("another Accept", "sec-websocket-accept", ["S3pPLMBiTxaQ9kYGzzhZRbK+xOo="], false),
        ("no subprotocol", "sec-websocket-protocol", [], true),
        ("a subprotocol that was offered", "sec-websocket-protocol", ["v1"], true),
        ("a subprotocol that was not offered", "sec-websocket-protocol", ["v3"], false),
        ("a subprotocol in other case", "sec-websocket-protocol", ["V1"], false),
        ("two subprotocols", "sec-websocket-protocol", ["v1", "v2"], false),
        ("a list of subprotocols", "sec-websocket-protocol", ["v1, v2"], false),
        ("an empty subprotocol", "sec-websocket-protocol", [""], false),
        ("an extension that was not offered", "sec-websocket-extensions", ["x-other"], false),
        (
            "no compression was offered", "sec-websocket-extensions", ["permessage-deflate"],
            false
        ),
    ])
    func response(_ rule: String, _ field: String, _ values: [String], isValid: Bool) throws {
        let name = try #require(HTTPField.Name(field))
        var headers = Self.headers(Self.valid)
        headers[values: name] = values
        let handshake = try Self.handshake(["v1", "v2"])
        if isValid {
            let agreement = try handshake.agreement(headers)
            #expect(agreement.subprotocol == (name == .secWebSocketProtocol ? values.first : nil))
            #expect(agreement.deflate == nil)
        } else {
            #expect(throws: WebSocketFault.self) { try handshake.agreement(headers) }
        }
    }
}

/// The negotiation of permessage-deflate (RFC 7692 §7.1).
struct DeflateExtensionTests {
    private static func agreement(
        _ values: [String], _ offer: DeflateExtension
    ) throws -> DeflateExtension.Agreement? {
        let handshake = try WebSocketHandshake(subprotocols: [], deflate: offer, key: [])
        var headers = HTTPFields()
        headers[.upgrade] = "websocket"
        headers[.connection] = "upgrade"
        headers[.secWebSocketAccept] = WebSocketHandshake.accept("")
        headers[values: .secWebSocketExtensions] = values
        return try handshake.agreement(headers).deflate
    }

    @Test func offers() {
        var offer = DeflateExtension()
        offer.clientWindowBits = 15
        #expect(offer.offer == "permessage-deflate; client_max_window_bits")
        offer.serverWindowBits = 10
        offer.clientWindowBits = 9
        #expect(
            offer.offer
                == "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9")
        offer.keepsClientContext = false
        offer.keepsServerContext = false
        #expect(
            offer.offer == "permessage-deflate; server_no_context_takeover; "
                + "client_no_context_takeover; server_max_window_bits=10; client_max_window_bits=9")
    }

    /// The response, and the windows and contexts of client and server.
    @Test(arguments: [
        ("permessage-deflate", "12 15 keeps keeps"),
        ("permessage-deflate; server_max_window_bits=8", "12 8 keeps keeps"),
        ("permessage-deflate;server_max_window_bits=\"15\"", "12 15 keeps keeps"),
        ("permessage-deflate; client_max_window_bits=9", "9 15 keeps keeps"),
        ("permessage-deflate; client_max_window_bits=8", "8 15 keeps keeps"),
        ("permessage-deflate; client_max_window_bits=15", "12 15 keeps keeps"),
        ("permessage-deflate; client_no_context_takeover", "12 15 resets keeps"),
        ("permessage-deflate; server_no_context_takeover", "12 15 keeps resets"),
        (
            "permessage-deflate ; server_no_context_takeover ; client_no_context_takeover ; "
                + "server_max_window_bits = 10 ; client_max_window_bits = 11", "11 10 resets resets"
        ),
    ])
    func accepted(_ value: String, _ expected: String) throws {
        let agreement = try #require(try Self.agreement([value], DeflateExtension()))
        let words = [
            "\(agreement.clientWindowBits)", "\(agreement.serverWindowBits)",
            agreement.keepsClientContext ? "keeps" : "resets",
            agreement.keepsServerContext ? "keeps" : "resets",
        ]
        #expect(words.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ["permessage-deflate; server_max_window_bits"],
        ["permessage-deflate; server_max_window_bits=7"],
        ["permessage-deflate; server_max_window_bits=16"],
        ["permessage-deflate; server_max_window_bits=08"],
        ["permessage-deflate; server_max_window_bits=+9"],
        ["permessage-deflate; server_max_window_bits=\"9"],
        ["permessage-deflate; server_max_window_bits="],
        ["permessage-deflate; client_max_window_bits"],
        ["permessage-deflate; client_max_window_bits=16"],
        ["permessage-deflate; client_no_context_takeover=1"],
        ["permessage-deflate; server_no_context_takeover=true"],
        ["permessage-deflate; client_no_context_takeover; client_no_context_takeover"],
        ["permessage-deflate; server_max_window_bits=9; server_max_window_bits=9"],
        ["permessage-deflate; unknown"],
        ["permessage-deflate;"],
        ["permessage-deflate; =8"],
        ["permessage-deflate, permessage-deflate"],
        ["permessage-deflate", "permessage-deflate"],
        ["Permessage-Deflate"],
        ["permessage-deflate, x-webkit-deflate-frame"],
    ])
    func refused(_ values: [String]) {
        #expect(throws: WebSocketFault.self) { try Self.agreement(values, DeflateExtension()) }
    }

    /// §7.1.1.1, §7.1.2.1: the server must repeat these parameters of the offer.
    @Test func demandsOfTheOffer() throws {
        var offer = DeflateExtension()
        offer.serverWindowBits = 10
        offer.keepsServerContext = false
        let accepted = "permessage-deflate; server_no_context_takeover; server_max_window_bits=9"
        #expect(try Self.agreement([accepted], offer)?.serverWindowBits == 9)
        for value in [
            "permessage-deflate; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
            "permessage-deflate; server_max_window_bits=10",
        ] {
            #expect(throws: WebSocketFault.self) { try Self.agreement([value], offer) }
        }
    }

    @Test func noCompression() throws {
        #expect(try Self.agreement([], DeflateExtension()) == nil)
    }
}
