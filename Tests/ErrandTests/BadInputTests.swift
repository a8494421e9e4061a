import Errand
import ErrandTesting
import Foundation
import Testing

/// What an author or a user may get wrong: one typed error, before anything is sent.
@Suite(.timeLimit(.minutes(5))) struct BadInputTests {
    @Test(arguments: [
        "http://", "http:///path", "ftp://example.com/", "file:///etc/passwd", "http://[::1",
        "http://example.com:99999/", "https://exa\rmple.com/", "https://example.com/a\nb",
        "https://example.com/\u{0}", "javascript:alert(1)", "http://exa mple.com/",
    ])
    func urls(url: String) async throws {
        try await expect(.invalidURL) { $0.url = url }
    }

    @Test func noBaseURL() async throws {
        let world = World { $0.baseURL = nil }
        for url in ["users", "/users", ""] {
            let error = await #expect(throws: RequestError.self) {
                try await world.with(InlineRequest(url)).send()
            }
            #expect(error?.code == .noBaseURL || (url.isEmpty && error?.code == .invalidURL))
            #expect(error?.stage == .build)
            #expect(error?.message.contains("baseURL") == true)
        }
        #expect(world.transport.requests.isEmpty)
    }

    @Test(arguments: ["", "GET ", "G ET", "GET\r\nX: y", "GET\u{0}", "GÉT", "GET/"])
    func methods(method: String) async throws {
        try await expect(.invalidMethod) { $0.method = HTTPMethod(method) }
    }

    @Test(arguments: [
        ["X-A": "b\r\nX-Injected: c"], ["X-A": "b\nc"], ["X-A": "b\u{0}"], ["X A": "b"], ["": "b"],
        ["X-A\r\nX-B": "c"], ["X-A:": "b"],
    ])
    func headers(headers: [String: String]) async throws {
        try await expect(.invalidHeader) { $0.headerFieldValues = headers }
    }

    @Test func theMessageNamesTheHeaderAndNotItsValue() async throws {
        let world = World()
        let request = world.with(
            InlineRequest("x") { $0.headerFieldValues = ["X-Token": "secret\r\n"] })
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.description.contains("X-Token") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func aValidatorThatCannotMatch() async throws {
        try await expect(.invalidValidator) { $0.validator = ["code": .pattern("(unclosed")] }
    }

    @Test func aMissingFile() async throws {
        try await expect(.invalidBody) {
            $0.method = .post
            $0.body = .file(URL(fileURLWithPath: "/nonexistent/file"))
        }
    }

    @Test func aBodyOnHEAD() async throws {
        try await expect(.invalidCombination) {
            $0.method = .head
            $0.body = .string("x")
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func timeoutsThatMakeNoSense(limit: Duration) async throws {
        try await expect(.invalidConfiguration) { $0.timeouts = Timeouts(idle: limit) }
    }

    @Test func argumentsThatJSONCannotHold() async throws {
        try await expect(.invalidArguments) {
            $0.method = .post
            $0.requestSerializer = .json
            $0.arguments = ["x": Double.nan]
        }
    }

    @Test func aDatabaseThatIsNone() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString).sqlite")
        try Data("this is no database, and that at some length".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let world = World()
        world.transport.on(.get, "/x", .json("{}"))
        let store = SQLiteResponseStore(url: file)
        let agent = RequestAgent(
            configuration: world.agent.configuration, transport: world.transport, store: store)
        let request = InlineRequest("x") { $0.cacheSeconds = 60 }
        request.agent = agent
        #expect(try await request.send().status == 200)
        await agent.flushCache()
        #expect(try await request.send().source == .cacheFresh)
        #expect(!store.problems.isEmpty)
        let aside = URL(fileURLWithPath: file.path + ".broken-1")
        #expect(try Data(contentsOf: aside).starts(with: Data("this is no database".utf8)))
        try? FileManager.default.removeItem(at: aside)
    }

    private func expect(
        _ code: RequestError.Code, _ configure: (inout RequestDescription) -> Void
    ) async throws {
        let world = World()
        let request = world.with(InlineRequest("x", configure))
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == code)
        #expect(error?.stage == .build)
        #expect(world.transport.requests.isEmpty)
        #expect(error?.message.count ?? 0 > 20, "the message says what to do")
    }
}
