public import ErrandCore
import ErrandSystem
import ErrandWebSocket

/// An endpoint that is a WebSocket: a subclass of ``BaseRequest``, or of your own base class.
///
///     final class Prices: BaseRequest, MessageEndpoint {
///         typealias Incoming = Price
///         typealias Outgoing = Subscription
///         override var url: EndpointURL { "prices/\(market)" }
///     }
///     let socket = try await Prices().connect()
///
/// Messages are `String` (text), `Data` (binary), or values that are JSON in text.
public protocol MessageEndpoint: BaseRequest {
    /// The messages of the server: `String`, `Data`, or a decodable type.
    associatedtype Incoming: Sendable
    /// The messages of the client: `String`, `Data`, or an encodable type.
    associatedtype Outgoing: Sendable

    /// How the WebSocket is opened, and its limits; by default those of ``WebSocketOptions``.
    var webSocket: WebSocketOptions { get }
}

extension MessageEndpoint {
    /// The defaults.
    public var webSocket: WebSocketOptions { WebSocketOptions() }
}

extension Startable where Self: BaseRequest & MessageEndpoint {
    /// Opens the WebSocket; returns when the server has accepted it.
    ///
    ///     let socket = try await Prices().connect()
    ///     try await socket.send(Subscription(symbol: "SWFT"))
    ///     for try await price in socket.messages { print(price) }
    ///
    /// The request takes the whole path of a request: headers, credentials, cookies, redirects, retries and limits. A
    /// refusal is the error of its status, for example ``RequestError/Code/unacceptableStatus``. `ws` and `wss` are
    /// `http` and `https`. Hooks, delegate and accessories are notified as by ``Startable/stream(on:onStart:)``.
    ///
    /// Settings that need the body of a response are refused as by ``Startable/stream(on:onStart:)``.
    /// `URLSessionTransport` refuses WebSockets with ``RequestError/Code/unsupported`` before anything is sent.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - onStart: Called with the task before anything is sent. Default: does nothing.
    /// - Throws: ``RequestError``.
    nonisolated(nonsending) public func connect(
        on agent: RequestAgent? = nil, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> WebSocket<Incoming, Outgoing> {
        let driver = makeDriver(on: agent)
        let stream = try await openStream(on: agent, onStart) { driver.describe(&$0) }
        return WebSocket(stream, driver)
    }

    /// Opens the WebSocket, and calls closures on the main actor.
    ///
    ///     Prices().connect { _, socket in
    ///         Task { try await socket.send(Subscription(symbol: "SWFT")) }
    ///     } onMessage: { endpoint, price in
    ///         print(price)
    ///     } onClose: { endpoint, error in
    ///         print(error?.webSocketClose?.code ?? .normal)
    ///     }
    ///
    /// The connection is paused while messages wait for `onMessage`. Hooks, delegate and accessories are notified of
    /// the end of the connection. A message that cannot be decoded closes it with 1003. Otherwise like
    /// ``connect(on:onStart:)``.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - onOpen: Called with the open connection.
    ///   - onMessage: Called with each message.
    ///   - onClose: Called at the end, without an error after a clean close with 1000 or 1001.
    @MainActor @discardableResult
    public func connect(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        onOpen: @escaping @MainActor (Self, WebSocket<Incoming, Outgoing>) -> Void,
        onMessage: @escaping @MainActor (Self, Incoming) -> Void,
        onClose: @escaping @MainActor (Self, RequestError?) -> Void
    ) -> RequestTask {
        let driver = makeDriver(on: agent)
        let run = enlist(on: agent) { description, _ in
            description.beStreamed()
            driver.describe(&description)
        }
        let relays = RunRelays(of: run, self, owner: owner)
        Task { @MainActor in
            var failure: RequestError?
            do throws(RequestError) {
                let opened = try await run.agent.open(run.task)
                let socket = WebSocket<Incoming, Outgoing>(ResponseStream(opened, run), driver)
                failure = await deliver(socket, onOpen, onMessage)
            } catch {
                failure = error
            }
            let outcome = await run.task.outcome()
            relays.end(run, of: self, outcome) { error in onClose(self, failure ?? error) }
        }
        return run.task
    }

    /// Passes the messages to closures; returns the error of the end.
    @MainActor
    private func deliver(
        _ socket: WebSocket<Incoming, Outgoing>,
        _ onOpen: (Self, WebSocket<Incoming, Outgoing>) -> Void,
        _ onMessage: (Self, Incoming) -> Void
    ) async -> RequestError? {
        onOpen(self, socket)
        do throws(RequestError) {
            var messages = socket.messages.makeAsyncIterator()
            while let message = try await messages.next() { onMessage(self, message) }
            return nil
        } catch {
            if error.code == .undecodable { socket.close(.unsupportedData) }
            return error
        }
    }

    private nonisolated func makeDriver(on named: RequestAgent?) -> WebSocketDriver {
        // Of the run, which may be on another agent than the endpoint's.
        let agent = agent(atCall: named)
        return WebSocketDriver(
            webSocket, base: agent.configuration.baseURL, clock: agent.clock)
    }
}

extension RequestDescription {
    /// Makes this the description of a request whose only success is a connection.
    mutating func beWebSocket(_ driver: WebSocketDriver, base: EndpointURL?) {
        upgrade = driver
        // Nothing of it is stored.
        cacheSeconds = 0
        mistake = mistake ?? driver.mistake
        if let url = url.ofWebSocket { self.url = url }
        if let base = (baseURL ?? base)?.ofWebSocket { baseURL = base }
    }
}

extension EndpointURL {
    /// The URL with `http` for `ws`, and `https` for `wss` (RFC 6455 §3); `nil` for every other one.
    fileprivate var ofWebSocket: EndpointURL? {
        guard fault == nil else { return nil }
        for (scheme, other) in [("ws://", "http://"), ("wss://", "https://")] {
            let start = Substring(description.utf8.prefix(scheme.utf8.count))
            guard start.hasSameBytes(ignoringCase: scheme) else { continue }
            return EndpointURL(
                raw: other + (description.dropping(prefix: start) ?? ""))
        }
        return nil
    }
}
