public import ErrandTransport

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport over `URLSession`.
///
/// It is the default on Apple platforms and an alternative to `CurlTransport` on Linux.
///
///     let agent = RequestAgent(transport: URLSessionTransport(configuration: .ephemeral))
///
/// A request that `URLSession` cannot send as described fails with ``RequestError/Code/unsupported`` before
/// anything is sent; the article Transports lists these requests. The cookies, the cache and the credentials
/// of the session's configuration are not used, because the agent has its own.
///
/// On Apple platforms, it applies a ``SecurityPolicy`` by the system's evaluation of certificates; a session for each
/// policy, so that connections are not shared. That code is compiled on Linux, but no test has run; the article
/// Transports states how each platform was checked.
///
/// On Linux (Swift 6.3.1), FoundationNetworking and libdispatch have defects that this transport cannot prevent;
/// the article Transports contains the list. Use it there only with servers that you trust:
///
/// - The process terminates if a server sends chunked trailers, closes the connection inside the response head,
///   or sends a `Content-Length` from 2^63 - 512 to 2^63 - 1; rarely, also if it resets a connection.
/// - Truncated bodies in a content coding cannot be detected. Requests therefore accept no content coding, and
///   encoded responses fail with ``RequestError/Code/badContentEncoding``, unless the request has a header
///   `Accept-Encoding` that lists the coding.
/// - A server that sends more responses than requests mixes up the responses of a reused connection. Requests
///   therefore open a connection each; see ``init(configuration:reusesConnections:)``.
public final class URLSessionTransport: Transport {
    /// The transport's name in events and errors: `urlsession`.
    public let name = "urlsession"

    private let engine: SessionEngine

    /// Creates a transport with its own session.
    ///
    /// The session is invalidated when the transport is released.
    ///
    /// On Linux, FoundationNetworking (Swift 6.3.1) takes the bytes that a server sends after the end of a response for
    /// the response to the next request of the connection. The transport cannot see it: a request would receive a
    /// response that belongs to another one, possibly of another user. So by default, each request has a connection of
    /// its own there, which is closed after the response. This costs a TCP handshake for each request, a full TLS
    /// handshake for `https`, and the multiplexing of HTTP/2.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration, which is copied. Default `.default`.
    ///   - reusesConnections: Whether requests share connections. Set it on Linux only for servers that you trust to
    ///     send one response for each request. A request that must not be replayed, such as a POST, has a
    ///     connection of its own nevertheless. Default `nil`: false on Linux, true on other platforms.
    public init(
        configuration: URLSessionConfiguration = .default, reusesConnections: Bool? = nil
    ) {
        #if os(Linux)
            let isSafe = false
        #else
            let isSafe = true
        #endif
        engine = SessionEngine(configuration, reusesConnections: reusesConnections ?? isSafe)
    }

    /// Throws if `URLSession` cannot send the request as described.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` for an option that `URLSession` does not support; with the stage
    ///   ``RequestError/Stage/build``, the same errors as other transports for mistakes, such as
    ///   ``RequestError/Code/invalidURL`` and ``RequestError/Code/invalidConfiguration``.
    public func check(_ request: TransportRequest) throws(RequestError) {
        if let refusal = URLSessionRefusals.refusal(of: request) { throw refusal }
    }

    /// Starts a transfer and returns at once.
    ///
    /// If ``check(_:)`` throws for the request, the transfer ends with that error.
    public func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> any Transfer {
        engine.start(request, receiver: receiver)
    }

    /// Ends all transfers with ``RequestError/Code/agentShutDown`` and closes all connections.
    public func shutDown() { engine.shutDown() }
}
