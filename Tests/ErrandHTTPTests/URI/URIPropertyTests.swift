import TestSupport
import Testing

@testable import ErrandHTTP

/// Parsing random text.
///
/// Each failure names its seed.
@Suite(.limited)
struct URIPropertyTests {
    @Test(arguments: 0..<200)
    func uriParsingNeverTrapsAndIsStable(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let prefix = ["", "http://", "http://h/", "//", "a:", "http://[", "http://u@", "http://h:"]
        let text = (prefix.randomElement(using: &generator) ?? "") + generator.text(upTo: 20)
        guard let uri = try? HTTPURL(parsing: text) else { return }
        #expect(try HTTPURL(parsing: uri.string) == uri, "seed \(seed)")
        #expect(uri.string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "seed \(seed)")
        _ = uri.resolved(against: try HTTPURL(parsing: "http://a/b/c"))
    }
}
