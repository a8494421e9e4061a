public import ErrandCore
import ErrandWebSocket
import Foundation

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

    /// How the WebSocket is opened, and its limits; default ``WebSocketOptions/init(subprotocols:compression:maximumMessageBytes:pingInterval:pingTimeout:closeTimeout:)``.
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
    /// refusal is the error of its status, for example ``RequestError/Code/unacceptableStatus``. `ws` and `wss` are `http`
    /// and `https`. Hooks, delegate and accessories are notified as by ``Startable/stream(on:onStart:)``.
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
        let options = webSocket
        // Of the run, which may be on another agent than the endpoint's.
        let used = self.agent(atCall: agent)
        let driver = WebSocketDriver(options, clock: used.clock)
        _ = try WebSocketHandshake(subprotocols: options.subprotocols, deflate: nil)
        let base = used.configuration.baseURL
        let stream = try await openStream(on: agent, onStart) { $0.beWebSocket(driver, base: base) }
        return WebSocket(stream, driver)
    }
}

extension RequestDescription {
    /// The description of a request whose only success is 101.
    fileprivate mutating func beWebSocket(_ driver: WebSocketDriver, base: EndpointURL?) {
        upgrade = driver
        acceptance.statuses = [101]
        acceptance.contentTypes = nil
        // Nothing of it is stored.
        cacheSeconds = 0
        cache.policy = .reload
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
