import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Request, response and error processors, and body encoders, run after serialization.
@Suite(.limited) struct RequestProcessorTests {
    /// Adds a header with the attempt and a checksum of the body, and appends a byte to the body.
    private struct SigningProcessor: Sendable {
        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            let body = try await request.body?.bytes() ?? Data()
            let sum = body.reduce(0) { $0 + Int($1) }
            request.headers[.from] = "\(attempt):\(body.count):\(sum)"
            request.body = .data(body + Data("!".utf8), contentType: request.body?.contentType)
        }
    }

    @Test func requestProcessorRunsOncePerAttemptWithItsNumber() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 3, baseDelay: .zero, sendsIdempotencyKey: true)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.requestProcessors = [SigningProcessor().process]
        }
        fixture.transport.on(
            .post, "/post", .json("{}", status: .serviceUnavailable), .json("{}"))
        try await fixture.with(PostRequest()).send()
        let sent = fixture.transport.requests
        let sum = "a=1".utf8.reduce(0) { $0 + Int($1) }
        #expect(sent.map { $0.headers[.from] } == ["1:3:\(sum)", "2:3:\(sum)"])
        var bodies: [Data] = []
        for request in sent { bodies.append(try await request.collectedBody()) }
        #expect(bodies == [Data("a=1!".utf8), Data("a=1!".utf8)])
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(sent[0].headers[key] != nil && sent[0].headers[key] == sent[1].headers[key])
    }

    @Test func processorErrorOnALaterAttemptEndsTheRequest() async throws {
        struct ProcessorError: Error {}
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(3)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.requestProcessors = [
                { _, _, attempt in
                    if attempt == 2 { throw ProcessorError() }
                }
            ]
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .adaptationFailed && error?.underlying is ProcessorError)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func requestProcessorsReceiveTheEncodedBody() async throws {
        let fixture = AgentFixture {
            $0.bodyEncoder = ReversingBodyEncoder()
            $0.requestProcessors = [SigningProcessor().process]
        }
        fixture.transport.on(.post, nil, .json("{}"))
        try await fixture.with(PostRequest()).send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.headers[.contentEncoding] == "x-reversed")
        #expect(sent.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(try await sent.collectedBody() == Data("1=a!".utf8))
    }

    @Test func bodyEncoderSkipsMissingEncodedAndStreamedBodies() async throws {
        let fixture = AgentFixture { $0.bodyEncoder = ReversingBodyEncoder() }
        fixture.transport.on(nil, nil, .json("{}"))
        // A request without a body, and one that is already encoded.
        try await fixture.with(Plain("x")).send()
        try await fixture.with(
            InlineRequest("x") {
                $0.method = .post
                $0.body = .string("abc")
                $0.headers = [.contentEncoding: "br"]
            }
        ).send()
        // A streamed body: the configuration's encoder skips it, the endpoint's own encoder fails.
        let parts = HTTPBody.multipart([.text("a", "b")])
        try await fixture.with(
            InlineRequest("x") {
                $0.method = .post
                $0.body = parts
            }
        ).send()
        let sent = fixture.transport.requests
        #expect(sent.map { $0.headers[.contentEncoding] } == [nil, "br", nil])
        #expect(try await sent[1].collectedBody() == Data("abc".utf8))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(
                InlineRequest("x") {
                    $0.method = .post
                    $0.body = parts
                    $0.compression = ReversingBodyEncoder()
                }
            ).send()
        }
        #expect(error?.code == .unsupported)
    }

    @Test func processorsRunForBatchMembersAndCachedResponses() async throws {
        struct AttemptHeaderProcessor: Sendable {
            func process(_ response: inout Response) throws {
                response.headers[.from] = "attempt \(response.attempts)"
            }
        }
        let fixture = AgentFixture {
            $0.responseProcessors = [AttemptHeaderProcessor().process]
            $0.requestProcessors = [SigningProcessor().process]
        }
        fixture.transport.on(.get, nil, .json("{}"))
        let members = ["a", "b"].map { path in
            fixture.with(InlineRequest(path) { $0.cacheSeconds = 60 })
        }
        try await BatchRequest(members).send()
        #expect(members.map { $0.response?.headers[.from] } == ["attempt 1", "attempt 1"])
        #expect(fixture.transport.requests.allSatisfy { $0.headers[.from] == "1:0:0" })
        await fixture.agent.flushCache()
        let hit = try await members[0].send()
        #expect(hit.source == .cacheFresh && hit.headers[.from] == "attempt 0")
    }

    @Test func errorProcessorReceivesTheAttemptNumber() async throws {
        struct AttemptMessageProcessor: Sendable {
            func process(_ error: inout RequestError) {
                error.message = "after \(error.attempts)"
            }
        }
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(2)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.errorProcessors = [AttemptMessageProcessor().process]
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .gone))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.message == "after 2")
    }
}
