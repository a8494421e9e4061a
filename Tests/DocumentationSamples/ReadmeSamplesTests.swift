import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

extension SharedAgentTests {
    /// Runs the README's samples against a loopback server.
    ///
    /// `Scripts/doc-samples` generates their code.
    @Suite(.serialized, .limited)
    struct ReadmeSamplesTests {
        let server = LoopbackServer()
        /// The shared agent's store must not use the user's cache folder; used unless
        /// `Scripts/run-tests` has chosen one.
        private static let cache = Result { try TemporaryFolder("cache") }

        private let temporary: TemporaryFolder
        var folder: URL { temporary.url }

        init() throws {
            temporary = try TemporaryFolder("readme")
            if getenv("XDG_CACHE_HOME") == nil {
                setenv("XDG_CACHE_HOME", try Self.cache.get().url.path, 0)
            }
            server.route("/iphone/register") { request in
                let isRight =
                    request.method == "POST"
                    && request.body == Data("username=amelia&password=earhart".utf8)
                return Self.json(isRight ? #"{"userId": 1897, "nick": "amelia"}"# : "{}")
            }
            server.route("/iphone/users") { request in
                Self.json(#"{"nick": "\#(request.query ?? "")", "title": "pilot"}"#)
            }
            server.route(
                "/ping", responses: LoopbackResponse(headers: ["Content-Type": "text/plain"]))
            server.route("/users") { request in
                Self.json(
                    request.query == "page=2" ? "[]" : #"[{"nick": "lindy", "title": "pilot"}]"#)
            }
            server.route("/log", responses: LoopbackResponse(body: "one\ntwo\n"))
        }

        @MainActor
        @Test func theFirstScreenIsShortAndPrintsWhatItSays() async throws {
            let screen = try FirstScreen()
            #expect(screen.swiftLines < 25)
            server.route("/\(screen.path)") { _ in Self.json(screen.json) }
            let model = ReadmeModel(folder: folder)
            let earlier = RequestAgent.shared.configuration
            defer { RequestAgent.shared.configuration = earlier }
            try await withServer { base in
                let port = server.port
                // The sample's server has a fixed port, which another process may use.
                RequestAgent.shared.configuration.interceptors.append { request, next in
                    #expect(request.url.origin == "http://127.0.0.1:8000")
                    var request = request
                    request.url.port = port
                    return try await next(request)
                }
                try await model.hello()
            }
            #expect(model.lines == [screen.output])
        }

        @MainActor
        @Test func furtherSamplesRun() async throws {
            try await withServer { base in
                RequestAgent.shared.configuration.baseURL = base
                let model = ReadmeModel(folder: folder)
                try await model.awaiting()
                #expect(model.lines == ["200", "id=1897", "200"])
                #expect(server.requests.map(\.method) == ["POST", "GET", "HEAD"])
                model.lines = []
                try await model.sequences()
                #expect(model.lines == ["lindy", "one", "two", "id=7", "id=8", "2"])
                // The article about caching has a GetUser of its own, with the same cache key.
                try await model.cached()
                #expect(model.lines == ["network"])
                server.route("/iphone/register") { _ in Self.json(#"{"userId": "?"}"#) }
                try await model.errors()
                #expect(model.title == "$['userId']")
            }
            // The shared agent lives as long as the process; its memory must not keep the entries.
            try await RequestAgent.shared.store?.removeAll(where: nil)
        }

        @MainActor
        @Test func agentsOfTheSampleDiffer() async throws {
            let model = ReadmeModel()
            try await model.differentAgents()
            #expect(model.agents.map { $0.store == nil } == [false, true])
            for agent in model.agents { await agent.shutdown() }
        }

        // MARK: - Server

        private static func json(_ text: String) -> LoopbackResponse {
            LoopbackResponse(headers: ["Content-Type": "application/json"], body: text)
        }

        private func withServer(
            _ body: (EndpointURL) async throws -> Void,
            isolation: isolated (any Actor)? = #isolation
        ) async throws {
            try await server.start()
            do {
                try await body(server.baseURL)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }
    }
}

/// The parts of the README before the section Why.
private struct FirstScreen {
    /// The lines of the fences of Swift code, without empty ones.
    var swiftLines: Int
    /// The path and the content of the file that the shell commands create for the server.
    var path: String
    var json: String
    /// The line that the program prints.
    var output: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(
            contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let screen = readme.components(separatedBy: "\n## Why")[0]
        func fences(_ language: String) -> [String] {
            screen.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
                $0.components(separatedBy: "\n```").first
            }
        }
        let code = fences("swift").flatMap { $0.components(separatedBy: "\n") }
        swiftLines = code.filter { !$0.isEmpty }.count
        let commands = fences("sh").joined(separator: "\n")
        let command = try #require(commands.firstMatch(of: /echo '(.*)' > site\/(\S+)/))
        json = String(command.1)
        path = String(command.2)
        output = try #require(fences("text").first)
    }
}
