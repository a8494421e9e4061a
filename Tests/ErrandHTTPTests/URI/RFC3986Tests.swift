import TestSupport
import Testing

@testable import ErrandHTTP

/// IP literals (RFC 3986 §3.2.2), and parsing of random text.
@Suite struct RFC3986Tests {
    @Test(arguments: [
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1::8", "1::8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("::1.2.3.4", "::102:304"),
        ("AbCd::0123", "abcd::123"),
    ])
    func section322ValidIPLiterals(text: String, canonical: String) throws {
        #expect(try HTTPURL(parsing: "http://[\(text)]/").host == "[\(canonical)]")
    }

    @Test(arguments: [
        "", ":", ":::", "1", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
        ":1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:", "12345::", "g::", "::1.2.3", "::1.2.3.256", "::1.2.3.04", "1.2.3.4::",
        "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.", "v1.x", "::1]", "[::1", "::1%eth0",
    ])
    func section322InvalidIPLiterals(text: String) {
        let error = #expect(throws: RequestError.self) { try HTTPURL(parsing: "http://[\(text)]/") }
        #expect(error?.code == .invalidURL)
    }

    /// Random text either fails to parse, or gives a URI whose text parses to the same URI.
    @Test func parsedURIsParseToThemselves() throws {
        let pieces = [
            "http:", "https://", "//", "/", "\\", "?", "#", "@", ":", "[", "]", "::", "a", "%",
            "%41", "%zz", "..", ".",
            " ", "ü", "\u{200D}", "💩", "xn--", "0x7f", "65536", "|", "<",
        ]
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...7, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
            guard let uri = try? HTTPURL(parsing: text) else { continue }
            // Absolute URIs only: the trimmed text of another URI may begin like a scheme.
            guard uri.isAbsoluteHTTP else { continue }
            let reparsed = try HTTPURL(parsing: uri.string)
            #expect(reparsed == uri, "\(text.debugDescription)")
        }
    }
}
