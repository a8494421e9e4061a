#if Inspector
    import ErrandCore
    import ErrandHTTP
    import FlyingFox
    import FlyingSocks
    import Foundation

    /// Serves the page and its calls on a port of the loopback interface.
    final class InspectorServer: Sendable {
        private let server: HTTPServer
        private let running: Task<Void, any Error>
        /// The port that the system chose.
        let port: UInt16

        /// The largest body of a call, in bytes.
        static let maximumBody = 8 << 20

        /// Starts the server.
        ///
        /// - Throws: ``RequestError/Code/cannotConnect`` if the port cannot be used.
        static func start(
            port: UInt16, token: String, api: InspectorAPI
        ) async throws(RequestError) -> InspectorServer {
            let handler = InspectorHandler(token: token, api: api)
            do {
                let server = HTTPServer(
                    address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), timeout: 30,
                    logger: .disabled, handler: handler)
                let running = Task { try await server.run() }
                try await server.waitUntilListening()
                guard case .ip4(_, let port) = await server.listeningAddress else {
                    running.cancel()
                    throw SocketError.unsupportedAddress
                }
                handler.setPort(port)
                return InspectorServer(server, running, port)
            } catch {
                throw RequestError(
                    .cannotConnect, stage: .transport,
                    "The inspector cannot listen on port \(port) of 127.0.0.1. Set Options.port to another port, or to "
                        + "0, which lets the system choose. (\(error))", underlying: error)
            }
        }

        private init(_ server: HTTPServer, _ running: Task<Void, any Error>, _ port: UInt16) {
            self.server = server
            self.running = running
            self.port = port
        }

        /// Closes the port and all connections.
        func stop() async {
            await server.stop()
            running.cancel()
            _ = await running.result
        }
    }
#endif
