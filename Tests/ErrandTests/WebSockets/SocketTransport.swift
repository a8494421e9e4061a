import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandWebSocket

/// A transport whose connections a test plays the server of.
///
/// A connection keeps its receiver, and that the transport, until it has ended; a test that leaves connections open
/// calls `shutDown()`.
final class SocketTransport: Transport {
    /// The response to a request.
    enum Reply: Sendable {
        case status(Int, HTTPFields)
        /// 101 with further fields, for example `Sec-WebSocket-Accept` of another key.
        case switches(HTTPFields)
        /// A success of an extended CONNECT (RFC 8441).
        case stream(HTTPFields)
        case silence
    }

    /// The server's end of a connection.
    final class Connection: Transfer {
        private struct State {
            var receiver: (any TransferReceiver)?
            var source: (any BodySource)?
            var output: [UInt8] = []
            var input: [[UInt8]] = []
            var isPaused = false
            var hasEnded = false
            var hasOutputEnded = false
        }

        let request: TransportRequest
        private let state: Mutex<State>

        init(_ request: TransportRequest, _ receiver: any TransferReceiver) {
            self.request = request
            state = Mutex(State(receiver: receiver))
        }

        private var receiver: (any TransferReceiver)? { state.withLock { $0.receiver } }
        var isPaused: Bool { state.withLock { $0.isPaused } }
        var hasEnded: Bool { state.withLock { $0.hasEnded } }
        var hasOutputEnded: Bool { state.withLock { $0.hasOutputEnded } }

        fileprivate func reply(_ reply: Reply) {
            switch reply {
            case .silence: break
            case .status(let status, let headers):
                receiver?.didReceive(
                    head: ResponseHead(status: .init(code: status), headers: headers))
                end()
            case .switches(let more):
                var headers: HTTPFields = [:]
                headers[.upgrade] = "websocket"
                headers[.connection] = "upgrade"
                headers[.secWebSocketAccept] = WebSocketHandshake.accept(
                    request.headers[.secWebSocketKey] ?? "")
                for field in more { headers[field.name] = field.value.isEmpty ? nil : field.value }
                handOver(ResponseHead(status: .switchingProtocols, headers: headers))
            case .stream(let headers):
                handOver(ResponseHead(status: .ok, headers: headers, httpVersion: .http2))
            }
        }

        private func handOver(_ head: ResponseHead) {
            guard let owner = receiver as? any ConnectionOwner, owner.acceptsConnection else {
                return end(RequestError(.badServerResponse, stage: .transport, "no owner"))
            }
            let source = owner.didSwitchProtocols(head)
            state.withLock { $0.source = source }
            pull()
        }

        /// Sends bytes to the client when it reads.
        func send(_ bytes: [UInt8]) {
            let isPaused = state.withLock { state in
                if state.isPaused { state.input.append(bytes) }
                return state.isPaused
            }
            if !isPaused { deliver(bytes) }
        }

        /// Passes bytes on with their buffer, as the engine does with a large read after a pause.
        func sendChunk(_ bytes: [UInt8]) -> Demand {
            (receiver as? any StreamReceiver)?.didReceive(chunk: Data(bytes)) ?? .stop
        }

        private func deliver(_ bytes: [UInt8]) {
            guard let receiver,
                bytes.withUnsafeBytes({ receiver.didReceive(bytes: $0) }) == .pause
            else { return }
            state.withLock { $0.isPaused = true }
        }

        func resumeReceiving() {
            while true {
                let bytes = state.withLock { state -> [UInt8]? in
                    state.isPaused = false
                    return state.input.isEmpty ? nil : state.input.removeFirst()
                }
                guard let bytes else { return }
                deliver(bytes)
                if isPaused { return }
            }
        }

        /// Takes what the client sends, as a socket with room does.
        func pull(upTo limit: Int = .max) {
            var left = limit
            var room = [UInt8](repeating: 0, count: 4_096)
            while left > 0, let source = state.withLock({ $0.source }) {
                let read = room.withUnsafeMutableBytes { room in
                    source.read(
                        into: UnsafeMutableRawBufferPointer(
                            rebasing: room[..<min(left, room.count)]))
                }
                switch read {
                case .bytes(let count):
                    left -= count
                    state.withLock { $0.output += room[..<count] }
                case .wait: return
                case .end: return state.withLock { $0.hasOutputEnded = true }
                case .failed(let error): return end(error)
                }
            }
        }

        /// The frames of the client since the last call.
        func frames(keeping: Bool = false) -> [String] {
            pull()
            return NaiveWebSocket.clientFrames(
                state.withLock { state in
                    defer { if !keeping { state.output = [] } }
                    return state.output
                })
        }

        /// A write fails, as after a reset; the end of the connection is read later.
        func loseOutput() { state.withLock { $0.source.take() }?.close() }

        /// The server ends its direction, and with it the connection.
        func close() {
            (receiver as? any ConnectionOwner)?.didReceiveEnd()
            pull()
            end()
        }

        func end(_ error: RequestError? = nil) {
            let receiver = state.withLock { state in
                defer { (state.receiver, state.source, state.hasEnded) = (nil, nil, true) }
                return state.receiver
            }
            receiver?.didEnd(TransferEnd(error: error))
        }

        func cancel() { end(.cancelled) }
    }

    let name = "sockets"
    private let opened = Mutex<[Connection]>([])
    private let reply: @Sendable (TransportRequest) -> Reply

    init(_ reply: @escaping @Sendable (TransportRequest) -> Reply = { _ in .switches([:]) }) {
        self.reply = reply
    }

    var connections: [Connection] { opened.withLock { $0 } }

    func check(_ request: TransportRequest) throws(RequestError) {}

    /// Ends the connections.
    func shutDown() {
        for connection in connections { connection.cancel() }
    }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let connection = Connection(request, receiver)
        opened.withLock { $0.append(connection) }
        connection.reply(reply(request))
        return connection
    }
}
