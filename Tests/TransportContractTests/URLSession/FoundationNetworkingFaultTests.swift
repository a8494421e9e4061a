#if os(Linux)
    import ErrandCore
    import ErrandTesting
    import ErrandURLSession
    import Foundation
    import Testing

    /// Faults of FoundationNetworking in Swift 6.3.1 that `URLSessionTransport` cannot work around.
    ///
    /// Each test runs in a separate process. A failure means that a newer toolchain has fixed the fault: add the
    /// capability to `Capability.ofURLSession`.
    @Suite("FoundationNetworking faults", .timeLimit(.minutes(5)))
    struct FoundationNetworkingFaultTests {
        private static func receive(_ response: String) async throws {
            let server = LoopbackServer()
            server.otherwise { _ in .raw(response) }
            try await server.start()
            let url = URI(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
            let receiver = RecordingReceiver()
            let transport = URLSessionTransport()
            _ = transport.start(TransportRequest(url: url), receiver: receiver)
            _ = try await receiver.ended()
        }

        @Test func trailersCrashTheProcess() async {
            await #expect(processExitsWith: .failure) {
                try await Self.receive(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n")
            }
        }

        @Test func incompleteHeadCrashesTheProcess() async {
            await #expect(processExitsWith: .failure) {
                try await Self.receive("HTTP/1.1 200 OK\r\nContent-")
            }
        }

        @Test func hugeContentLengthCrashesTheProcess() async {
            await #expect(processExitsWith: .failure) {
                try await Self.receive(
                    "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\na")
            }
        }
    }
#endif
