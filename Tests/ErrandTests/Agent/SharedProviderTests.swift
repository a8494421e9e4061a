import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// `headerProvider` and `argumentProvider`: their values, their precedence, and how often they are called.
@Suite(.limited) struct SharedProviderTests {
    private static func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    private final class Endpoint: BaseRequest {
        var ownHeaders: HTTPFields = [:]
        var ownArguments: Arguments?
        var usesShared = true
        override var url: EndpointURL { "x" }
        override var headers: HTTPFields { ownHeaders }
        override var arguments: Arguments? { ownArguments }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            if !usesShared { request.uses.remove(.sharedHeaders) }
            if !usesShared { request.uses.remove(.sharedArguments) }
        }
    }

    /// Counts the calls of a provider.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    // MARK: - Precedence

    @Test func providedHeadersOverrideSharedOnesAndYieldToTheRequestsOwn() async throws {
        let names = try ["Shared", "Provided", "Own", "Fixed", "Host", "Several"].map {
            try Self.name("X-\($0)")
        }
        let (shared, provided, own, fixed, host, several) =
            (names[0], names[1], names[2], names[3], names[4], names[5])
        let fixture = AgentFixture { configuration in
            for name in names { configuration.sharedHeaders[name] = "shared" }
            configuration.headerProvider = {
                var fields: HTTPFields = [:]
                for name in [provided, own, fixed, host] { fields[name] = "provided" }
                fields[values: several] = ["one", "two"]
                return fields
            }
            configuration.fixedHeaderNames = [fixed]
            configuration.hostHeaders = ["api.example.com": [host: "host"]]
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = fixture.with(Endpoint())
        request.ownHeaders = [own: "own", fixed: "own"]
        try await request.send()
        let sent = try #require(fixture.transport.requests.first).headers
        #expect(sent[values: shared] == ["shared"])
        #expect(sent[values: provided] == ["provided"])
        #expect(sent[values: own] == ["own"])
        #expect(sent[values: fixed] == ["provided"])
        #expect(sent[values: host] == ["host"])
        #expect(sent[values: several] == ["one", "two"])
    }

    @Test func providedArgumentsOverrideSharedOnesAndYieldToTheRequestsOwn() async throws {
        let fixture = AgentFixture {
            $0.sharedArguments = [
                "shared": "shared", "provided": "shared", "own": "shared", "fixed": "shared",
                "host": "shared",
            ]
            $0.argumentProvider = {
                [
                    "provided": "provided", "own": "provided", "fixed": "provided",
                    "host": "provided",
                ]
            }
            $0.fixedArgumentNames = ["fixed"]
            $0.hostArguments = ["api.example.com": ["host": "host"]]
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = fixture.with(Endpoint())
        request.ownArguments = ["own": "own", "fixed": "own"]
        try await request.send()
        let query = try #require(fixture.transport.requests.first?.url.query)
        #expect(
            query.split(separator: "&").sorted() == [
                "fixed=provided", "host=host", "own=own", "provided=provided", "shared=shared",
            ])
    }

    @Test func providedArgumentsAreInTheBodyOfAPost() async throws {
        let fixture = AgentFixture { $0.argumentProvider = { ["token": "t"] } }
        fixture.transport.on(.post, "/x", .json("{}"))
        let request = InlineRequest("x") {
            $0.method = .post
            $0.arguments = ["own": 1]
        }
        try await fixture.with(request).send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(try await sent.collectedBody() == Data("token=t&own=1".utf8))
        #expect(sent.url.query == nil)
    }

    // MARK: - Calls

    @Test func providersAreCalledOncePerRequestAndNotPerAttemptOrRedirect() async throws {
        let (headerCalls, argumentCalls) = (Counter(), Counter())
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            $0.headerProvider = { [.from: "h\(headerCalls.next())"] }
            $0.argumentProvider = { ["call": argumentCalls.next()] }
        }
        fixture.transport.on(
            .get, "/x", .json("{}", status: .serviceUnavailable),
            ScriptedResponse(status: .found, headers: [.location: "/y?moved=1"]), .json("{}"))
        fixture.transport.on(
            .get, "/y", .json("{}", status: .badGateway), .json("{}"))
        // Attempts: /x; /x and /y; /x.
        #expect(try await fixture.with(Endpoint()).send().attempts == 3)
        #expect(headerCalls.value == 1 && argumentCalls.value == 1)
        try await fixture.with(Endpoint()).send()
        #expect(headerCalls.value == 2 && argumentCalls.value == 2)
        let sent = fixture.transport.requests
        #expect(sent.map(\.url.path) == ["/x", "/x", "/y", "/x", "/x"])
        #expect(sent.map { $0.headers[.from] } == ["h1", "h1", "h1", "h1", "h2"])
        #expect(sent.map(\.url.query) == ["call=1", "call=1", "moved=1", "call=1", "call=2"])
    }

    @Test func requestWithoutSharedValuesDoesNotCallTheProviders() async throws {
        let calls = Counter()
        let fixture = AgentFixture {
            $0.headerProvider = { [.from: "\(calls.next())"] }
            $0.argumentProvider = { ["call": calls.next()] }
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = fixture.with(Endpoint())
        request.usesShared = false
        try await request.send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(calls.value == 0 && sent.headers[.from] == nil && sent.url.query == nil)
    }

    // MARK: - Errors

    private struct Refused: Error {}

    @Test(arguments: ["headers", "arguments"])
    func errorOfAProviderFailsTheRequestBeforeItIsSent(kind: String) async throws {
        let own = RequestError(.offline, stage: .adapt, "Not now.")
        for (thrown, code) in [
            (Refused() as any Error, RequestError.Code.adaptationFailed), (own, .offline),
        ] {
            let fixture = AgentFixture {
                if kind == "headers" {
                    $0.headerProvider = { throw thrown }
                } else {
                    $0.argumentProvider = { throw thrown }
                }
            }
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(Endpoint()).send()
            }
            #expect(error?.code == code && error?.stage == .adapt)
            if code == .adaptationFailed {
                #expect(error?.underlying is Refused && error?.message.contains(kind) == true)
            }
            #expect(fixture.transport.requestCount == 0)
        }
    }
}
