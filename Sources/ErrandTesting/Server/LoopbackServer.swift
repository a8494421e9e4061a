public import ErrandHTTP
import ErrandSystem

/// An HTTP/1.1 server on the loopback interface, for tests.
///
/// It sends scripted responses, records all requests and can violate the protocol down to single bytes. It uses
/// plain sockets and shares no code with Errand's transports.
///
///     let server = LoopbackServer()
///     server.route("/users") { request in
///         LoopbackResponse(headers: ["Content-Type": "application/json"], body: #"{"id": 7}"#)
///     }
///     try await server.start()
///     …                                            // a client requests `server.url("/users")`
///     let request = try await server.nextRequest()
///     await server.stop()
///
/// Handlers run on their connection's thread and should not block; use ``LoopbackResponse/Step/hold(_:)`` to
/// wait. Routes can be set at any time. A request without a route receives a 404.
public final class LoopbackServer: Sendable {
    /// Returns the response to a request.
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// The address to listen on.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// The counters of a server.
    public struct Status: Sendable, Hashable {
        /// The number of accepted connections.
        public var accepted = 0
        /// The number of open connections.
        public var open = 0
        /// The number of recorded requests.
        public var requests = 0
        /// The number of sent bytes.
        public var bytesSent: Int64 = 0
    }

    struct Route: Sendable {
        var handler: Handler
        var readsBody: Bool
    }

    private struct State: Sendable {
        var routes: [String: Route] = [:]
        var fallback = Route(handler: { _ in LoopbackResponse(status: 404) }, readsBody: true)
        var status = Status()
        var log: [LoopbackRequest] = []
        var taken = 0
        var sockets: [Int: LoopbackSocket] = [:]
        var listener: (socket: LoopbackSocket, port: Int, wake: LoopbackPipe)?
        var threads = 0
        var nextNumber = 0
        var failures = TestFailures()
    }

    private let state = Watched(State())
    private let address: Address
    private let receiveBuffer: Int?
    private let sendBuffer: Int?

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - address: The address to listen on. Default 127.0.0.1.
    ///   - receiveBuffer: The size of the sockets' receive buffer (`SO_RCVBUF`) in bytes. With a small buffer,
    ///     a client notices earlier that the server does not read. Default: the system's.
    ///   - sendBuffer: The size of the sockets' send buffer (`SO_SNDBUF`) in bytes. With a small buffer, the server
    ///     notices earlier that the client does not read, and ``Status/bytesSent`` exceeds the bytes that the client has
    ///     received by less. Linux doubles the size. Default: the system's.
    public init(address: Address = .ipv4, receiveBuffer: Int? = nil, sendBuffer: Int? = nil) {
        self.address = address
        self.receiveBuffer = receiveBuffer
        self.sendBuffer = sendBuffer
    }

    // MARK: - Routes

    /// Sets the handler of a path, for every method and query.
    ///
    /// - Parameters:
    ///   - path: The path with its leading slash, without a query.
    ///   - readsBody: Whether the handler is called after the request's body was received. Otherwise it is
    ///     called after the head, and ``LoopbackResponse/Step/receiveBody(upTo:)`` reads the body. Default true.
    ///   - handler: Returns the response. Called on the connection's thread, once for each request.
    public func route(_ path: String, readsBody: Bool = true, _ handler: @escaping Handler) {
        state.change { $0.routes[path] = Route(handler: handler, readsBody: readsBody) }
    }

    /// Sets the responses of a path.
    ///
    /// They are sent in turn, and the last one is repeated.
    public func route(_ path: String, responses: LoopbackResponse...) {
        let count = Watched(0)
        route(path) { _ in
            let turn = count.change { count in
                defer { count += 1 }
                return count
            }
            guard let last = responses.indices.last else { return LoopbackResponse(status: 404) }
            return responses[min(turn, last)]
        }
    }

    /// Serves a resource at a path, with range and conditional requests.
    public func serve(_ resource: LoopbackResource, at path: String) {
        route(path) { resource.response(to: $0) }
    }

    /// Sets the handler of all paths without a route.
    ///
    /// By default they receive a 404.
    public func otherwise(readsBody: Bool = true, _ handler: @escaping Handler) {
        state.change { $0.fallback = Route(handler: handler, readsBody: readsBody) }
    }

    // MARK: - Running

    /// Starts to listen on a port that the system chooses.
    ///
    /// - Throws: `POSIXError` if no socket or no thread can be created.
    public func start() async throws {
        guard state.change({ $0.listener == nil }) else { return }
        let (socket, port) = try LoopbackSocket.listening(
            ipv6: address == .ipv6, receiveBuffer: receiveBuffer.map { Int32(clamping: $0) },
            sendBuffer: sendBuffer.map { Int32(clamping: $0) })
        do {
            let wake = try LoopbackPipe()
            state.change { state in
                state.listener = (socket, port, wake)
                state.threads += 1
            }
            guard spawn({ [self] in acceptConnections(on: socket, wake: wake) }) else {
                state.change { state in
                    state.listener = nil
                    state.threads -= 1
                }
                wake.close()
                throw POSIXError(.EAGAIN)
            }
        } catch {
            socket.close()
            throw error
        }
    }

