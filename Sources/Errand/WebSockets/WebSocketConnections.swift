public import ErrandCore
import ErrandSystem

extension Startable where Self: BaseRequest & MessageEndpoint {
    /// The connections of an endpoint, one after another: a lost one is replaced.
    ///
    ///     for try await socket in Prices().connections() {
    ///         for try await price in socket.messages { print(price) }
    ///     }
    ///
    /// The next connection is opened when the loop asks for it; one that is still open is closed with 1000 before. The
    /// delay before it is 3 seconds, and grows with the endpoint's ``RetryPolicy``, with jitter, while connections
    /// cannot be opened; `Retry-After` of a refusal counts.
    ///
    /// The sequence ends after a close frame of the server with 1000, and after ``WebSocket/close(_:reason:)``.
    /// Connection errors, the codes 1001, 1006 and 1011 to 1014, and the statuses of
    /// ``RetryPolicy/retryableStatusCodes`` lead to another connection; every other end is the error of the sequence.
    ///
    /// Therefore ``WebSocket/messages`` and ``WebSocket/fragments`` of these connections end without an error, however the
    /// connection ends; ``WebSocket/closed`` says how. An error of ``WebSocket/send(_:)``, or of a message that cannot be
    /// decoded, leaves both loops unless it is caught in the outer one.
    ///
    /// - Parameter agent: The agent of the connections. Default `nil`: that of the endpoint.
    public nonisolated func connections(
        on agent: RequestAgent? = nil
    ) -> WebSocketConnections<Self> {
        WebSocketConnections(endpoint: self, agent: agent)
    }
}

/// The connections of an endpoint; see ``Startable/connections(on:)``.
public struct WebSocketConnections<Endpoint: BaseRequest & MessageEndpoint>: AsyncSequence {
    /// An open connection.
    public typealias Element = WebSocket<Endpoint.Incoming, Endpoint.Outgoing>

    let endpoint: Endpoint
    let agent: RequestAgent?

    /// Creates the iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(endpoint: endpoint, agent: agent) }

    /// Opens connections.
    public struct Iterator: AsyncIteratorProtocol {
        let endpoint: Endpoint
        let agent: RequestAgent?
        private var socket: Element?
        private var reconnection: ReconnectionState?
        /// Ends the wait between two connections when the agent cancels its tasks.
        private var entry: ReconnectingStreams<RequestTask>.Entry?
        /// The policy of the latest connection.
        private var policy = RetryPolicy()

        init(endpoint: Endpoint, agent: RequestAgent?) {
            (self.endpoint, self.agent) = (endpoint, agent)
        }

        /// The next connection; `nil` at the end.
        public mutating func next() async throws(RequestError) -> Element? {
            try await next(isolation: #isolation)
        }

        /// The next connection; `nil` at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestError) -> Element? {
            let agent = endpoint.agent(atCall: agent)
            if let previous = socket.take() {
                switch previous.driver.ending {
                case .open: previous.close()
                case .regular: return nil
                case .failed(let error): try await wait(after: previous.named(error), on: agent)
                }
            }
            return try await open(on: agent)
        }

        private nonisolated(nonsending) mutating func open(
            on agent: RequestAgent
        ) async throws(RequestError) -> Element {
            while true {
                do throws(RequestError) {
                    let socket = try await endpoint.connect(on: agent) { task in
                        if entry == nil { entry = agent.reconnectingStreams.add(task) }
                        policy = task.description.retryPolicy ?? agent.configuration.retryPolicy
                    }
                    socket.driver.endQuietly()
                    reconnection?.received()
                    self.socket = socket
                    return socket
                } catch {
                    try await wait(after: error, on: agent)
                }
            }
        }

        /// Waits for the next attempt.
        ///
        /// - Throws: The error, if it is no reason for another connection.
        private nonisolated(nonsending) mutating func wait(
            after error: RequestError, on agent: RequestAgent
        ) async throws(RequestError) {
            let delay = try delay(after: error, on: agent)
            // Without a task nothing was started.
            guard let entry else { throw error }
            if await entry.sleep(for: delay, on: agent.clock) { return }
            // The next request says that the agent was shut down.
            guard entry.scope.isCancelled, agent.isShutDown else { throw .cancelled }
        }

        // Not inlined: what it needs would lie in the frame of the waiting task, which had 3,280 bytes.
        @inline(never)
        private mutating func delay(
            after error: RequestError, on agent: RequestAgent
        ) throws(RequestError) -> Duration {
            var state = reconnection ?? ReconnectionState(limit: nil, policy: policy)
            let action = state.ended(
                .failed(error.ofReconnection), reconnectionTime: nil,
                retryAfter: RetryAfter.duration(
                    error.response?.headers[.retryAfter], now: agent.clock.now),
                random: Double.random(in: 0..<1))
            reconnection = state
            guard case .reconnect(let delay) = action else { throw error }
            return delay
        }
    }
}

extension RequestError {
    /// A lost connection in place of an end of a WebSocket after which another one makes sense.
    fileprivate var ofReconnection: RequestError {
        guard code == .webSocketClosed, let close = webSocketClose,
            [
                .goingAway, .abnormal, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
            ].contains(close.code)
        else { return self }
        return RequestError(.connectionLost, stage: stage, message)
    }
}
