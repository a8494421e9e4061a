import Dispatch
import ErrandTesting

/// A server that responds "good", but to `/held` only when the test allows it.
final class HeldServer: Sendable {
    private let server: RawServer
    private let isHeld: Gate
    private let mayRespond: DispatchSemaphore

    init() throws {
        let isHeld = Gate()
        let mayRespond = DispatchSemaphore(value: 0)
        self.isHeld = isHeld
        self.mayRespond = mayRespond
        server = try RawServer { connection in
            while let head = connection.readHead() {
                if head.hasPrefix("GET /held") {
                    isHeld.open()
                    mayRespond.wait()
                }
                connection.respond("good")
            }
        }
    }

    // Releases the server's thread if the test has failed before `respond()`.
    deinit { mayRespond.signal() }

    /// The number of accepted connections.
    var connections: Int { server.connections }

    func url(_ path: String) -> String { server.url(path) }

    /// Waits until the request for `/held` has arrived.
    func holdsRequest() async throws { try await isHeld.passed() }

    /// Responds to the request for `/held`.
    func respond() { mayRespond.signal() }
}
