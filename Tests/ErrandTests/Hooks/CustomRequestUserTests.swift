import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Users of one agent whose requests override `customURLRequest()` have separate stored responses.
@Suite(.limited) struct CustomRequestUserTests {
    enum Mode: CaseIterable { case time, http }

    private final class GetProfile: BaseRequest {
        private let mode: Mode
        private let fields: [String: String]

        init(_ mode: Mode, _ fields: [String: String]) {
            self.mode = mode
            self.fields = fields
        }

        override var cacheSeconds: Int { mode == .time ? 600 : super.cacheSeconds }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            guard let url = URL(string: "https://api.example.com/me") else { return }
            var custom = URLRequest(url: url)
            for (name, value) in fields { custom.setValue(value, forHTTPHeaderField: name) }
            request.use(custom)
            request.cache.policy = mode == .http ? .http : nil
            request.cache.writesAsynchronously = false
        }
    }

    /// Sends the requests of the users a, b, a and b.
    private func expectSeparateEntries(
        _ mode: Mode, _ configure: (inout Configuration) -> Void = { _ in },
        signIn: (String, RequestAgent) throws -> Void = { _, _ in },
        fields: (String) -> [String: String] = { _ in [:] },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let fixture = AgentFixture(configure)
        let count = Mutex(0)
        fixture.transport.respond { _ in
            ScriptedResponse(
                headers: [.contentType: "application/json", .cacheControl: "max-age=600"],
                body: Data("\(count.withLock { $0 += 1; return $0 })".utf8))
        }
        var received: [String] = []
        for user in ["a", "b", "a", "b"] {
            try signIn(user, fixture.agent)
            let response = try await fixture.with(GetProfile(mode, fields(user))).send()
            received.append("\(response.source) \(String(decoding: response.data, as: UTF8.self))")
        }
        #expect(
            received == ["network 1", "network 2", "cacheFresh 1", "cacheFresh 2"],
            sourceLocation: sourceLocation)
    }

    @Test(arguments: Mode.allCases)
    func usersOfAnAuthenticator(mode: Mode) async throws {
        try await expectSeparateEntries(
            mode,
            signIn: { user, agent in
                agent.reconfigure {
                    $0.authenticators = [
                        "*.example.com": .basic(user: user, password: "hush")
                    ]
                }
            })
    }

    @Test(arguments: Mode.allCases, ["Authorization", "Cookie", "X-Api-Key"])
    func usersWithHeaders(mode: Mode, name: String) async throws {
        try await expectSeparateEntries(mode, fields: { [name: "hush-\($0)"] })
    }

    @Test(arguments: Mode.allCases)
    func usersWithCookiesOfTheJar(mode: Mode) async throws {
        let url = try HTTPURL(parsing: "https://api.example.com/")
        try await expectSeparateEntries(
            mode,
            signIn: { user, agent in
                agent.cookieJar.receive([.setCookie: "session=hush-\(user); Path=/"], from: url)
            })
    }
}
