#if os(Linux)
    import ErrandCore
    import ErrandTesting
    import ErrandURLSession
    import Foundation
    import Testing

    /// What FoundationNetworking of Swift 6.3.1 gets wrong and nobody above it can mend.
    ///
    /// Each runs in a process of its own. A failure here is good news: a newer toolchain has mended it, and
    /// the capability can be moved in `Capability.ofURLSession`.
    @Suite("Facts about FoundationNetworking", .timeLimit(.minutes(5)))
    struct ToolchainFactsTests {
        private static func ask(_ answer: String) async throws {
            let server = LoopbackServer()
            server.otherwise { _ in .raw(answer) }
            try await server.start()
            let url = URI(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
            let receiver = RecordingReceiver()
            let transport = URLSessionTransport()
            _ = transport.start(TransportRequest(url: url), receiver: receiver)
            _ = try await receiver.ended()
        }

        @Test func trailersEndTheProcess() async {
            await #expect(processExitsWith: .failure) {
                try await Self.ask(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n")
            }
        }

        @Test func aCutOffHeadEndsTheProcess() async {
            await #expect(processExitsWith: .failure) {
                try await Self.ask("HTTP/1.1 200 OK\r\nContent-")
            }
        }

        @Test func aHugeContentLengthEndsTheProcess() async {
            await #expect(processExitsWith: .failure) {
                try await Self.ask(
                    "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\na")
            }
        }
    }
#endif
