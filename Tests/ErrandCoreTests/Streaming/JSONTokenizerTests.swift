import ErrandJSON
import Testing

@testable import ErrandCore

struct JSONTokenizerTests {
    /// Whether the tokenizer accepts the chunks as a complete text.
    private static func accepts(_ chunks: [[UInt8]]) -> Bool {
        var tokenizer = JSONTokenizer(maximumDepth: 512, skipsByteOrderMark: true)
        // The line feed ends a number at the top level.
        for chunk in chunks + [[0x0A]] {
            let isValid = chunk.asInput { input in
                var position = 0
                while true {
                    do {
                        if try tokenizer.next(in: input, at: &position) == .needsInput {
                            #expect(position == input.count)
                            return true
                        }
                    } catch {
                        #expect(position < input.count)
                        return false
                    }
                }
            }
            if !isValid { return false }
        }
        return tokenizer.isComplete
    }

    private static let texts = [
        "", " ", "0", "-0", "-", "+1", "01", "-01", "00", "1.", "1.0", ".5", "1.e1", "1e", "1e+",
        "1e-0", "1E+05", "1e1.0", "1.5E1e", "--1", "1-", "0x1", "0e0", "0.0", "0 0",
        "true", "tru", "truee", "True", "nul", "null", "nulL", "false", "fals", "falsefalse",
        "\"\"", "\"a", "\"\\\"", "\"\\\\\"", "\"\\a\"", "\"\\u00e9\"", "\"\\u00g0\"", "\"\\u123\"",
        "\"\\/\\b\\f\\n\\r\\t\"", "\"\t\"", "\"\u{0}\"", "\"\u{1F}\"", "\"\u{7F}\u{80}\"", "'a'",
        "\"1234567\u{1F}\"", "\"12345678\\\"901234567\"", "\"é€😀éééééééé\u{1}\"",
        "[]", "[ ]", "[1,]", "[,1]", "[1 2]", "[1,2]", "[1}", "[", "]", "[[]", "[]]", "[[],{}]",
        "{}", "{ }", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}", "{\"a\" : 1 , \"b\":2}",
        "{a:1}", "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "{,}", "{\"a\",1}", "{\"a\"::1}",
        "{\"a\":{\"b\":[{}]}}", "1,", "1:", "[1]x", "[1] \n\t\r", "\u{FEFF}[1]", " \u{FEFF}1",
        "\u{FEFF}\u{FEFF}1", "\u{B}1", "\u{A0}1", "//\n1",
    ]

    @Test(arguments: texts)
    func grammarIsThatOfTheJSONParserInAnySplit(text: String) {
        let bytes = Array(text.utf8)
        let expected = JSONGrammar.accepts(bytes)
        for chunks in Chunks.all(of: bytes) {
            #expect(Self.accepts(chunks) == expected, "\(chunks)")
        }
    }

    @Test(arguments: 0..<8)
    func generatedTextsAreAcceptedLikeByTheJSONParser(seed: UInt64) {
        var generator = JSONGenerator(seed: seed)
        var accepted = 0
        for round in 0..<600 {
            var bytes = Array((generator.space() + generator.value() + generator.space()).utf8)
            if round % 3 > 0 { generator.mutate(&bytes) }
            let expected = JSONGrammar.accepts(bytes)
            accepted += expected ? 1 : 0
            let random = Chunks.random(of: bytes, using: &generator.random)
            for chunks in [[bytes], bytes.map { [$0] }, random] {
                #expect(
                    Self.accepts(chunks) == expected, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
        #expect(accepted > 200 && accepted < 500)
    }

    @Test
    func mixedContainersBeyondOneWordOfTheStackAreMatched() {
        let open = (0..<200).map { $0 % 3 == 0 ? "[" : "{\"a\":" }.joined()
        let close = (0..<200).reversed().map { $0 % 3 == 0 ? "]" : "}" }.joined()
        #expect(Self.accepts([Array((open + "1" + close).utf8)]))
        for depth in [0, 63, 64, 65, 127, 128, 199] {
            var wrong = Array(close.utf8)
            let index = wrong.count - 1 - depth
            wrong[index] = wrong[index] == UInt8(ascii: "]") ? UInt8(ascii: "}") : UInt8(ascii: "]")
            #expect(!Self.accepts([Array((open + "1").utf8), wrong]))
        }
    }
}
