import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Long sequences of failures, which must not leak memory or descriptors.
@Suite("Contract: soak tests", .limited)
struct SoakContract {
    /// The number of requests before and during the measurement.
    private static let (warmUp, rounds) = (400, 10_000)

    /// The limit of memory growth.
    ///
    /// Libraries keep a small, known amount per request (the article Transports); a leaked buffer or connection is
    /// many times larger.
    private static let bytesPerRequest = 1024

    @Test(arguments: TransportKind.wire)
    func connectionEndsAtEveryByteOfAResponse(kind: TransportKind) async throws {
        let text =
            "HTTP/1.1 200 OK\r\nX-A: b\r\nX-C: d\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3\r\nabc\r\n5\r\nabcde\r\n0\r\n\r\n"
        let head = try #require(text.range(of: "\r\n\r\n")).upperBound
        let headLength = text[..<head].utf8.count
        try await ContractFixture.with(kind) { fixture async throws in
            // A close within the head crashes FoundationNetworking; see the article Transports.
            let first = kind.capabilities.contains(.cutOffHead) ? 0 : headLength
            for count in first...text.utf8.count {
                for isReset in [true, false] {
                    fixture.server.otherwise { _ in
                        let response = LoopbackResponse.raw(text)
                        return isReset
                            ? response.reset(afterBytes: count) : response.cut(afterBytes: count)
                    }
                    let record = try await fixture.run(fixture.request())
                    guard let error = record.end?.error else {
                        // The last chunk had arrived, so the body is complete.
                        #expect(record.body == Data("abcabcde".utf8), "\(count)")
                        #expect(count >= text.utf8.count - 4, "\(count)")
                        continue
                    }
                    #expect(
                        [.connectionLost, .truncatedBody].contains(error.code),
                        "\(count): \(error)")
                    #expect((record.head == nil) == (count < headLength) || isReset, "\(count)")
                }
            }
            fixture.server.otherwise { _ in .raw(text) }
            #expect(try await fixture.succeed(fixture.request()).body == Data("abcabcde".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func thousandConcurrentCancellations(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.route("/never") { _ in .silence(until: Gate()) }
            fixture.server.route("/fine") { _ in LoopbackResponse(body: "fine") }
            let started = (0..<1000).map { _ in fixture.start(fixture.request(.get, "/never")) }
            // By now some wait for a response, others for a connection.
            try await fixture.server.until { $0.requests > 0 }
            for (transfer, _) in started { transfer.cancel() }
            for (_, receiver) in started {
                #expect(try await receiver.ended().end?.error?.code == .cancelled)
            }
            let record = try await fixture.succeed(fixture.request(.get, "/fine"))
            #expect(record.body == Data("fine".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func fiveThousandHeaderFieldsAreReported(kind: TransportKind) async throws {
        let lines = (0..<5000).map { "X-\($0): value \($0)\r\n" }.joined()
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .raw("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 2\r\n\r\nhi")
            }
            let headers = try #require(try await fixture.succeed(fixture.request()).head).headers
            #expect(headers.count == 5001)
            let last = try #require(HTTPField.Name("X-4999"))
            #expect(headers[last] == "value 4999")
        }
    }

    /// Header lines below and above `maximumHeadBytes`.
    ///
    /// libcurl has a fixed limit of 100 KB, which the transport's
    /// own engine does not have.
    @Test(arguments: TransportKind.wire)
    func headerLinesAboveTheLimitFail(kind: TransportKind) async throws {
        @Sendable func text(_ length: Int) -> String {
            let value = String(repeating: "v", count: length)
            return "HTTP/1.1 200 OK\r\nX-Long: \(value)\r\nContent-Length: 2\r\n\r\nhi"
        }
        try await ContractFixture.with(kind) { fixture async throws in
            for (length, limit, isAccepted) in [
                (90_000, 256 << 10, true), (90_000, 80_000, false), (1 << 20, 256 << 10, false),
                (1 << 20, 4 << 20, kind == .curl),
            ] {
                fixture.server.otherwise { _ in .raw(text(length)) }
                var request = fixture.request()
                request.options.maximumHeadBytes = limit
                if isAccepted {
                    _ = try await fixture.succeed(request)
                } else {
                    try await fixture.fail(request, .badServerResponse)
                }
            }
            fixture.server.otherwise { _ in LoopbackResponse() }
            _ = try await fixture.succeed(fixture.request())
        }
    }

    #if os(Linux)
        private enum Fault: String { case refused, closed, reset }

        /// Exits with an error if memory or descriptors leak.
        ///
        /// Needs a separate process, in which nothing else allocates.
        private static func checkForLeaks(_ kind: TransportKind, _ fault: Fault) async throws {
            let dead = try DeadPort.Refusing()
            defer { withExtendedLifetime(dead) {} }
            let closed = dead.port
            let server = LoopbackServer()
            server.otherwise { _ in fault == .reset ? .reset : .dropped }
            try await server.start()
            let transport = kind.makeTransport()
            let port = fault == .refused ? closed : server.port
            var request = TransportRequest(
                url: HTTPURL(scheme: "http", host: "127.0.0.1", port: port, path: "/"))
            request.options.mayReplay = true
            func run(_ count: Int) async throws {
                for _ in 0..<count {
                    let receiver = RecordingReceiver()
                    _ = transport.start(request, receiver: receiver)
                    let record = try await receiver.ended()
                    guard record.end?.error != nil, record.ends == 1 else { exit(3) }
                }
            }
            try await run(warmUp)
            let (memory, open) = (
                ProcessResources.residentBytes(), try ProcessResources.openDescriptors()
            )
            try await run(rounds)
            let grown = ProcessResources.residentBytes() - memory
            // Sanitizers allocate memory for every access.
            let isMeasured = getenv("ERRAND_SANITIZER") == nil
            guard !isMeasured || grown < rounds * bytesPerRequest else {
                FileHandle.standardError.write(Data("grew by \(grown) bytes\n".utf8))
                exit(4)
            }
            // A reset connection is closed shortly after its transfer ends.
            guard try ProcessResources.waitForDescriptors(untilAtMost: open) else { exit(5) }
            await server.stop()
        }

        @Test func curlDoesNotLeakOnRefusedConnections() async {
            await #expect(processExitsWith: .success) {
                try await Self.checkForLeaks(.curl, .refused)
            }
        }

        @Test func curlDoesNotLeakOnResets() async {
            await #expect(processExitsWith: .success) {
                try await Self.checkForLeaks(.curl, .reset)
            }
        }

        @Test func urlSessionDoesNotLeakOnRefusedConnections() async {
            await #expect(processExitsWith: .success) {
                try await Self.checkForLeaks(.urlSession, .refused)
            }
        }

        /// Not with resets: each has a small chance of ending the process, in libdispatch; see the article
        /// Transports.
        @Test func urlSessionDoesNotLeakOnClosedConnections() async {
            await #expect(processExitsWith: .success) {
                try await Self.checkForLeaks(.urlSession, .closed)
            }
        }
    #endif
}
