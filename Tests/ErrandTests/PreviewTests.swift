import Errand
import ErrandTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Seeing a request without sending it (row URL-10).
@Suite(.timeLimit(.minutes(5))) struct PreviewTests {
    @Test func theRequestAsFoundationsAndAsACommand() async throws {
        let world = World {
            $0.sharedArguments = ["v": 5]
            $0.urlFilters = [ClosureURLFilter { url, _ in "v1/" + url }]
        }
        try world.agent.cookieJar.set(Cookie(name: "sid", value: "1", domain: "api.example.com"))
        let request = try await world.agent.urlRequest(for: Posting())
        #expect(request.url?.absoluteString == "https://api.example.com/v1/post")
        #expect(request.httpMethod == "POST")
        #expect(request.httpBody == Data("v=5&a=1".utf8))
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer secret")
        #expect(request.value(forHTTPHeaderField: "Cookie") == "sid=1")
        let command = try await world.agent.curlCommand(for: Posting())
        #expect(command.hasPrefix("curl --request POST --url https://api.example.com/v1/post"))
        #expect(!command.contains("secret") && !command.contains("sid=1"))
        let open = try await world.agent.curlCommand(for: Posting(), redactsSecrets: false)
        #expect(open.contains("'Authorization: Bearer secret'"))
        #expect(world.transport.requests.isEmpty)
    }

    @Test func whatCannotBeBuiltIsSaid() async {
        let error = await #expect(throws: RequestError.self) {
            try await World().agent.urlRequest(for: Plain("http://[x]/"))
        }
        #expect(error?.code == .invalidURL)
    }

    @Test func aFileThatCannotBeReadFailsAsItWouldWhenSent() async throws {
        let world = World()
        let request = InlineRequest("x") {
            $0.method = .post
            $0.body = .file(URL(fileURLWithPath: "/nowhere/at/all"))
        }
        let shown = await #expect(throws: RequestError.self) {
            try await world.agent.transportRequest(for: request.describe())
        }
        let sent = await #expect(throws: RequestError.self) { try await world.with(request).send() }
        #expect(shown?.code == sent?.code && world.transport.requests.isEmpty)
        // Nothing is started by looking.
        #expect(world.events.names.filter { $0 == "started" }.count == 1)
    }

    @Test func filtersMayLeaveAbsoluteURLsAlone() async throws {
        let world = World {
            $0.urlFilters = [QueryFilter(["k": "v w", "own": 1])]
            $0.filtersAbsoluteURLs = false
        }
        let urls = ["a?own=2#f", "http://other/x"]
        var made: [String] = []
        for url in urls {
            made.append(
                try await world.agent.transportRequest(for: Plain(url).describe()).url.string)
        }
        #expect(made == ["https://api.example.com/a?own=2&k=v%20w", "http://other/x"])
    }
}