    /// Stops listening, closes all connections and returns when all threads have ended.
    public func stop() async {
        state.change { state in
            state.listener?.wake.wake()
            state.listener = nil
            for socket in state.sockets.values { socket.shutDown() }
        }
        // Not cancellable, so that a cancelled test also releases all threads and descriptors.
        await Task { _ = try? await state.wait { $0.threads == 0 ? true : nil } }.value
    }

    /// The port; 0 while the server does not listen.
    public var port: Int { state.change { $0.listener?.port ?? 0 } }

    /// The base URL of this server, such as `http://127.0.0.1:51234`, for `Configuration/baseURL` and `"\(baseURL)/users"`.
    public var baseURL: EndpointURL { EndpointURL(raw: url("")) }

    /// The URL of a target on this server as text, such as `http://127.0.0.1:51234/users?id=7`.
    ///
    /// - Parameter target: The path with its leading slash, and an optional query.
    public func url(_ target: String = "/") -> String {
        "http://\(address == .ipv6 ? "[::1]" : "127.0.0.1"):\(port)\(target)"
    }

    // MARK: - Recorded requests

    /// All recorded requests, in order.
    public var requests: [LoopbackRequest] { state.change { $0.log } }

    /// The targets of WebSockets whose client has not done what the script expects, with the reason; the first 1,000.
    ///
    /// See ``WebSocketScript``.
    public var failures: [String] { state.change { $0.failures.texts } }

    /// The current counters.
    public var status: Status { state.change { $0.status } }

    /// Returns the next recorded request that this method has not returned yet, and waits for it if necessary.
    ///
    /// A request is recorded after its body, or after its head on routes that do not read the body.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func nextRequest() async throws -> LoopbackRequest {
        try await state.wait { state in
            guard state.taken < state.log.count else { return nil }
            defer { state.taken += 1 }
            return state.log[state.taken]
        }
    }

    /// Waits until the counters meet a condition.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    @discardableResult
    public func until(
        _ condition: @escaping @Sendable (Status) -> Bool
    ) async throws -> Status {
        try await state.wait { condition($0.status) ? $0.status : nil }
    }

    /// Closes every open connection without a reset, like a server that closes idle connections.
    public func closeConnections() {
        state.change { state in
            for socket in state.sockets.values { socket.shutDown() }
        }
    }
}

// MARK: - Used by connections

extension LoopbackServer {
    func route(for path: String) -> Route {
        state.change { $0.routes[path] ?? $0.fallback }
    }

    func nextNumber() -> Int {
        state.change { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
    }

    func record(_ request: LoopbackRequest) {
        state.change { state in
            state.log.append(request)
            state.status.requests += 1
        }
    }

    /// Replaces a recorded request with a newer version of it.
    func update(_ request: LoopbackRequest) {
        state.change { state in
            guard let index = state.log.lastIndex(where: { $0.number == request.number }) else {
                return
            }
            state.log[index] = request
        }
    }

    func fail(_ text: String) { state.change { $0.failures.add(text) } }

    func sent(_ count: Int) { state.change { $0.status.bytesSent += Int64(count) } }

    /// Must be called before the socket is closed; afterwards the server does not use its descriptor.
    func connectionWillClose(_ id: Int) {
        state.change { state in
            state.sockets[id] = nil
            state.status.open -= 1
        }
    }

    func threadDidEnd() { state.change { $0.threads -= 1 } }

    private func spawn(_ work: @escaping @Sendable () -> Void) -> Bool {
        SystemThread.start(stackSize: 512 << 10, work)
    }

    private func acceptConnections(on listener: LoopbackSocket, wake: LoopbackPipe) {
        while listener.waitForConnection(or: wake), let socket = listener.accepted() {
            let id = state.change { state -> Int? in
                guard state.listener != nil else { return nil }
                let id = state.status.accepted
                state.status.accepted += 1
                state.status.open += 1
                state.sockets[id] = socket
                state.threads += 1
                return id
            }
            guard let id else {
                socket.close()
                break
            }
            let connection = LoopbackConnection(id: id, socket: socket, server: self)
            guard !spawn({ connection.run() }) else { continue }
            fail("the system could not create a thread for connection \(id)")
            connectionWillClose(id)
            socket.reset()
            threadDidEnd()
        }
        listener.close()
        wake.close()
        threadDidEnd()
    }
}
