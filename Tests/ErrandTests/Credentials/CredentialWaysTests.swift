import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Every way to add every kind of credential, with both cache modes and with joined requests: the response of one
/// user is never used for another.
@Suite(.limited) struct CredentialWaysTests {
    /// A field that identifies the user.
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var prefix: String
        /// Whether the value would be another one for each request.
        var isProof = false

        var testDescription: String { "\(name): \(prefix)" }
        func value(of user: String) -> String { prefix + "hush-" + user }

        static let all =
            [
                "Basic", "Bearer", "OAuth", "Token", "ApiKey", "token", "X-Own", "",
            ].map { Kind(name: "Authorization", prefix: $0.isEmpty ? "" : $0 + " ") }
            + [
                "DPoP ", "Signature ", "AWS4-HMAC-SHA256 ", "OAuth oauth_signature=", "Negotiate ",
                "NTLM ",
            ].map {
                Kind(name: "Authorization", prefix: $0, isProof: true)
            }
            + [
                "X-Api-Key", "Api-Token", "Cookie", "X-Auth", "Ocp-Apim-Subscription-Key",
                "X-Functions-Key", "X-Jwt-Assertion", "X-Session-Id", "X-Otp", "X-Ticket",
            ].map { Kind(name: $0, prefix: $0 == "Cookie" ? "session=" : "") }
            + ["DPoP", "Signature", "X-Hub-Signature-256", "X-Sign", "X-Hmac"].map {
                Kind(name: $0, prefix: "", isProof: true)
            }
    }

    enum Way: CaseIterable {
        case ownHeaders, sharedHeaders, headerProvider, hostHeaders, customRequest
        case sharedProcessor, ownProcessor, interceptor, authenticator, redirectDecider
    }

    enum Mode: CaseIterable { case time, timeWithArguments, http }

    private final class User: Sendable {
        private let state = Mutex("")
        var name: String {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private let user = User()

    private func signIn(_ name: String) { user.name = name }

    /// An agent whose requests have the credentials of the present user, and a server that sends them back.
    private func fixture(_ kind: Kind, _ way: Way) -> AgentFixture {
        let value: @Sendable () -> String = { [user] in kind.value(of: user.name) }
        let name = HTTPField.Name(kind.name) ?? .authorization
        let processor: @Sendable (inout TransportRequest, RequestDescription, Int) -> Void = {
            request, _, _ in request.headers[name] = value()
        }
        let fixture = AgentFixture {
            switch way {
            case .headerProvider: $0.headerProvider = { [name: value()] }
            case .sharedProcessor: $0.requestProcessors = [processor]
            case .interceptor:
                $0.interceptors.append { request, next in
                    var changed = request
                    changed.headers[name] = value()
                    return try await next(changed)
                }
            case .authenticator:
                $0.authenticators = [
                    "*.example.com": Fields { $0.headers[name] = value() }
                ]
            case .redirectDecider:
                $0.redirectDecider = { redirect in
                    var next = redirect.request
                    next.headers[name] = value()
                    return .follow(next)
                }
            default: break
            }
        }
        fixture.transport.respond { request in
            if way == .redirectDecider, request.url.path == "/me" {
                return ScriptedResponse(
                    status: .found, headers: [.location: "https://api.example.com/target"])
            }
            return ScriptedResponse(
                headers: [.contentType: "text/plain", .cacheControl: "max-age=600"],
                body: Data((request.headers[name] ?? "none").utf8))
        }
        return fixture
    }

    private final class Fields: Authenticator {
        let body: @Sendable (inout TransportRequest) -> Void
        init(_ body: @escaping @Sendable (inout TransportRequest) -> Void) { self.body = body }
        func apply(to request: inout TransportRequest) async throws { body(&request) }
        func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
            false
        }
    }

    private func start(
        _ fixture: AgentFixture, _ kind: Kind, _ way: Way, _ mode: Mode?
    ) -> RequestTask {
        let value = kind.value(of: user.name)
        let name = HTTPField.Name(kind.name) ?? .authorization
        if way == .sharedHeaders { fixture.agent.configuration.sharedHeaders = [name: value] }
        if way == .hostHeaders {
            fixture.agent.configuration.hostHeaders = ["*.example.com": [name: value]]
        }
        return fixture.agent.start(
            InlineRequest("me") {
                $0.acceptance.format = .any
                $0.acceptance.contentTypes = ["*/*"]
                $0.cache.writesAsynchronously = false
                switch mode {
                case nil: $0.sending.duplicates = .join
                case .time: $0.cacheSeconds = 600
                case .timeWithArguments:
                    $0.cacheSeconds = 600
                    // A custom request has no arguments.
                    if way != .customRequest { $0.cache.arguments = ["id": 7] }
                case .http: $0.cache.policy = .http
                }
                switch way {
                case .ownHeaders: $0.headers[name] = value
                case .customRequest:
                    $0.url = ""
                    $0.customRequest = CustomRequest(
                        url: "https://api.example.com/me", method: .get,
                        headers: [(name: kind.name, value: value)], body: nil)
                case .ownProcessor:
                    $0.requestProcessors = [
                        { request, _, _ in request.headers[name] = value }
                    ]
                default: break
                }
            }.makeDescription())
    }

    @Test(arguments: Way.allCases, Mode.allCases)
    func storedResponsesBelongToTheirUser(way: Way, mode: Mode) async throws {
        for kind in Kind.all {
            let fixture = fixture(kind, way)
            for name in ["a", "b", "a", "b"] {
                signIn(name)
                let response = try await start(fixture, kind, way, mode).response()
                #expect(
                    String(decoding: response.data, as: UTF8.self) == kind.value(of: name),
                    "\(kind.testDescription) \(response.source)")
            }
            for entry in try await fixture.agent.store?.entries() ?? [] {
                #expect(!entry.key.canonical.contains("hush"), "\(kind.testDescription)")
            }
        }
    }

    /// Credentials that stay the same are no reason not to store; proofs are.
    @Test(arguments: [Way.ownHeaders, .sharedProcessor, .interceptor], Mode.allCases)
    func onlyProofsPreventStoring(way: Way, mode: Mode) async throws {
        for kind in Kind.all {
            let fixture = fixture(kind, way)
            signIn("a")
            _ = try await start(fixture, kind, way, mode).response()
            let second = try await start(fixture, kind, way, mode).response()
            #expect(
                second.source == (kind.isProof ? .network : .cacheFresh), "\(kind.testDescription)")
            if kind.isProof {
                #expect(fixture.events.names.contains("cacheWriteFailed"))
                #expect(try await fixture.agent.store?.entries().isEmpty == true)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func requestsOfTwoUsersDoNotJoin(way: Way) async throws {
        for kind in Kind.all {
            let fixture = fixture(kind, way)
            let gate = Gate()
            let name = HTTPField.Name(kind.name) ?? .authorization
            fixture.transport.respond { request in
                if way == .redirectDecider, request.url.path == "/me" {
                    return ScriptedResponse(
                        status: .found, headers: [.location: "https://api.example.com/target"])
                }
                return ScriptedResponse(body: Data((request.headers[name] ?? "none").utf8))
                    .held(by: gate)
            }
            // The decider is part of the key, and runs after the start of the transfer: those of one
            // configuration and endpoint are one session.
            guard way != .redirectDecider else { continue }
            var tasks: [(String, RequestTask)] = []
            for user in ["a", "b"] {
                signIn(user)
                tasks.append((user, start(fixture, kind, way, nil)))
                _ = try await fixture.transport.nextRequest()
            }
            gate.open()
            for (user, task) in tasks {
                let text = String(decoding: try await task.response().data, as: UTF8.self)
                #expect(text == kind.value(of: user), "\(kind.testDescription)")
            }
        }
    }

    /// Query arguments and form fields that a processor adds after the key was made.
    @Test(arguments: Mode.allCases, ["api_key", "access_token", "PHPSESSID", "pwd"])
    func argumentsOfAProcessor(mode: Mode, name: String) async throws {
        for isForm in [false, true] where !isForm || mode != .http {
            let fixture = AgentFixture {
                $0.requestProcessors = [
                    { [user] request, _, _ in
                        let pair = "\(name)=hush-\(user.name)"
                        if isForm {
                            request.body = .data(
                                Data("id=7&\(pair)".utf8),
                                contentType: "application/x-www-form-urlencoded")
                        } else {
                            request.url.query = pair
                        }
                    }
                ]
            }
            fixture.transport.respond { request in
                var text = request.url.query ?? ""
                if case .data(let data)? = request.body?.storage {
                    text += String(decoding: data, as: UTF8.self)
                }
                return ScriptedResponse(
                    headers: [.cacheControl: "max-age=600"], body: Data(text.utf8))
            }
            for name in ["a", "b", "a"] {
                signIn(name)
                let response = try await fixture.agent.start(
                    InlineRequest("me") {
                        $0.acceptance.format = .any
                        $0.acceptance.contentTypes = ["*/*"]
                        $0.method = isForm ? .post : .get
                        if mode == .http { $0.cache.policy = .http } else { $0.cacheSeconds = 600 }
                        if mode == .timeWithArguments { $0.cache.arguments = ["id": 7] }
                        $0.cache.writesAsynchronously = false
                    }.makeDescription()
                ).response()
                let text = String(decoding: response.data, as: UTF8.self)
                #expect(text.hasSuffix("hush-\(name)"), "\(text)")
            }
        }
    }

    /// A name that only the author knows.
    @Test(arguments: Mode.allCases)
    func namesOfTheConfiguration(mode: Mode) async throws {
        let kind = Kind(name: "X-Tenant", prefix: "")
        let fixture = fixture(kind, .sharedProcessor)
        fixture.agent.configuration.secretNames.added = ["x-tenant"]
        for name in ["a", "b"] {
            signIn(name)
            let response = try await start(fixture, kind, .sharedProcessor, mode).response()
            #expect(String(decoding: response.data, as: UTF8.self) == kind.value(of: name))
        }
        #expect(
            try await start(fixture, kind, .sharedProcessor, mode).response().source == .cacheFresh)
    }
}
