import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Builds a request as `URLRequest` or `curl` command without sending it.
@Suite(.limited) struct RequestPreviewTests {
    @Test func requestIsBuiltAsURLRequestAndCurlCommand() async throws {
        let fixture = AgentFixture {
            $0.sharedArguments = ["v": 5]
            $0.prepare = { $0.url = "v1/\($0.url)" }
        }
        try fixture.agent.cookieJar.set(Cookie(name: "sid", value: "1", domain: "api.example.com"))
        let request = try await fixture.agent.urlRequest(for: PostRequest().makeDescription())
        #expect(request.url?.absoluteString == "https://api.example.com/v1/post")
        #expect(request.httpMethod == "POST")
        #expect(request.httpBody == Data("v=5&a=1".utf8))
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer secret")
        #expect(request.value(forHTTPHeaderField: "Cookie") == "sid=1")
        let command = try await fixture.agent.curlCommand(for: PostRequest())
        #expect(command.hasPrefix("curl --request POST --url https://api.example.com/v1/post"))
        #expect(!command.contains("secret") && !command.contains("sid=1"))
        let open = try await fixture.agent.curlCommand(for: PostRequest(), redactsSecrets: false)
        #expect(open.contains("'Authorization: Bearer secret'"))
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func invalidRequestFailsToBuild() async {
        let error = await #expect(throws: RequestError.self) {
            try await AgentFixture().agent.urlRequest(for: Plain("http://[x]/").makeDescription())
        }
        #expect(error?.code == .invalidURL)
    }

    @Test func unreadableBodyFileFailsLikeASentRequest() async throws {
        let fixture = AgentFixture()
        let request = InlineRequest("x") {
            $0.method = .post
            $0.body = .file(URL(fileURLWithPath: "/nowhere/at/all"))
        }
        let preview = await #expect(throws: RequestError.self) {
            try await fixture.agent.transportRequest(for: request.makeDescription())
        }
        let sent = await #expect(throws: RequestError.self) {
            try await fixture.with(request).send()
        }
        #expect(preview?.code == sent?.code && fixture.transport.requests.isEmpty)
        // Building a request for inspection starts no task.
        #expect(fixture.events.names.filter { $0 == "started" }.count == 1)
    }
}
