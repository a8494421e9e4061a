import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Bodies arrive whole, with their length where it is known, or the transfer fails.
@Suite("Contract: request bodies", .timeLimit(.minutes(5)))
struct RequestBodyContract {
    private func chunks(_ data: [Data]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in data { continuation.yield(chunk) }
            continuation.finish()
        }
    }

    private struct Broken: Error {}

    private func post(_ subject: Subject, _ body: HTTPBody) async throws -> LoopbackRequest {
        var result: LoopbackRequest?
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer(status: 201) }
            let record = try await world.succeed(world.request(.post, body: body))
            #expect(record.head?.status.code == 201)
            result = world.server.requests.first
            #expect(record.sent == Int64(result?.bodyBytes ?? -1))
        }
        return try #require(result)
    }

    @Test(arguments: Subject.wire)
    func data(subject: Subject) async throws {
        let request = try await post(subject, .data(Data("some data".utf8)))
        #expect(request.body == Data("some data".utf8))
        #expect(request.values(of: "Content-Length") == ["9"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
        #expect(request.values(of: "Expect").isEmpty)
    }

    @Test(arguments: Subject.wire)
    func emptyData(subject: Subject) async throws {
        let request = try await post(subject, .data(Data()))
        #expect(request.bodyBytes == 0 && request.isComplete)
        #expect(request.values(of: "Content-Length") == ["0"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
    }

    @Test(arguments: Subject.wire)
    func file(subject: Subject) async throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        let bytes = pattern(300_000)
        try bytes.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let request = try await post(subject, .file(url))
        #expect(request.body == bytes)
        #expect(request.values(of: "Content-Length") == ["300000"])
    }

    @Test(arguments: Subject.wire)
    func missingFile(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let body = HTTPBody.file(URL(fileURLWithPath: "/nowhere/at/all"))
            try await world.fail(world.request(.post, body: body), .invalidBody)
            #expect(world.server.status.requests == 0)
        }
    }

    @Test(arguments: Subject.wire)
    func streamOfKnownLength(subject: Subject) async throws {
        let parts = [Data("one ".utf8), Data("two ".utf8), pattern(100_000)]
        let request = try await post(subject, .stream(length: 100_008) { chunks(parts) })
        #expect(request.body == parts[0] + parts[1] + parts[2])
        #expect(request.values(of: "Content-Length") == ["100008"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
    }

    @Test(arguments: Subject.wire)
    func streamOfUnknownLength(subject: Subject) async throws {
        let parts = (0..<20).map { _ in pattern(30_000) }
        let request = try await post(subject, .stream { chunks(parts) })
        #expect(request.body == parts.reduce(Data(), +))
        let isChunked = request.header("Transfer-Encoding") == "chunked"
        #expect(isChunked == subject.capabilities.contains(.streamsWithoutSpooling))
        #expect(isChunked != (request.header("Content-Length") != nil))
    }

    @Test(arguments: Subject.wire)
    func emptyStream(subject: Subject) async throws {
        let request = try await post(subject, .stream { chunks([]) })
        #expect(request.bodyBytes == 0 && request.isComplete)
    }

    @Test(arguments: Subject.wire)
    func streamThatIsSlow(subject: Subject) async throws {
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
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer() }
            let receiver = world.start(world.request(.post, body: body)).receiver
            try await gate.reached()
            // Others are not held up.
            _ = try await world.succeed(world.request())
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
            #expect(world.server.requests.last?.body == Data("early late".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func streamThatFails(subject: Subject) async throws {
        let body = HTTPBody.stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("some".utf8))
                continuation.finish(throwing: Broken())
            }
        }
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer() }
            try await world.fail(world.request(.post, body: body), .bodyReadFailed)
            #expect(!world.server.requests.contains { $0.isComplete })
        }
    }

    @Test(arguments: Subject.wire, [Int64(3), 30])
    func streamOfAnotherLength(subject: Subject, length: Int64) async throws {
        let body = HTTPBody.stream(length: length) { chunks([Data("0123456789".utf8)]) }
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer() }
            try await world.fail(world.request(.post, body: body), .bodyReadFailed)
            #expect(!world.server.requests.contains { $0.isComplete })
        }
    }

    @Test(arguments: Subject.wire)
    func fiveMegabytesComeBackUnchanged(subject: Subject) async throws {
        let bytes = pattern(5 << 20)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { LoopbackAnswer(body: $0.body) }
            let progress = RecordingReceiver()
            world.start(world.request(.put, body: .data(bytes)), progress)
            let record = try await progress.ended()
            #expect(record.end?.error == nil)
            #expect(record.body == bytes)
            #expect(record.sent == Int64(bytes.count))
        }
    }

    @Test(arguments: Subject.wire)
    func answerBeforeTheBodyWasRead(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise(readsBody: false) { _ in
                LoopbackAnswer(status: 413, headers: ["Connection": "close"], body: "too much")
            }
            let body = HTTPBody.data(pattern(4 << 20))
            let record = try await world.succeed(world.request(.post, body: body))
            #expect(record.head?.status.code == 413)
            #expect(record.body == Data("too much".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func slowServerIsWaitedFor(subject: Subject) async throws {
        let gate = Gate()
        let bytes = pattern(4 << 20)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise(readsBody: false) { _ in
                let head = LoopbackAnswer(body: "read").steps
                return LoopbackAnswer(
                    steps: [.receiveBody(upTo: 1000), .hold(gate), .receiveBody(upTo: nil)] + head)
            }
            let receiver = world.start(world.request(.post, body: .data(bytes))).receiver
            try await gate.reached()
            #expect(receiver.record.head == nil)
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
            #expect(world.server.requests.first?.body == bytes)
        }
    }
}
