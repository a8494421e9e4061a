import Errand
import Foundation

/// A line of the conversation, in both directions.
struct Line: Codable, Sendable {
    var from: String
    var text: String
}

/// A room of the chat server.
final class Room: BaseRequest, MessageEndpoint {
    typealias Incoming = Line
    typealias Outgoing = Line

    private let address: String

    /// - Parameter address: The URL, such as `ws://127.0.0.1:8765/lobby`.
    init(_ address: String) { self.address = address }

    override var url: EndpointURL { EndpointURL(raw: address) }
    var webSocket: WebSocketOptions {
        WebSocketOptions(
            subprotocols: ["chat.v1"], compression: .deflate(threshold: 128),
            maximumMessageBytes: 64 << 10)
    }
}
