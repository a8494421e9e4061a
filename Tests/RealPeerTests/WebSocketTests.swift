import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandWebSocket

/// The values of ErrandWebSocket and the package websockets of PyPI.
@Suite("Real peers: WebSocket", .limited)
struct WebSocketTests {
    private let port: Int

    init() throws { port = try Peers.get().port(.webSocket) }

    private func connect(
        _ target: String, _ subprotocols: [String] = [], _ deflate: DeflateExtension? = nil,
        _ limits: WebSocketState.Limits = WebSocketState.Limits()
    ) throws -> BlockingWebSocket {
        try BlockingWebSocket(
            port: port, target: target, subprotocols: subprotocols, deflate: deflate,
            limits: limits)
    }

    /// The end of a connection as its server saw it.
    private func endSeen(by token: String) throws -> String? {
        let socket = try connect("/ends?token=\(token)")
        let message = try socket.receive()
        while try socket.receive() != nil {}
        return message.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    enum Compression: CaseIterable {
        case none, refused, defaults, small, withoutContext

        var offer: DeflateExtension? {
            var offer = DeflateExtension()
            offer.threshold = 1
            switch self {
            case .none: return nil
            case .refused, .defaults: break
            case .small: (offer.clientWindowBits, offer.serverWindowBits) = (9, 9)
            case .withoutContext:
                (offer.keepsClientContext, offer.keepsServerContext) = (false, false)
            }
            return offer
        }
    }

    /// Text and binary messages around each form of the length.
    @Test(arguments: Compression.allCases)
    func echo(_ compression: Compression) throws {
        let token = "echo-\(compression)"
        let path = compression == .refused ? "/plain" : "/echo"
        let socket = try connect("\(path)?token=\(token)", [], compression.offer)
        #expect((socket.agreement.deflate != nil) == ![.none, .refused].contains(compression))
        var random = SeededGenerator(seed: 1)
        for count in [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 20] {
            var text = ""
            while text.utf8.count < count { text += random.text(upTo: 40) }
            let bytes = Array(text.utf8.prefix(count))
            let isText = String(validating: bytes, as: UTF8.self) != nil
            let message = BlockingWebSocket.Message(isText: isText, bytes: bytes)
            try socket.send(message)
            #expect(try socket.receive() == message)
        }
        try socket.close(.goingAway, reason: "done €")
        #expect(try socket.receive() == nil)
        #expect(socket.end?.isClean == true && socket.end?.code == .goingAway)
        #expect(try endSeen(by: token) == "1001 done €")
    }

    @Test(arguments: [nil, DeflateExtension()])
    func fragmentsAreOneMessage(_ deflate: DeflateExtension?) throws {
        let socket = try connect("/echo?token=fragments-\(deflate == nil)", [], deflate)
        for part in ["one, ", "", "two, ", "three €"] {
            try socket.sendFragment(
                BlockingWebSocket.Message(isText: true, bytes: Array(part.utf8)),
                endsMessage: part.hasPrefix("three"))
        }
        let message = try socket.receive()
        #expect(
            message
                == BlockingWebSocket.Message(isText: true, bytes: Array("one, two, three €".utf8)))
    }

    @Test(arguments: [nil, DeflateExtension()])
    func receivesFragmentsAndPings(_ deflate: DeflateExtension?) throws {
        let socket = try connect("/fragments", [], deflate)
        let message = try socket.receive()
        #expect(
            message
                == BlockingWebSocket.Message(isText: true, bytes: Array("one, two, three €".utf8)))
        #expect(try socket.receive() == nil)
        #expect(socket.end?.isClean == true && socket.end?.code == .normal)
    }

    @Test func subprotocol() throws {
        #expect(try connect("/echo?token=v1", ["v1"]).agreement.subprotocol == "v1")
        #expect(try connect("/echo?token=v2", ["v1", "v2"]).agreement.subprotocol == "v2")
        #expect(try connect("/echo?token=v0").agreement.subprotocol == nil)
    }

    @Test func roundTrip() throws {
        let socket = try connect("/echo?token=ping")
        try socket.ping(after: .seconds(20))
        let message = BlockingWebSocket.Message(isText: true, bytes: [0x61])
        try socket.send(message)
        #expect(try socket.receive() == message)
        #expect(socket.roundTrips.count == 1)
    }

    @Test(arguments: [
        (1000, ""), (1001, "away"), (1011, "é"), (1013, "later"), (3000, ""), (4999, "mine"),
    ])
    func closeOfTheServer(_ code: Int, _ reason: String) throws {
        let escaped = reason == "é" ? "%C3%A9" : reason
        let socket = try connect("/close?code=\(code)&reason=\(escaped)")
        #expect(try socket.receive() == nil)
        let end = try #require(socket.end)
        #expect(end.code == CloseCode(rawValue: UInt16(code)) && end.reason == reason)
        #expect(end.isClean && end.fault == nil)
    }

    @Test func lostConnection() throws {
        let socket = try connect("/lost")
        #expect(try socket.receive() == nil)
        #expect(socket.end?.code == .abnormal && socket.end?.isClean == false)
    }

    /// The server learns the reason of a failure.
    @Test(arguments: [nil, DeflateExtension()])
    func messageThatIsTooLarge(_ deflate: DeflateExtension?) throws {
        var limits = WebSocketState.Limits()
        limits.messageBytes = 1_000
        let token = "large-\(deflate == nil)"
        let socket = try connect("/echo?token=\(token)", [], deflate, limits)
        try socket.send(
            BlockingWebSocket.Message(isText: false, bytes: [UInt8](repeating: 1, count: 1_001)))
        #expect(try socket.receive() == nil)
        #expect(socket.end?.fault?.code == .messageTooBig)
        let seen = try #require(try endSeen(by: token))
        #expect(seen == "1009 It sends a message of more than 1000 bytes.")
    }

    @Test func refusedUpgrade() throws {
        #expect { _ = try connect("/refuse") } throws: { "\($0)" == "status 403" }
    }
}
