import Foundation
import Testing

@testable import ErrandOpenAPI

/// Examples/Petstore, whose sources are compiled and run there.
@Suite(.limited) struct PetstoreTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Examples/Petstore")

    private func generate(_ change: (inout Generator.Options) -> Void = { _ in }) throws
        -> Generator.Output
    {
        let file = Self.folder.appendingPathComponent("openapi.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        var options = Generator.Options()
        options.files = .one
        change(&options)
        return Generator(options: options, load: load(["openapi.yaml": text])).generate(
            "openapi.yaml")
    }

    @Test func sourcesAreThoseOfTheRepository() throws {
        let output = try generate()
        #expect(output.problems.filter { $0.kind != .note }.isEmpty)
        #expect(output.endpoints == output.operations)
        for (name, text) in output.files {
            let file = Self.folder.appendingPathComponent("Client/\(name)")
            let found = try String(contentsOf: file, encoding: .utf8)
            #expect(found == text, "\(name) differs; run errand-openapi as README.md says")
        }
    }

    @Test func outputIsTheSameEachTime() throws {
        let first = try generate { $0.validates = true }
        let second = try generate { $0.validates = true }
        #expect(first.files.map(\.text) == second.files.map(\.text))
    }

    @Test func filesAreDividedByTagAndModel() throws {
        let names = try generate { $0.files = .tag }.files.map(\.name)
        #expect(names.contains("Petstore.swift"))
        #expect(names.contains("Endpoints/Pets.swift"))
        #expect(names.contains("Endpoints/GetMotto.swift"))
        #expect(names.contains("Models/Pedigree.swift"))
        let single = try generate { $0.files = .operation }.files.map(\.name)
        #expect(single.contains("Endpoints/ListPets.swift"))
    }
}
