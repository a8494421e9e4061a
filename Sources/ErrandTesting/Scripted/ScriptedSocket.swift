import ErrandCore
import ErrandHTTP
import ErrandSystem
import ErrandTransport
import Synchronization

/// A WebSocket without a network: a script on one side, the receiver that has taken the connection over on the other.
///
/// Used on the queue of its transfer.
final class ScriptedSocket: Sendable {
    enum Action: Sendable {
        case wait
        case hold(Gate)
        case deliver(Data)
        case end
        case failed(RequestError)
    }

    private struct State: Sendable {
        var conversation: WebSocketConversation
        /// Bytes that the receiver does not accept yet.
        var unread: Data?
        /// Whether the script has ended the server's direction.
        var hasEnded = false
        /// Whether the client has ended its own.
        var hasOutputEnded = false
        var hasReportedFailure = false
    }

    private let state: Mutex<State>
    private let owner: any ConnectionOwner
    private let source: any BodySource

    /// Accepts the connection.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` if the request asks for no WebSocket.
    init(
        _ script: WebSocketScript, _ request: TransportRequest, _ receiver: any TransferReceiver
    ) throws(RequestError) {
        guard request.headers[.upgrade]?.lowercasedASCII() == "websocket",
            let key = request.headers[.secWebSocketKey],
            let owner = receiver as? any ConnectionOwner, owner.acceptsConnection
        else {
            throw RequestError(
                .unsupported, stage: .transport,
                "The script is a WebSocket, but the request does not ask for one. Open it with connect()."
            )
        }
        state = Mutex(State(conversation: WebSocketConversation(script)))
        var headers = HTTPFields()
        for line in WebSocketFrames.accept(key, script) {
            guard let name = HTTPField.Name(line.name) else { continue }
            headers.append(HTTPField(name: name, value: line.value))
        }
        self.owner = owner
        source = owner.didSwitchProtocols(
            ResponseHead(status: .switchingProtocols, headers: headers, httpVersion: .http11))
    }

    /// What the client has not done as the script expects; once.
    func takeFailure() -> String? {
        state.withLock { state -> String? in
            guard let failure = state.conversation.failure, !state.hasReportedFailure else {
                return nil
            }
            state.hasReportedFailure = true
            return failure
        }
    }

    /// The next action.
    ///
    /// - Parameters:
    ///   - mayDeliver: Whether the receiver accepts bytes.
    ///   - wake: Called when the client sends more.
    func next(mayDeliver: Bool, wake: @escaping @Sendable () -> Void) -> Action {
        if let error = readOutput(wake) { return .failed(error) }
        let (action, endsInput) = state.withLock { state -> (Action, Bool) in
            if state.unread == nil, !state.hasEnded {
                switch state.conversation.next() {
                case .send(let data): state.unread = data
                case .hold(let gate): return (state.hasOutputEnded ? .end : .hold(gate), false)
                case .wait: return (state.hasOutputEnded ? .end : .wait, false)
                case .end:
                    state.hasEnded = true
                    return (.wait, true)
                case .failed:
                    let text = state.conversation.failure ?? ""
                    return (.failed(RequestError(.unsupported, stage: .transport, text)), false)
                }
            }
            if state.hasEnded { return (state.hasOutputEnded ? .end : .wait, false) }
            guard mayDeliver, let data = state.unread.take() else { return (.wait, false) }
            return (.deliver(data), false)
        }
        guard endsInput else { return action }
        owner.didReceiveEnd()
        return next(mayDeliver: mayDeliver, wake: wake)
    }

    /// Reads what the client sends; returns its failure.
    private func readOutput(_ wake: @escaping @Sendable () -> Void) -> RequestError? {
        var room = [UInt8](repeating: 0, count: 16 << 10)
        while !state.withLock({ $0.hasOutputEnded }) {
            switch room.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count):
                let bytes = room[..<count]
                state.withLock { $0.conversation.receive(bytes) }
            case .wait:
                source.whenReadable(wake)
                return nil
            case .failed(let error): return error
            case .end: state.withLock { $0.hasOutputEnded = true }
            }
        }
        return nil
    }
}
