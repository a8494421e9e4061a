import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

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
        server.route("/ping", responses: LoopbackResponse(headers: ["Content-Type": "text/plain"]))
        server.route("/photos/sunset.jpg", responses: LoopbackResponse(body: "a photo"))
    }

    @Test func theFirstSampleIsShort() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Generated/Readme-1.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let code = lines.drop { $0.hasPrefix("//") }.filter { !$0.isEmpty }
        #expect(code.first == "import Errand")
        #expect(code.count <= 30)
    }

    @Test func theFirstSampleRuns() async throws {
        try await withServer { base in
            let user = try await signUp(at: base)
            #expect(user.nick == "id=1897")
            #expect(server.requests.map(\.method) == ["POST", "GET"])
        }
    }

    @MainActor
    @Test func furtherSamplesRun() async throws {
        try await withServer { base in
            RequestAgent.shared.configuration.baseURL = base
            RequestAgent.shared.configuration.cdnURL = base
            let model = ReadmeModel(folder: folder)
            try await model.awaiting()
            #expect(model.lines == ["200", "id=7", "200", "id=8"])
            try await model.cached()
            #expect(model.lines == ["network"])
            try await model.composites()
            #expect(model.lines == ["id=7", "sunset.jpg", "2"])
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
        _ body: (EndpointURL) async throws -> Void, isolation: isolated (any Actor)? = #isolation
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
