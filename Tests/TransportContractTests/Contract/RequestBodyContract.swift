import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// A request body is sent completely, with its length if that is known, or the transfer fails.
@Suite("Contract: request bodies", .limited)
struct RequestBodyContract {
    private func chunks(_ data: [Data]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in data { continuation.yield(chunk) }
            continuation.finish()
        }
    }

    private struct BodyError: Error {}

    private func post(_ kind: TransportKind, _ body: HTTPBody) async throws -> LoopbackRequest {
        var result: LoopbackRequest?
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(status: 201) }
            let record = try await fixture.succeed(fixture.request(.post, body: body))
            #expect(record.head?.status.code == 201)
            result = fixture.server.requests.first
            #expect(record.sent == Int64(result?.bodyBytes ?? -1))
        }
        return try #require(result)
    }

    @Test(arguments: TransportKind.wire)
    func dataBodyHasContentLength(kind: TransportKind) async throws {
        let request = try await post(kind, .data(Data("some data".utf8)))
        #expect(request.body == Data("some data".utf8))
        #expect(request.values(of: "Content-Length") == ["9"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
        #expect(request.values(of: "Expect").isEmpty)
    }

    @Test(arguments: TransportKind.wire)
    func emptyDataBodyHasContentLengthZero(kind: TransportKind) async throws {
        let request = try await post(kind, .data(Data()))
        #expect(request.bodyBytes == 0 && request.isComplete)
        #expect(request.values(of: "Content-Length") == ["0"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
    }

    @Test(arguments: TransportKind.wire)
    func fileBodyHasContentLength(kind: TransportKind) async throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        let bytes = pattern(300_000)
        try bytes.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let request = try await post(kind, .file(url))
        #expect(haveSameBytes(request.body, bytes))
        #expect(request.values(of: "Content-Length") == ["300000"])
    }

    @Test(arguments: TransportKind.wire)
    func missingFileFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let body = HTTPBody.file(URL(fileURLWithPath: "/nowhere/at/all"))
            try await fixture.fail(fixture.request(.post, body: body), .invalidBody)
            #expect(fixture.server.status.requests == 0)
        }
    }

    @Test(arguments: TransportKind.wire)
    func streamOfKnownLengthHasContentLength(kind: TransportKind) async throws {
        let parts = [Data("one ".utf8), Data("two ".utf8), pattern(100_000)]
        let request = try await post(kind, .stream(length: 100_008) { chunks(parts) })
        #expect(haveSameBytes(request.body, parts[0] + parts[1] + parts[2]))
        #expect(request.values(of: "Content-Length") == ["100008"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
    }

    @Test(arguments: TransportKind.wire)
    func streamOfUnknownLengthIsSent(kind: TransportKind) async throws {
        let parts = (0..<20).map { _ in pattern(30_000) }
        let request = try await post(kind, .stream { chunks(parts) })
        #expect(haveSameBytes(request.body, parts.reduce(Data(), +)))
        let isChunked = request.header("Transfer-Encoding") == "chunked"
        #expect(isChunked == kind.capabilities.contains(.streamsWithoutSpooling))
        #expect(isChunked != (request.header("Content-Length") != nil))
    }

    @Test(arguments: TransportKind.wire)
    func emptyStreamIsSent(kind: TransportKind) async throws {
        let request = try await post(kind, .stream { chunks([]) })
        #expect(request.bodyBytes == 0 && request.isComplete)
    }

    @Test(arguments: TransportKind.wire)
    func slowStreamDoesNotBlockOtherTransfers(kind: TransportKind) async throws {
        let gate = Gate()
        let body = HTTPBody.stream {
            AsyncStream<Data> { continuation in
                continuation.yield(Data("early ".utf8))
                Task {
                    try await gate.passed()
                    continuation.yield(Data("late".utf8))
                    continuation.finish()
                }
            }
        }
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let receiver = fixture.start(fixture.request(.post, body: body)).receiver
            try await gate.reached()
            // Other transfers are not blocked.
            _ = try await fixture.succeed(fixture.request())
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
            #expect(fixture.server.requests.last?.body == Data("early late".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func failingStreamFailsTheTransfer(kind: TransportKind) async throws {
        let body = HTTPBody.stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("some".utf8))
                continuation.finish(throwing: BodyError())
            }
        }
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            try await fixture.fail(fixture.request(.post, body: body), .bodyReadFailed)
            #expect(!fixture.server.requests.contains { $0.isComplete })
        }
    }

    @Test(arguments: TransportKind.wire, [Int64(3), 30])
    func streamOfWrongLengthFails(kind: TransportKind, length: Int64) async throws {
        let body = HTTPBody.stream(length: length) { chunks([Data("0123456789".utf8)]) }
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            try await fixture.fail(fixture.request(.post, body: body), .bodyReadFailed)
            #expect(!fixture.server.requests.contains { $0.isComplete })
        }
    }

    @Test(arguments: TransportKind.wire)
    func fiveMegabytesAreEchoedUnchanged(kind: TransportKind) async throws {
        let bytes = pattern(5 << 20)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { LoopbackResponse(body: $0.body) }
            let progress = RecordingReceiver()
            fixture.start(fixture.request(.put, body: .data(bytes)), progress)
            let record = try await progress.ended()
            #expect(record.end?.error == nil)
            #expect(haveSameBytes(record.body, bytes))
            #expect(record.sent == Int64(bytes.count))
        }
    }

    @Test(arguments: TransportKind.wire)
    func responseBeforeTheBodyIsReadIsDelivered(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise(readsBody: false) { _ in
                LoopbackResponse(status: 413, headers: ["Connection": "close"], body: "too much")
            }
            let body = HTTPBody.data(pattern(4 << 20))
            let record = try await fixture.succeed(fixture.request(.post, body: body))
            #expect(record.head?.status.code == 413)
            #expect(record.body == Data("too much".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func uploadWaitsForASlowServer(kind: TransportKind) async throws {
        let gate = Gate()
        let bytes = pattern(4 << 20)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise(readsBody: false) { _ in
                let head = LoopbackResponse(body: "read").steps
                return LoopbackResponse(
                    steps: [.receiveBody(upTo: 1000), .hold(gate), .receiveBody(upTo: nil)] + head)
            }
            let receiver = fixture.start(fixture.request(.post, body: .data(bytes))).receiver
            try await gate.reached()
            #expect(receiver.record.head == nil)
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
            #expect(haveSameBytes(fixture.server.requests.first?.body, bytes))
        }
    }
}
