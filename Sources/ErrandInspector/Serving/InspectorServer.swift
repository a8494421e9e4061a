#if Inspector
    import ErrandCore
    import ErrandHTTP
    import ErrandSystem
    import Synchronization

    /// Serves the page and its calls on a port of the loopback interface.
    ///
    /// Any process of this machine, and any web page in a browser, can connect. So a client without the token costs a bounded
    /// amount of memory, time and descriptors. The server runs until ``stop()``, also if it is not retained.
    final class InspectorServer: Sendable {
        /// The limits for clients.
        struct Limits: Sendable {
            /// The number of connections without an allowed request; a further one closes the oldest.
            var strangers = 16
            /// The time until the head of the first request is complete.
            var head = Duration.seconds(10)
            /// The time until the head of a further request is complete.
            var idle = Duration.seconds(60)
            /// The time until a body is complete.
            var body = Duration.seconds(30)
            /// The time in which the client reads nothing of a response.
            var write = Duration.seconds(30)
            /// The time in which the rest of a refused request is read.
            var linger = Duration.seconds(2)
        }

        fileprivate struct Client {
            var socket: InspectorSocket
            var task: Task<Void, Never>
            /// Whether the connection counts for ``Limits/strangers``.
            var isStranger = true
        }

        fileprivate struct State {
            var clients: [Int: Client] = [:]
            var accepted = 0
            var isStopped = false
            var source: (any DispatchSourceRead)?
            var isPaused = false
        }

        private let state = Mutex(State())
        private let listener: InspectorSocket
        private let queue: DispatchQueue
        private let handler: InspectorHandler
        private let limits: Limits
        private let closed: Task<Void, Never>
        /// The port.
        let port: UInt16

        /// Starts the server.
        ///
        /// - Throws: ``RequestError/Code/cannotConnect`` if the port cannot be used.
        static func start(
            port: UInt16, token: String, api: InspectorAPI, limits: Limits = Limits()
        ) throws(RequestError) -> InspectorServer {
            do {
                let queue = DispatchQueue(label: "errand.inspector")
                let (socket, port) = try InspectorSocket.listening(on: port, queue)
                let handler = InspectorHandler(
                    check: AccessCheck(token: token, port: port), api: api)
                return InspectorServer(socket, port, queue, handler, limits)
            } catch {
                throw RequestError(
                    .cannotConnect, stage: .transport,
                    "The inspector cannot listen on port \(port) of 127.0.0.1. Set Options.port to another port, or to "
                        + "0, which lets the system choose. (\(error))", underlying: error)
            }
        }

        private init(
            _ listener: InspectorSocket, _ port: UInt16, _ queue: DispatchQueue,
            _ handler: InspectorHandler, _ limits: Limits
        ) {
            self.listener = listener
            self.port = port
            self.queue = queue
            self.handler = handler
            self.limits = limits
            let (stream, continuation) = AsyncStream<Never>.makeStream()
            closed = Task { for await _ in stream {} }
            state.withLock { state in
                let source = listener.readSource(
                    { [self] in acceptConnections() },
                    closed: { continuation.finish() })
                state.source = source
                source.activate()
            }
        }

        /// Closes the port and all connections, and waits for the end of calls.
        func stop() async {
            let clients = state.withLock { state in
                state.isStopped = true
                state.source?.cancel()
                state.resume()
                state.source = nil
                return Array(state.clients.values)
            }
            for client in clients {
                client.socket.shutDown()
                client.task.cancel()
            }
            for client in clients { await client.task.value }
            await closed.value
        }

        /// Called on the queue.
        private func acceptConnections() {
            while true {
                switch listener.accepted() {
                case .connection(let socket): admit(socket)
                case .none: return
                case .exhausted: return pause()
                }
            }
        }

        /// Stops accepting for a moment, since the source would report the waiting connection again at once.
        private func pause() {
            let oldest = state.withLock { state -> InspectorSocket? in
                guard let source = state.source else { return nil }
                source.suspend()
                state.isPaused = true
                return state.evictOldestStranger()
            }
            oldest?.shutDown()
            queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [self] in
                state.withLock { $0.resume() }
            }
        }

        private func admit(_ socket: InspectorSocket) {
            let displaced = state.withLock { state -> InspectorSocket? in
                guard !state.isStopped else { return socket }
                let strangers = state.clients.values.count { $0.isStranger }
                let displaced =
                    strangers >= limits.strangers ? state.evictOldestStranger() : nil
                let id = state.accepted
                state.accepted += 1
                let connection = InspectorConnection(
                    socket: socket, handler: handler, limits: limits,
                    becameTrusted: { [self] in trust(id) })
                let task = Task {
                    await connection.serve()
                    remove(id)
                }
                state.clients[id] = Client(socket: socket, task: task)
                return displaced
            }
            displaced?.shutDown()
            if displaced === socket { socket.close() }
        }

        private func trust(_ id: Int) {
            state.withLock { $0.clients[id]?.isStranger = false }
        }

        private func remove(_ id: Int) {
            state.withLock { $0.clients[id] = nil }
        }
    }

    extension InspectorServer.State {
        /// Continues to accept after a pause.
        ///
        /// Dispatch traps if a suspended source is released.
        fileprivate mutating func resume() {
            if isPaused { source?.resume() }
            isPaused = false
        }

        /// The socket of the oldest connection without an allowed request, which does not count any more.
        fileprivate mutating func evictOldestStranger() -> InspectorSocket? {
            guard let id = clients.filter({ $0.value.isStranger }).keys.min() else { return nil }
            clients[id]?.isStranger = false
            return clients[id]?.socket
        }
    }
#endif
