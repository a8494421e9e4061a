import Errand
import ErrandTesting
import Foundation
import Testing

/// Signing, encrypting and compressing behind serialization (rows RSQ-8, RSQ-9, CFG-5).
@Suite(.timeLimit(.minutes(5))) struct RequestProcessorTests {
    private struct Reverse: BodyEncoder {
        let contentCoding = "x-reversed"
        func encode(_ body: Data) throws -> Data { Data(body.reversed()) }
    }

    /// Signs the bytes that go out and notes the attempt.
    private struct Signing: RequestProcessor {
        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            let body = try await request.body?.bytes() ?? Data()
            let sum = body.reduce(0) { $0 + Int($1) }
            request.headers[.from] = "\(attempt):\(body.count):\(sum)"
            request.body = .data(body + Data("!".utf8), contentType: request.body?.contentType)
        }
    }

    @Test func eachAttemptIsSignedOnceAndKnowsItsNumber() async throws {
        let world = World {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 3, baseDelay: .zero, sendsIdempotencyKey: true)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.requestProcessors = [Signing()]
        }
        world.transport.on(
            .post, "/post", .json("{}", status: .serviceUnavailable), .json("{}"))
        try await world.with(Posting()).send()
        let sent = world.transport.requests
        let sum = "a=1".utf8.reduce(0) { $0 + Int($1) }
        #expect(sent.map { $0.headers[.from] } == ["1:3:\(sum)", "2:3:\(sum)"])
        var bodies: [Data] = []
        for request in sent { bodies.append(try await request.collectedBody()) }
        #expect(bodies == [Data("a=1!".utf8), Data("a=1!".utf8)])
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(sent[0].headers[key] != nil && sent[0].headers[key] == sent[1].headers[key])
    }

    @Test func aProcessorThatThrowsOnALaterAttemptEndsTheRequest() async throws {
        struct Late: Error {}
        let world = World {
            $0.retryPolicy = .attempts(3)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.requestProcessors = [
                ClosureRequestProcessor { _, _, attempt in if attempt == 2 { throw Late() } }
            ]
        }
        world.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .adaptationFailed && error?.underlying is Late)
        #expect(world.transport.requests.count == 1)
    }

    @Test func processorsSeeTheCompressedBytes() async throws {
        let world = World {
            $0.bodyEncoder = Reverse()
            $0.requestProcessors = [Signing()]
        }
        world.transport.on(.post, nil, .json("{}"))
        try await world.with(Posting()).send()
        let sent = try #require(world.transport.requests.first)
        #expect(sent.headers[.contentEncoding] == "x-reversed")
        #expect(sent.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(try await sent.collectedBody() == Data("1=a!".utf8))
    }

    @Test func whatCannotBeCompressed() async throws {
        let world = World { $0.bodyEncoder = Reverse() }
        world.transport.on(nil, nil, .json("{}"))
        // Nothing to compress, or compressed already.
        try await world.with(Plain("x")).send()
        try await world.with(
            InlineRequest("x") {
                $0.method = .post
                $0.body = .string("abc")
                $0.headers = [.contentEncoding: "br"]
            }
        ).send()
        // The agent's encoder leaves a stream alone, the endpoint's own refuses it.
        let parts = MultipartBody([.text("a", "b")])
        try await world.with(
            InlineRequest("x") {
                $0.method = .post
                $0.body = .multipart(parts)
            }
        ).send()
        let sent = world.transport.requests
        #expect(sent.map { $0.headers[.contentEncoding] } == [nil, "br", nil])
        #expect(try await sent[1].collectedBody() == Data("abc".utf8))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(
                InlineRequest("x") {
                    $0.method = .post
                    $0.body = .multipart(parts)
                    $0.bodyEncoder = Reverse()
                }
            ).send()
        }
        #expect(error?.code == .unsupported)
    }

    @Test func membersOfABatchAndStoredAnswersTakeTheSameWay() async throws {
        struct Count: ResponseProcessor {
            func process(_ response: Response, attempt: Int) async throws -> Response {
                var response = response
                response.headers[.from] = "attempt \(attempt)"
                return response
            }
        }
        let world = World {
            $0.responseProcessors = [Count()]
            $0.requestProcessors = [Signing()]
        }
        world.transport.on(.get, nil, .json("{}"))
        let members = ["a", "b"].map { path in
            world.with(InlineRequest(path) { $0.cacheSeconds = 60 })
        }
        try await BatchRequest(members).send()
        #expect(members.map { $0.response?.headers[.from] } == ["attempt 1", "attempt 1"])
        #expect(world.transport.requests.allSatisfy { $0.headers[.from] == "1:0:0" })
        await world.agent.flushCache()
        let hit = try await members[0].send()
        #expect(hit.source == .cacheFresh && hit.headers[.from] == "attempt 0")
    }

    @Test func errorProcessorsKnowTheAttempts() async throws {
        struct Tell: ErrorProcessor {
            func process(_ error: RequestError, attempt: Int) async -> RequestError {
                var error = error
                error.message = "after \(attempt)"
                return error
            }
        }
        let world = World {
            $0.retryPolicy = .attempts(2)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.add(Tell())
        }
        world.transport.on(.get, "/x", .json("{}", status: .gone))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.message == "after 2")
    }
}
