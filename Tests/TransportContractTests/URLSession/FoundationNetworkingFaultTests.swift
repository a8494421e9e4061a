#if os(Linux)
    import ErrandCore
    import ErrandTesting
    import ErrandTransport
    import ErrandURLSession
    import Foundation
    import TestSupport
    import Testing

    /// Faults of FoundationNetworking in Swift 6.3.1 that `URLSessionTransport` cannot work around.
    ///
    /// Tests of crashes run in separate processes. A failure means that a newer toolchain has fixed the fault: add
    /// the capability to `Capability.ofURLSession`, or correct the article Transports.
    @Suite("FoundationNetworking faults", .limited)
    struct FoundationNetworkingFaultTests {
        private static func receive(_ response: String) async throws {
            let server = LoopbackServer()
            server.otherwise { _ in .raw(response) }
            try await server.start()
            let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
            let receiver = RecordingReceiver()
            let transport = URLSessionTransport()
            _ = transport.start(TransportRequest(url: url), receiver: receiver)
            _ = try await receiver.ended()
        }

        private func receive(
            _ response: LoopbackResponse
        ) async throws -> RecordingReceiver.Record {
            var record: RecordingReceiver.Record?
            try await ContractFixture.with(.urlSession) { fixture async throws in
                fixture.server.otherwise { _ in response }
                record = try await fixture.run(fixture.request())
            }
            return try #require(record)
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

        /// The reason for connections of their own.
        @Test func surplusResponseReachesTheNextRequest() async throws {
            try await ContractFixture.with(.sharedURLSession) { fixture async throws in
                fixture.server.otherwise { request in
                    let own = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + request.path
                    return .raw(
                        request.number == 0 ? own : own.replacing("/b", with: "/x") + own,
                        keepsConnection: true)
                }
                _ = try await fixture.succeed(fixture.request(.get, "/a"))
                let record = try await fixture.succeed(fixture.request(.get, "/b"))
                #expect(record.body == Data("/x".utf8))
                #expect(fixture.server.status.accepted == 1)
            }
        }

        @Test(arguments: ["9223372036854775296", "9223372036854775807"])
        func hugeContentLengthCrashesTheProcess(length: String) async {
            await #expect(processExitsWith: .failure) { [length] in
                try await Self.receive("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\na")
            }
        }

        @Test(arguments: ["HTTP/x.y 200 OK", "http/1.1 200 OK", "HTTP/1.1 200 "])
        func statusLineIsAccepted(line: String) async throws {
            let record = try await receive(.raw(line + "\r\nContent-Length: 1\r\n\r\na"))
            #expect(record.end?.error == nil)
            #expect(record.head?.status.code == 200)
        }

        @Test(arguments: ["HTTP/1.1 200", "HTTP/1.1  200 OK"])
        func statusLineIsRefused(line: String) async throws {
            let record = try await receive(.raw(line + "\r\nContent-Length: 1\r\n\r\na"))
            #expect(record.end?.error?.code == .badServerResponse)
            #expect(record.head == nil)
        }

        @Test(arguments: ["gzip", "deflate", "br", "zstd"])
        func truncatedBodyInAContentCodingIsNotDetected(coding: String) async throws {
            let body = EncodedText.bytes(in: coding).dropLast(9)
            let record = try await receive(
                LoopbackResponse(headers: ["Content-Encoding": coding], body: body))
            #expect(record.end?.error == nil)
            #expect(record.received < EncodedText.text.count)
        }
    }
#endif
