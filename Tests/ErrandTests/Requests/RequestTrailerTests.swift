import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Trailers are sent with every attempt that sends the body.
@Suite(.limited) struct RequestTrailerTests {
    private final class Upload: BaseRequest {
        override var url: EndpointURL { "/start" }
        override var method: HTTPMethod { .put }
        override var body: HTTPBody? {
            .string("abc").trailers([.custom("X-Sum"), .custom("X-Token")], into: 0) { sum, bytes in
                for byte in bytes { sum += Int(byte) }
            } fields: { sum in
                [.custom("X-Sum"): "\(sum)", .custom("X-Token"): "hush"]
            }
        }
    }

    private func fixture(_ configure: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            configure(&$0)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        return fixture
    }

    private func trailers(_ request: TransportRequest?) async throws -> [String] {
        let sent = try await #require(request).collectedBodyAndTrailers()
        #expect(sent.body == Data("abc".utf8))
        return sent.trailers.map { "\($0.name): \($0.value)" }
    }

    @Test func retryRepeatsTheTrailers() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .put, "/start", .json("{}", status: .serviceUnavailable), .json("{}"))
        let response = try await fixture.with(Upload()).send()
        #expect(response.attempts == 2)
        for request in fixture.transport.requests {
            #expect(try await trailers(request) == ["X-Sum: 294", "X-Token: hush"])
        }
    }

    @Test(arguments: [
        (307, "/end", ["X-Sum: 294", "X-Token: hush"]),
        (308, "/end", ["X-Sum: 294", "X-Token: hush"]),
        (308, "https://other.example/end", ["X-Sum: 294"]),
    ])
    func redirectRepeatsTheTrailers(
        status: Int, location: String, expected: [String]
    ) async throws {
        let fixture = fixture()
        fixture.transport.on(
            .put, "/start",
            ScriptedResponse(status: .init(code: status), headers: [.location: location]))
        try await fixture.with(Upload()).send()
        #expect(fixture.transport.requestCount == 2)
        #expect(try await trailers(fixture.transport.requests.last) == expected)
    }

    @Test func redirectThatDropsTheBodyDropsTheTrailers() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .put, "/start", ScriptedResponse(status: .seeOther, headers: [.location: "/end"]))
        try await fixture.with(Upload()).send()
        #expect(fixture.transport.requests.map { $0.body?.trailerNames.count } == [2, nil])
    }

    @Test(arguments: [true, false])
    func changedOriginTakesNoCredentialsAlong(byInterceptor: Bool) async throws {
        let fixture = fixture {
            if byInterceptor {
                $0.interceptors.append { request, next in
                    var request = request
                    request.url.host = "other.example"
                    return try await next(request)
                }
            } else {
                $0.requestProcessors = [
                    { request, _, _ in request.url.host = "other.example" }
                ]
            }
        }
        try await fixture.with(Upload()).send()
        let request = fixture.transport.requests.first
        #expect(request?.url.host == "other.example")
        #expect(try await trailers(request) == ["X-Sum: 294"])
    }

    @Test func processorAddsTrailers() async throws {
        let fixture = fixture {
            $0.requestProcessors = [
                { request, _, _ in
                    request.body = request.body?.trailers([.custom("X-Own")]) {
                        [.custom("X-Own"): "1"]
                    }
                }
            ]
        }
        let request = InlineRequest("x") {
            $0.method = .post
            $0.body = .string("abc")
        }
        try await fixture.with(request).send()
        #expect(try await trailers(fixture.transport.requests.first) == ["X-Own: 1"])
    }

    @Test(arguments: ["Content-Length", "A\r\nB"])
    func forbiddenNameFailsBeforeSending(name: String) async throws {
        let fixture = fixture()
        let request = InlineRequest("x") {
            $0.method = .post
            $0.body = .string("abc").trailers([.custom(name)]) { [:] }
        }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(request).send()
        }
        #expect(error?.code == .invalidHeader && error?.stage == .build)
        #expect(fixture.transport.requestCount == 0)
    }

    /// Values that are known only after the body cannot be part of a key.
    @Test func requestsWithTrailersAreNotCached() async throws {
        let fixture = fixture()
        for _ in 0..<2 {
            let request = InlineRequest("x") {
                $0.method = .put
                $0.cacheSeconds = 60
                $0.body = .string("abc").trailers([.custom("X-Sum")]) { [:] }
            }
            try await fixture.with(request).send()
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func outboxRefusesTrailers() async throws {
        let outbox = Outbox(agent: fixture().agent, store: MemoryOutboxStore())
        let error = await #expect(throws: RequestError.self) {
            try await outbox.add(Upload().makeDescription())
        }
        #expect(error?.code == .invalidBody && error?.message.contains("trailers") == true)
    }

    /// Neither a `URLRequest` nor curl's command line can contain trailers.
    @Test func previewsDoNotLoseTrailers() async throws {
        let agent = fixture().agent
        let error = await #expect(throws: RequestError.self) {
            try await agent.urlRequest(for: Upload().makeDescription())
        }
        #expect(error?.code == .unsupported && error?.stage == .build)
        let command = try await agent.curlCommand(for: Upload())
        #expect(command.hasSuffix(" # without the trailers: X-Sum, X-Token"))
        #expect(!command.contains("hush"))
    }

    @Test func bytesOfTheBodyAreReadWithoutTrailers() async throws {
        let body = try #require(Upload().body)
        #expect(try await body.bytes() == Data("abc".utf8))
    }
}
