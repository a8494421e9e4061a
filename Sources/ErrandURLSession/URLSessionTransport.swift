public import ErrandCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport over `URLSession`: the default on Apple platforms, an alternative to `CurlTransport` on
/// Linux.
///
///     let agent = RequestAgent(transport: URLSessionTransport(configuration: .ephemeral))
///
/// What URLSession cannot do is refused with ``RequestError/Code/unsupported`` before anything is sent; the
/// page `docs/transports.md` has the table. Cookies, cache and credentials of the configuration are not used:
/// the agent has its own.
///
/// Note for Linux: in Swift 6.3.1 a server that sends chunked trailers, or that closes the connection within
/// the head of its answer, ends the process; nothing above FoundationNetworking can prevent that.
public final class URLSessionTransport: Transport {
    /// The name in events and errors.
    public let name = "urlsession"

    private let engine: SessionEngine

    /// Makes a transport with one session that lives as long as it does.
    ///
    /// - Parameter configuration: The session's settings; a copy is taken. Default `.default`.
    public init(configuration: URLSessionConfiguration = .default) {
        engine = SessionEngine(configuration)
    }

    /// Throws ``RequestError/Code/unsupported`` for what URLSession cannot do.
    public func check(_ request: TransportRequest) throws(RequestError) {
        if let refusal = URLSessionRefusals.refusal(of: request) { throw refusal }
    }

    /// Begins the exchange and returns at once.
    ///
    /// A request that ``check(_:)`` refuses ends with that error.
    public func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> any Transfer {
        engine.start(request, receiver: receiver)
    }

    /// Ends every transfer with ``RequestError/Code/agentShutDown`` and closes all connections.
    public func shutDown() { engine.shutDown() }
}
