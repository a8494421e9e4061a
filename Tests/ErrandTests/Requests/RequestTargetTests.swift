import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hooks that write parts of a URL cannot move a request with its credentials to another host.
@Suite(.limited) struct RequestTargetTests {
    private final class Account: BaseRequest {
        override var url: EndpointURL { "https://api.example.com/x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.authorization = .bearer("secret")
        }
    }

    private final class Writing: Authenticator {
        private let change: @Sendable (inout HTTPURL) -> Void
        init(change: @escaping @Sendable (inout HTTPURL) -> Void) { self.change = change }

        func apply(to request: inout TransportRequest) async throws {
            request.headers[.authorization] = "Bearer secret"
            change(&request.url)
        }
    }

    private static let invalidHosts = [
        "api.example.com@evil.example", "evil.example:1", "evil.example/x", "evil.example#", "a b",
    ]
    private static let paths = ["@127.0.0.2:1/x", ".evil.example/x", ":1/x", "x"]

    private func processing(
        _ change: @escaping @Sendable (inout TransportRequest) -> Void
    ) -> AgentFixture {
        let fixture = AgentFixture {
            $0.requestProcessors = [{ request, _, _ in change(&request) }]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        return fixture
    }

    @Test(arguments: paths)
    func pathWrittenByAProcessorStaysAPath(path: String) async throws {
        let fixture = processing { $0.url.path = path }
        try await fixture.with(Account()).send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.string == "https://api.example.com/\(path)")
        #expect(sent.headers[.authorization] == "Bearer secret")
    }

    @Test(arguments: invalidHosts)
    func invalidHostWrittenByAProcessorIsRefused(host: String) async throws {
        let fixture = processing { $0.url.host = host }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Account()).send()
        }
        #expect(error?.code == .invalidURL && error?.stage == .adapt)
        #expect(error?.message.contains("request processor") == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    /// Each attempt is checked, and a retry does not send what the first attempt could not.
    @Test func invalidURLWrittenForALaterAttemptIsRefused() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(3)
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.requestProcessors = [
                { request, _, attempt in
                    if attempt == 2 { request.url.port = 0 }
                }
            ]
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidURL)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func processorThatChangesTheOriginTakesNoCredentialsAlong() async throws {
        let fixture = AgentFixture {
            $0.hostHeaders = ["api.example.com": [.from: "ours"]]
            $0.requestProcessors = [
                { request, _, _ in
                    request.url.host = "mirror.example.com"
                    request.headers[.referer] = "kept"
                }
            ]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        try await fixture.with(Account()).send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.host == "mirror.example.com")
        #expect(sent.headers[.authorization] == nil && sent.headers[.from] == nil)
        #expect(sent.headers[.referer] == "kept")
    }

    @Test func credentialsThatAProcessorAddsForAnotherOriginAreSent() async throws {
        let fixture = processing { request in
            request.url.host = "mirror.example.com"
            request.headers[.authorization] = "Bearer mirror"
        }
        try await fixture.with(Account()).send()
        #expect(fixture.transport.requests.first?.headers[.authorization] == "Bearer mirror")
    }

    @Test(arguments: [
        "evil.example", "api.example.com@evil.example", "API.example.com.evil.example", "",
    ])
    func authenticatorCannotChangeTheHost(host: String) async throws {
        let fixture = AgentFixture {
            $0.authenticators = [
                "api.example.com": Writing { $0.host = host }
            ]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("authenticator") == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func authenticatorCannotChangeSchemeAndPort() async throws {
        for change: @Sendable (inout HTTPURL) -> Void in [
            { $0.scheme = "http" }, { $0.port = 8443 },
        ] {
            let fixture = AgentFixture {
                $0.authenticators = ["api.example.com": Writing(change: change)]
            }
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(Plain("x")).send()
            }
            #expect(error?.code == .invalidURL)
            #expect(fixture.transport.requests.isEmpty)
        }
    }

    @Test(arguments: paths)
    func pathWrittenByAnAuthenticatorStaysAPath(path: String) async throws {
        let fixture = AgentFixture {
            $0.authenticators = [
                "api.example.com": Writing { $0.path = path }
            ]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        try await fixture.with(Plain("x")).send()
        #expect(fixture.transport.requests.first?.url.string == "https://api.example.com/\(path)")
    }

    @Test func redirectDeciderCannotFollowToAnInvalidURL() async throws {
        let fixture = AgentFixture {
            $0.redirectDecider = { redirect in
                var request = redirect.original
                request.url.host = "api.example.com@evil.example"
                return .follow(request)
            }
        }
        fixture.transport.on(
            .get, "/x", ScriptedResponse(status: .found, headers: [.location: "/y"]))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("redirectDecider") == true)
        #expect(fixture.transport.requests.count == 1)
    }

    /// The decider sees the host that is connected to.
    @Test(arguments: ["http://127.1/y", "//0x7f.0.0.1/y", "http://2130706433/y", "http://127。1/y"])
    func redirectDeciderReceivesTheCanonicalHost(location: String) async throws {
        let fixture = AgentFixture {
            $0.redirectPolicy.allowsDowngrade = true
            $0.redirectDecider = { $0.request.url.host == "127.0.0.1" ? .deliver : .asPolicy }
        }
        fixture.transport.on(
            .get, "/x", ScriptedResponse(status: .found, headers: [.location: location]))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        #expect(fixture.transport.requests.count == 1)
    }

    // MARK: - Proxy-Authorization

    private final class ProxyHeader: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.headers[.proxyAuthorization] = "Basic c2VjcmV0"
        }
    }

    private final class CustomProxyHeader: BaseRequest {
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            guard let url = URL(string: "http://api.example.com/x") else { return }
            var custom = URLRequest(url: url)
            custom.setValue("Basic c2VjcmV0", forHTTPHeaderField: "proxy-authorization")
            request.use(custom)
        }
    }

    private func refusal(
        _ fixture: AgentFixture, _ request: BaseRequest
    ) async -> RequestError? {
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(request).send()
        }
        #expect(fixture.transport.requests.isEmpty)
        return error
    }

    @Test func proxyAuthorizationOfAnEndpointIsRefused() async throws {
        let shared = AgentFixture { $0.sharedHeaders = [.proxyAuthorization: "Basic c2VjcmV0"] }
        for error in [
            await refusal(AgentFixture(), ProxyHeader()),
            await refusal(AgentFixture(), CustomProxyHeader()), await refusal(shared, Plain("x")),
        ] {
            #expect(error?.code == .invalidHeader && error?.stage == .build)
            #expect(error?.message.contains("Proxy-Authorization") == true)
            #expect(error?.message.contains("c2VjcmV0") == false)
        }
    }

    // MARK: - Public suffixes

    @Test func incompletePublicSuffixesAreReportedOnce() async throws {
        let fixture = AgentFixture {
            $0.cookieJar = CookieJar(publicSuffixes: PublicSuffixRules(installed: nil))
        }
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(
                headers: [.contentType: "application/json", .setCookie: "a=1; Domain=example.com"],
                body: Data("{}".utf8)))
        fixture.transport.on(.get, "/y", .json("{}"))
        func count() -> Int {
            fixture.events.events.count {
                if case .publicSuffixesIncomplete = $0.kind { true } else { false }
            }
        }
        try await fixture.with(Plain("y")).send()
        #expect(count() == 0)
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("x")).send()
        #expect(count() == 1)
    }
}
