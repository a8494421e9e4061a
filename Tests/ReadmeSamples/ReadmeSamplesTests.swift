import Errand
import ErrandTesting
import Foundation
import Testing

/// The README's samples: what is printed there is what is compiled here, and it runs.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReadmeSamplesTests {
    let server = LoopbackServer()
    let folder: URL

    init() throws {
        // The shared agent's store belongs into no user's cache folder.
        let work = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-readme-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        setenv("XDG_CACHE_HOME", work.path, 0)
        folder = work
        server.route("/iphone/register") { request in
            let isRight =
                request.method == "POST"
                && request.body == Data("username=amelia&password=earhart".utf8)
            return Self.json(isRight ? #"{"userId": 1897, "nick": "amelia"}"# : "{}")
        }
        server.route("/iphone/users") { request in
            Self.json(#"{"nick": "\#(request.query ?? "")", "title": "pilot"}"#)
        }
        server.route("/ping", answers: LoopbackAnswer(headers: ["Content-Type": "text/plain"]))
        server.route("/photos/sunset.jpg", answers: LoopbackAnswer(body: "a photo"))
    }

    @Test func everySwiftSampleIsCompiled() throws {
        let samples = try Self.samplesOfReadme()
        let compiled = try Self.compiledTexts()
        #expect(samples.count >= 7)
        for sample in samples {
            let isThere = compiled.contains { $0.firstRange(of: sample) != nil }
            #expect(
                isThere, "not compiled by Tests/ReadmeSamples:\n\(sample.joined(separator: "\n"))")
        }
    }

    @Test func theFirstSampleIsTheWholeFirstFile() throws {
        let first = try #require(try Self.samplesOfReadme().first)
        let text = try Self.text("Tests/ReadmeSamples/FirstExample.swift")
        #expect(first.joined(separator: "\n") + "\n" == text)
        // Thirty lines, not counting blank ones.
        #expect(first.filter { !$0.isEmpty }.count <= 30)
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
            let profile = Profile()
            try await profile.awaiting()
            #expect(profile.lines == ["200", "id=7", "200"])
            try await profile.cached()
            #expect(profile.lines == ["network"])
            try await profile.composites(at: folder)
            #expect(profile.lines == ["id=7", "sunset.jpg", "2"])
            server.route("/iphone/register") { _ in Self.json(#"{"userId": "?"}"#) }
            try await profile.errors()
            #expect(profile.title == "$['userId']")
        }
        // Nothing stays in the memory of an agent that lives as long as the process.
        try await RequestAgent.shared.store?.removeAll(where: nil)
    }

    @Test func agentsOfTheSampleDiffer() async {
        let agents = agents()
        #expect(agents.map { $0.store == nil } == [false, true])
        for agent in agents { await agent.shutdown() }
    }

    // MARK: - Texts

    private static func samplesOfReadme() throws -> [[String]] {
        var samples: [[String]] = []
        var current: [String]?
        for line in try text("README.md").components(separatedBy: "\n") {
            if line == "```swift" {
                current = []
            } else if line == "```", let sample = current {
                samples.append(sample)
                current = nil
            } else {
                current?.append(line)
            }
        }
        return samples
    }

    /// Every run of lines of the compiled files, at every depth of indentation that is a multiple of four.
    private static func compiledTexts() throws -> [[String]] {
        let names = ["FirstExample", "FurtherExamples"]
        return try names.flatMap { name in
            let lines = try text("Tests/ReadmeSamples/\(name).swift").components(separatedBy: "\n")
            return [0, 4, 8, 12].map { depth in
                lines.map { line in
                    let indentation = line.prefix { $0 == " " }.count
                    return String(line.dropFirst(min(depth, indentation)))
                }
            }
        }
    }

    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func json(_ text: String) -> LoopbackAnswer {
        LoopbackAnswer(headers: ["Content-Type": "application/json"], body: text)
    }

    private func withServer(
        _ body: (String) async throws -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await server.start()
        do {
            try await body(server.url(""))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}
