import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A request body from an async sequence is sent while the response is read.
@Suite("Streams: in both directions", .limited)
struct BidirectionalStreamTests {
    private static let kinds = TransportKind.wire(with: .streamsWithoutSpooling)

    /// The chunks of a request body that the test produces.
    private final class Upload: Sendable {
        private let stream: AsyncStream<Data>
        private let continuation: AsyncStream<Data>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream(of: Data.self) }

        var body: HTTPBody { .stream(isReplayable: false) { [stream] in stream } }

        func send(_ text: String) { continuation.yield(Data(text.utf8)) }
        func finish() { continuation.finish() }
    }

    /// A route that responds with its head at once, and repeats each `size` bytes of the request body.
    private func echo(_ count: Int, size: Int, _ server: LoopbackServer) {
        server.route("/echo", readsBody: false) { _ in
            var response = LoopbackResponse.chunked([])
            let end = response.steps.removeLast()
            for number in 1...count {
                let text = Data("echo \(number)".utf8)
                response.steps += [.receiveBody(upTo: size), .body(LoopbackResponse.chunk(text))]
            }
            response.steps += [.receiveBody(upTo: nil), end]
            return response
        }
    }

    @Test(arguments: kinds, [HTTPMethod.post, .put])
    func chunksAlternate(kind: TransportKind, method: HTTPMethod) async throws {
        try await StreamFixture.with(kind) { fixture async throws in
            echo(3, size: 4, fixture.server)
            let upload = Upload()
            // The head arrives before the first byte of the request body exists.
            let stream = try await fixture.open("/echo") {
                $0.method = method
                $0.body = upload.body
            }
            for number in 1...3 {
                upload.send("pi \(number)")
                #expect(try await stream.read(6) == Data("echo \(number)".utf8))
            }
            upload.send("the end")
            upload.finish()
            #expect(try await stream.next() == nil)
            let request = try #require(fixture.server.requests.first)
            #expect(request.body == Data("pi 1pi 2pi 3the end".utf8) && request.isComplete)
            #expect(stream.task.progress.current.bytesSent == 19)
            // The connection can be used again.
            fixture.server.route("/after") { _ in LoopbackResponse(body: "x") }
            #expect(try await fixture.open("/after").read(2) == Data("x".utf8))
            #expect(fixture.server.status.accepted == 1)
        }
    }

    /// The upload does not wait for the reader, and the reader does not wait for the upload.
    @Test(arguments: kinds)
    func largeBodiesInBothDirections(kind: TransportKind) async throws {
        let (piece, count) = (pattern(64 << 10), 128)
        try await StreamFixture.with(kind) { fixture async throws in
            fixture.server.route("/echo", readsBody: false) { _ in
                var response = LoopbackResponse.chunked([])
                let end = response.steps.removeLast()
                for _ in 0..<count {
                    response.steps += [
                        .receiveBody(upTo: piece.count), .body(LoopbackResponse.chunk(piece)),
                    ]
                }
                response.steps += [.receiveBody(upTo: nil), end]
                return response
            }
            let stream = try await fixture.open("/echo") {
                $0.method = .post
                $0.body = .stream {
                    AsyncStream { continuation in
                        for _ in 0..<count { continuation.yield(piece) }
                        continuation.finish()
                    }
                }
            }
            var received = 0
            while let chunk = try await stream.next() { received += chunk.count }
            #expect(received == count * piece.count)
            #expect(fixture.server.requests.first?.bodyBytes == count * piece.count)
        }
    }

    @Test(arguments: kinds)
    func leavingTheStreamEndsTheUpload(kind: TransportKind) async throws {
        try await StreamFixture.with(kind) { fixture async throws in
            echo(2, size: 4, fixture.server)
            let upload = Upload()
            let stream = try await fixture.open("/echo") {
                $0.method = .post
                $0.body = upload.body
            }
            upload.send("pi 1")
            #expect(try await stream.read(6) == Data("echo 1".utf8))
            stream.body.channel.leave()
            try await fixture.server.until { $0.open == 0 }
            #expect(fixture.server.requests.first?.isComplete == false)
        }
    }

    @Test(arguments: kinds)
    func responseThatEndsFirstEndsTheUpload(kind: TransportKind) async throws {
        try await StreamFixture.with(kind) { fixture async throws in
            fixture.server.route("/early", readsBody: false) { _ in
                LoopbackResponse(body: "enough").closing()
            }
            let upload = Upload()
            let stream = try await fixture.open("/early") {
                $0.method = .post
                $0.body = upload.body
            }
            #expect(try await stream.read(6) == Data("enough".utf8))
            #expect(try await stream.next() == nil)
            try await fixture.server.until { $0.open == 0 }
        }
    }

    /// It copies such a body before it sends any of it.
    @Test func urlSessionRefusesBodiesOfUnknownLength() async throws {
        try await StreamFixture.with(.urlSession) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(body: "x") }
            let upload = Upload()
            let error = await #expect(throws: RequestError.self) {
                try await fixture.open {
                    $0.method = .post
                    $0.body = upload.body
                }
            }
            #expect(error?.code == .unsupported && error?.stage == .transport)
            #expect(error?.message.contains("body of unknown length") == true)
            #expect(fixture.server.status.accepted == 0)
            // A body that exists before the request is sent, and a response that is collected.
            let bodies: [HTTPBody] = [
                .string("abc"),
                .stream(length: 3) {
                    AsyncStream {
                        $0.yield(Data("abc".utf8)); $0.finish()
                    }
                },
            ]
            for body in bodies {
                let stream = try await fixture.open {
                    $0.method = .post
                    $0.body = body
                }
                #expect(try await stream.read(2) == Data("x".utf8))
            }
            var collected = fixture.description("/") { $0.method = .post }
            collected.isStreamed = false
            collected.acceptance.format = .any
            upload.send("abc")
            upload.finish()
            collected.body = upload.body
            #expect(try await fixture.agent.start(collected).response().data == Data("x".utf8))
        }
    }

    /// Replaces the options of a request by the defaults.
    private struct OptionsReset: Interceptor {
        func intercept(
            _ request: TransportRequest, next: TransportRequest.Next
        ) async throws -> Response {
            var request = request
            request.options = TransportOptions()
            return try await next(request)
        }
    }

    @Test func interceptorsCannotHideAStream() async throws {
        try await StreamFixture.with(.urlSession) {
            $0.interceptors = [OptionsReset()]
        } _: { fixture async throws in
            let error = await #expect(throws: RequestError.self) {
                try await fixture.open {
                    $0.method = .post
                    $0.body = Upload().body
                }
            }
            #expect(error?.code == .unsupported)
            #expect(fixture.server.status.accepted == 0)
        }
    }
}
