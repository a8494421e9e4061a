import Testing

@testable import ErrandOpenAPI

extension Trait where Self == TimeLimitTrait {
    /// A limit for tests that should end at once.
    static var limited: Self { .timeLimit(.minutes(1)) }
}

struct MissingFile: Error, CustomStringConvertible {
    let description = "there is no such file"
}

/// Files by name, in place of a file system.
func load(_ files: [String: String]) -> (String) throws -> String {
    { name in
        guard let text = files[name] else { throw MissingFile() }
        return text
    }
}

/// Generates from a document, with the parts that every document needs added.
func generate(
    _ document: String, _ change: (inout Generator.Options) -> Void = { _ in },
    files: [String: String] = [:]
) -> Generator.Output {
    var options = Generator.Options()
    options.files = .one
    change(&options)
    let head =
        "openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\nservers: [{url: 'https://shop.example'}]\n"
    let all = files.merging(["openapi.yaml": head + document]) { own, _ in own }
    return Generator(options: options, load: load(all)).generate("openapi.yaml")
}

extension Generator.Output {
    /// The text of a file, without the lines that every file begins with.
    func text(_ name: String) -> String {
        let text = files.first { $0.name == name }?.text ?? ""
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop {
            $0.isEmpty || $0.hasPrefix("//") && !$0.hasPrefix("///") || $0.hasPrefix("import ")
                || $0.hasPrefix("public import ")
        }
        .joined(separator: "\n")
    }

    var models: String { text("Models.swift") }
    var classes: String { text("Endpoints.swift") }
    /// The problems without notes.
    var faults: [String] { problems.filter { $0.kind != .note }.map(\.description) }
}
