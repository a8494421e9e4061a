import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Invalid input fails with a typed error before anything is sent.
@Suite(.limited) struct InvalidInputTests {
    @Test(arguments: [
        "http://", "http:///path", "ftp://example.com/", "file:///etc/passwd", "http://[::1",
        "http://example.com:99999/", "https://exa\rmple.com/", "https://example.com/a\nb",
        "https://example.com/\u{0}", "http://exa mple.com/", "//example.com/",
    ])
    func invalidURLFails(url: String) async throws {
        try await expect(.invalidURL) { $0.url = EndpointURL(raw: url) }
    }

    @Test func relativeURLWithoutBaseURLFails() async throws {
        let fixture = AgentFixture { $0.baseURL = nil }
        for url in ["users", "/users", ""] {
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(InlineRequest(EndpointURL(raw: url))).send()
            }
            #expect(error?.code == .noBaseURL || (url.isEmpty && error?.code == .invalidURL))
            #expect(error?.stage == .build)
            #expect(error?.message.contains("baseURL") == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test(arguments: ["", "GET ", "G ET", "GET\r\nX: y", "GET\u{0}", "GÉT", "GET/"])
    func invalidMethodFails(method: String) async throws {
        try await expect(.invalidMethod) { $0.method = HTTPMethod(method) }
    }

    @Test(arguments: ["X A", "", "X-A\r\nX-B", "X-A:", "Ü"])
    func invalidHeaderFails(name: String) async throws {
        try await expect(.invalidHeader) { $0.headers[.custom(name)] = "b" }
    }

    @Test func invalidHeaderMessageOmitsTheValue() async throws {
        let fixture = AgentFixture()
        let request = fixture.with(InlineRequest("x") { $0.headers[.custom("X Token")] = "secret" })
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.description.contains(#""X Token""#) == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func malformedPatternInValidatorFails() async throws {
        try await expect(.invalidValidator) { $0.validator = ["code": .pattern("(unclosed")] }
    }

    @Test func missingBodyFileFails() async throws {
        try await expect(.invalidBody) {
            $0.method = .post
            $0.body = .file(URL(fileURLWithPath: "/nonexistent/file"))
        }
    }

    @Test func bodyOnHEADFails() async throws {
        try await expect(.invalidCombination) {
            $0.method = .head
            $0.body = .string("x")
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func nonPositiveTimeoutFails(limit: Duration) async throws {
        try await expect(.invalidConfiguration) { $0.timeouts = Timeouts(idle: limit) }
    }

    @Test func argumentsNotRepresentableInJSONFail() async throws {
        try await expect(.invalidArguments) {
            $0.method = .post
            $0.requestSerializer = .json
            $0.arguments = ["x": Double.nan]
        }
    }

    @Test func corruptDatabaseFileIsReplacedAndKeptAside() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString).sqlite")
        try Data("this is not a database, it is a longer text".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json("{}"))
        let store = SQLiteResponseStore(url: file)
        let agent = RequestAgent(
            configuration: fixture.agent.configuration, transport: fixture.transport, store: store)
        let request = InlineRequest("x") { $0.cacheSeconds = 86_400 }
        #expect(try await request.send(on: agent).status == 200)
        await agent.flushCache()
        #expect(try await request.send(on: agent).source == .cacheFresh)
        #expect(!store.problems.isEmpty)
        let renamedFile = URL(fileURLWithPath: file.path + ".broken-1")
        #expect(try Data(contentsOf: renamedFile).starts(with: Data("this is not a database".utf8)))
        try? FileManager.default.removeItem(at: renamedFile)
    }

    private func expect(
        _ code: RequestError.Code, _ configure: (inout RequestDescription) -> Void
    ) async throws {
        let fixture = AgentFixture()
        let request = fixture.with(InlineRequest("x", configure))
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == code)
        #expect(error?.stage == .build)
        #expect(fixture.transport.requests.isEmpty)
        #expect(error?.message.count ?? 0 > 20, "the message says how to correct the input")
    }
}
