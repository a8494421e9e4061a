import Foundation

/// An HTTP/1.1 server on loopback for tests: scripted answers, a log of all requests, and every kind of
/// misbehaviour down to single bytes.
///
/// It speaks plain sockets and shares no code with any client. For example:
///
///     let server = LoopbackServer()
///     server.route("/users") { request in
///         LoopbackAnswer(headers: ["Content-Type": "application/json"], body: #"{"id": 7}"#)
///     }
///     try await server.start()
///     …                                            // a client asks `server.url("/users")`
///     let request = try await server.nextRequest()
///     await server.stop()
///
/// Handlers run on the thread of their connection and should not block: waiting is a step of the answer
/// (``LoopbackAnswer/Step/hold(_:)``). Routes may be set at any time. A request without a route is
/// answered by 404.
public final class LoopbackServer: Sendable {
    /// Makes the answer to a request.
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackAnswer

    /// Which address to listen on.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1
        case ipv4
        /// ::1
        case ipv6
    }

    /// What the server has seen so far.
    public struct Status: Sendable, Hashable {
        /// How many connections came.
        public var accepted = 0
        /// How many of them are open.
        public var open = 0
        /// How many requests came.
        public var requests = 0
        /// How many bytes went out.
        public var bytesSent: Int64 = 0
    }

    struct Route: Sendable {
        var handler: Handler
        var readsBody: Bool
    }

    private struct State: Sendable {
        var routes: [String: Route] = [:]
        var fallback = Route(handler: { _ in LoopbackAnswer(status: 404) }, readsBody: true)
        var status = Status()
        var log: [LoopbackRequest] = []
        var taken = 0
        var sockets: [Int: LoopbackSocket] = [:]
        var listener: (socket: LoopbackSocket, port: Int, wake: LoopbackPipe)?
        var threads = 0
        var nextNumber = 0
    }

    private let state = Watched(State())
    private let address: Address
    private let receiveBuffer: Int?

    /// Makes a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - address: Where to listen. Default 127.0.0.1.
    ///   - receiveBuffer: Bytes the system takes from a client before the server reads; small values make
    ///     a slow reader felt. Default is the system's.
    public init(address: Address = .ipv4, receiveBuffer: Int? = nil) {
        self.address = address
        self.receiveBuffer = receiveBuffer
    }

    // MARK: - Routes

    /// Answers requests for a path, whatever their method and query.
    ///
    /// - Parameters:
    ///   - path: The path, from its slash, without query.
    ///   - readsBody: Whether the handler is called when the request's body has come; otherwise it is called
    ///     after the head, and the body is read by ``LoopbackAnswer/Step/receiveBody(upTo:)``. Default true.
    ///   - handler: Makes the answer; called on the connection's thread, once for each request.
    public func route(_ path: String, readsBody: Bool = true, _ handler: @escaping Handler) {
        state.change { $0.routes[path] = Route(handler: handler, readsBody: readsBody) }
    }

    /// Answers requests for a path by giving these answers in turn, the last one again and again.
    public func route(_ path: String, answers: LoopbackAnswer...) {
        let count = Watched(0)
        route(path) { _ in
            let turn = count.change { count in
                defer { count += 1 }
                return count
            }
            guard let last = answers.indices.last else { return LoopbackAnswer(status: 404) }
            return answers[min(turn, last)]
        }
    }

    /// Offers bytes for download, with ranges and conditions.
    public func serve(_ resource: LoopbackResource, at path: String) {
        route(path) { resource.answer(to: $0) }
    }

    /// Answers requests for paths without a route.
    public func otherwise(readsBody: Bool = true, _ handler: @escaping Handler) {
        state.change { $0.fallback = Route(handler: handler, readsBody: readsBody) }
    }

    // MARK: - Running

    /// Listens on a port that the system chooses.
    ///
    /// - Throws: `POSIXError` when there is no socket to be had.
    public func start() async throws {
        guard state.change({ $0.listener == nil }) else { return }
        let buffer = receiveBuffer.map { Int32(clamping: $0) }
        let (socket, port) = try LoopbackSocket.listening(
            ipv6: address == .ipv6, receiveBuffer: buffer)
        do {
            let wake = try LoopbackPipe()
            state.change { state in
                state.listener = (socket, port, wake)
                state.threads += 1
            }
            spawn { [self] in acceptConnections(on: socket, wake: wake) }
        } catch {
            socket.close()
            throw error
        }
    }

    /// Stops listening, cuts all connections and returns when every thread and descriptor is gone.
    public func stop() async {
        state.change { state in
            state.listener?.wake.wake()
            state.listener = nil
            for socket in state.sockets.values { socket.shutDown() }
        }
        // Not cancellable: a cancelled test, too, leaves nothing behind.
        await Task { _ = try? await state.wait { $0.threads == 0 ? true : nil } }.value
    }

    /// The port, or 0 while the server does not listen.
    public var port: Int { state.change { $0.listener?.port ?? 0 } }

    /// The address of a target on this server, such as `http://127.0.0.1:51234/users?id=7`.
    ///
    /// - Parameter target: Path and query, from the slash.
    public func url(_ target: String = "/") -> String {
        "http://\(address == .ipv6 ? "[::1]" : "127.0.0.1"):\(port)\(target)"
    }

    // MARK: - What happened

    /// All requests so far, in the order in which they came.
    public var requests: [LoopbackRequest] { state.change { $0.log } }

    /// What the server has seen so far.
    public var status: Status { state.change { $0.status } }

    /// The next request of the log that nobody asked for yet; waits for it.
    ///
    /// A request is in the log when its body has come, on routes that do not read bodies at its head.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func nextRequest() async throws -> LoopbackRequest {
        try await state.wait { state in
            guard state.taken < state.log.count else { return nil }
            defer { state.taken += 1 }
            return state.log[state.taken]
        }
    }

    /// Waits until what the server has seen meets the condition.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    @discardableResult
    public func until(
        _ condition: @escaping @Sendable (Status) -> Bool
    ) async throws -> Status {
        try await state.wait { condition($0.status) ? $0.status : nil }
    }

    /// Cuts every open connection, in good order, as a server does that grew tired of idle ones.
    public func closeConnections() {
        state.change { state in
            for socket in state.sockets.values { socket.shutDown() }
        }
    }
}

// MARK: - For connections

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

    /// Replaces what is in the log about a request.
    func update(_ request: LoopbackRequest) {
        state.change { state in
            guard let index = state.log.lastIndex(where: { $0.number == request.number }) else {
                return
            }
            state.log[index] = request
        }
    }

    func sent(_ count: Int) { state.change { $0.status.bytesSent += Int64(count) } }

    /// To be called before the socket is closed: from here on nobody else touches its descriptor.
    func connectionEnds(_ id: Int) {
        state.change { state in
            state.sockets[id] = nil
            state.status.open -= 1
        }
    }

    func threadEnds() { state.change { $0.threads -= 1 } }

    private func spawn(_ work: @escaping @Sendable () -> Void) {
        let thread = Thread(block: work)
        thread.stackSize = 512 << 10
        thread.start()
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
            spawn { connection.run() }
        }
        listener.close()
        wake.close()
        threadEnds()
    }
}
