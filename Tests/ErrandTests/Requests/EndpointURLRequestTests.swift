import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A value in the URL of an endpoint reaches the server as one segment, or nothing is sent.
@Suite(.limited) struct EndpointURLRequestTests {
    private final class GetUser: BaseRequest {
        let name: String
        init(_ name: String) { self.name = name }
        override var url: EndpointURL { "users/\(name)" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    private class Repository: BaseRequest {
        let owner: String
        init(_ owner: String) { self.owner = owner }
        override var url: EndpointURL { "/repos/\(owner)" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    private final class Issues: Repository {
        override var url: EndpointURL { "\(super.url)/issues?state=\("open&all")" }
    }

    @Test(arguments: TransportKind.allCases)
    func valueReachesTheServerAsOneSegment(kind: TransportKind) async throws {
        let server = LoopbackServer()
        try await server.start()
        server.route("/v1/users/..%2Fadmin", responses: LoopbackResponse(body: "ok"))
        server.route("/v1/users/a%2Fb%3Fc%23d%20%C3%A9", responses: LoopbackResponse(body: "ok"))
        server.route("/v1/repos/a%2Fb/issues", responses: LoopbackResponse(body: "ok"))
        let agent = RequestAgent(
            configuration: Configuration(baseURL: "\(server.baseURL)/v1"),
            transport: kind.makeTransport())
        for (name, target) in [
            ("../admin", "/v1/users/..%2Fadmin"),
            ("a/b?c#d é", "/v1/users/a%2Fb%3Fc%23d%20%C3%A9"),
        ] {
            let response = try await GetUser(name).send(on: agent)
            #expect(response.url.path == target)
            #expect(server.requests.last?.target == target)
        }
        try await Issues("a/b").send(on: agent)
        #expect(server.requests.last?.target == "/v1/repos/a%2Fb/issues?state=open%26all")
        await agent.shutdown()
        await server.stop()
    }

    @Test(arguments: ["..", ".", ""])
    func valueThatIsAnotherEndpointSendsNothing(name: String) async throws {
        let fixture = AgentFixture()
        let error = await #expect(throws: RequestError.self) {
            try await GetUser(name).send(on: fixture.agent)
        }
        #expect(error?.code == .invalidURL && error?.stage == .build)
        #expect(error?.message.hasPrefix("GetUser's url has ") == true)
        #expect(error?.endpoint == "GetUser" && error?.url == nil)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func everyPlaceOfABaseURLTakesValues() async throws {
        let (host, version) = ("h.example", "a/b")
        let fixture = AgentFixture {
            $0.environments = ["test": .init(baseURL: "https://\(host)/\(version)")]
            $0.environment = "test"
        }
        fixture.transport.on(.get, "/a%2Fb/x", ScriptedResponse(status: .ok))
        try await fixture.with(InlineRequest("x") { $0.acceptance.format = .any }).send()
        #expect(fixture.transport.requests.last?.url.string == "https://h.example/a%2Fb/x")
    }
}
