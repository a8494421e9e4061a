import Foundation
import Testing

@testable import ErrandOpenAPI

/// A document of `Tests/Features`, one for each feature, and the sources that are generated from it.
///
/// The sources are in the repository, so that a change of the generator is read as a change of its output.
/// `Scripts/openapi --update` writes them again.
struct Feature: CustomTestStringConvertible {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Features")

    static let all: [Feature] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map(Feature.init)
    }()

    let name: String

    var testDescription: String { name }

    private var folder: URL { Self.folder.appendingPathComponent(name) }
    private var client: URL { folder.appendingPathComponent("Client") }

    private func text(_ file: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    }

    /// What is generated, by the name of the file; problems are a file of their own.
    func output() throws -> [String: String] {
        var options = Generator.Options()
        options.files = .one
        // The first line of a document may have options of the program.
        let line = try text("openapi.yaml").split(separator: "\n").first ?? ""
        let words = line.hasPrefix("# --") ? line.split(separator: " ").dropFirst() : []
        options.validates = words.contains("--validators")
        if words.contains("public") { options.access = .public }
        let output = Generator(options: options) { file in
            guard let text = try? text(file) else { throw MissingFile() }
            return text
        }.generate("openapi.yaml")
        var files = Dictionary(uniqueKeysWithValues: output.files.map { ($0.name, $0.text) })
        if !output.problems.isEmpty {
            files["problems.txt"] = output.problems.map { "\($0)\n" }.joined()
        }
        return files
    }

    /// The files of the repository.
    func expected() throws -> [String: String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: client.path)) ?? []
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try text("Client/\($0)")) })
    }

    func update() throws {
        try? FileManager.default.removeItem(at: client)
        try FileManager.default.createDirectory(at: client, withIntermediateDirectories: true)
        for (file, text) in try output() {
            try text.write(
                to: client.appendingPathComponent(file), atomically: true, encoding: .utf8)
        }
    }
}

@Suite(.limited) struct FeatureTests {
    @Test(arguments: Feature.all) func sourcesAreThoseOfTheRepository(feature: Feature) throws {
        if ProcessInfo.processInfo.environment["ERRAND_OPENAPI_UPDATE"] != nil {
            try feature.update()
        }
        let (output, expected) = (try feature.output(), try feature.expected())
        #expect(output.keys.sorted() == expected.keys.sorted())
        for (file, text) in output {
            #expect(text == expected[file], "\(feature.name)/\(file): run Scripts/openapi --update")
        }
    }

    @Test func everyFeatureIsThere() {
        let names = [
            "accepted", "additional", "bodies", "composition", "content", "defaults", "deprecated",
            "descriptions", "directions", "enumerations", "faults", "files", "forge", "formats",
            "forms", "headers", "names",
            "nulls", "outputs", "pages", "parameters", "recursion", "references",
            "refusals", "security",
            "servers", "streams", "styles", "unions", "validators",
        ]
        #expect(Feature.all.map(\.name) == names)
    }
}
