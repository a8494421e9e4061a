import ErrandHTTP
import ErrandJSON
import Testing

@testable import ErrandCore

struct JSONSequenceTests {
    /// The texts of a sequence, with `!` and the message for failures, and the error that ended it.
    struct Sequence: Equatable {
        var texts: [String] = []
        var error: String?
        /// The number of texts before the end of the stream was reported.
        var early = 0

        init(_ chunks: [[UInt8]], maximum: Int = 1000, maximumDepth: Int = 512) {
            var parser = JSONSequenceParser(maximumTextBytes: maximum, maximumDepth: maximumDepth)
            do {
                for chunk in chunks {
                    try chunk.asInput { input throws(RequestError) in
                        while let text = try parser.next(in: &input, Self.text) { add(text) }
                        #expect(input.isEmpty)
                    }
                }
                early = texts.count
                if let text = try parser.end(Self.text) { add(text) }
                #expect(parser.textNumber == texts.count)
            } catch let fault {
                error = "\(fault.code): \(fault.message)"
            }
        }

        private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
            String(decoding: bytes, as: UTF8.self)
        }

        private mutating func add(_ text: Result<String, RequestError>) {
            switch text {
            case .success(let text): texts.append(text)
            case .failure(let error): texts.append("! \(error.message)")
            }
        }

        static func inEverySplit(
            _ text: String, maximum: Int = 1000, sourceLocation: SourceLocation = #_sourceLocation
        ) -> Sequence {
            let bytes = Array(text.utf8)
            let whole = Sequence([bytes], maximum: maximum)
            for chunks in Chunks.all(of: bytes) {
                let split = Sequence(chunks, maximum: maximum)
                #expect(split == whole, "\(chunks)", sourceLocation: sourceLocation)
            }
            return whole
        }
    }

    private static func truncated(_ number: Int, at byte: Int) -> String {
        "! Text \(number) of the JSON sequence is truncated at byte \(byte): a value must be "
            + "complete, and white space must follow a number or literal (RFC 7464 §2.4)."
    }

    private static func malformed(_ number: Int, _ reason: String, at byte: Int) -> String {
        "! Text \(number) of the JSON sequence is not valid JSON: \(reason) at byte \(byte) of the "
            + "body."
    }

    private static let valid: [(text: String, texts: [String])] = [
        ("", []), ("\u{1E}", []), ("\u{1E}\u{1E}\u{1E}", []),
        ("\u{1E}{}\n", ["{}"]),
        ("\u{1E}{\"a\":[1,\n2]}\n\u{1E}\"x\"\n\u{1E}[]\n", ["{\"a\":[1,\n2]}", "\"x\"", "[]"]),
        // Several RS in a row are one.
        ("\u{1E}\u{1E}1\n\u{1E}\u{1E}\u{1E}2\n\u{1E}", ["1", "2"]),
        // White space delimits; without LF it belongs to the text.
        ("\u{1E} 1\t\r\n \n\u{1E}\n\n2 \u{1E}true\r", [" 1\t\r", "\n\n2 ", "true\r"]),
        // Strings, arrays and objects delimit themselves.
        ("\u{1E}\"a\"\u{1E}[1]\u{1E}{}", ["\"a\"", "[1]", "{}"]),
        ("\u{1E}\"\\u001e\\\"\"\n", ["\"\\u001e\\\"\""]),
    ]

    @Test(arguments: valid)
    func textsBeginWithRSAndEndWithLF(text: String, texts: [String]) {
        let sequence = Sequence.inEverySplit(text)
        #expect(sequence.texts == texts)
        #expect(sequence.error == nil)
    }

    @Test
    func textIsDeliveredAtItsLFWithoutTheNextRS() {
        #expect(Sequence([Array("\u{1E}1\n".utf8)]).early == 1)
        #expect(Sequence([Array("\u{1E}{}\n".utf8)]).early == 1)
        #expect(Sequence([Array("\u{1E}[\n1\n]".utf8)]).early == 0)
    }

    private static let failures: [(text: String, texts: [String])] = [
        // Numbers and literals that no white space follows may be truncated (§2.4).
        ("\u{1E}12\u{1E}1\n", [truncated(1, at: 3), "1"]),
        ("\u{1E}true\u{1E}null\u{1E}1\n", [truncated(1, at: 5), truncated(2, at: 10), "1"]),
        ("\u{1E}1\n\u{1E}23", ["1", truncated(2, at: 6)]),
        ("\u{1E}false", [truncated(1, at: 6)]),
        // Incomplete values (§2.3).
        ("\u{1E}{\"a\":1\n\u{1E}2\n", [truncated(1, at: 8), "2"]),
        (
            "\u{1E}\"abc\u{1E}[\n\u{1E}tru\u{1E}- \u{1E}2\n",
            [
                truncated(1, at: 5), truncated(2, at: 8), truncated(3, at: 12),
                malformed(4, "Invalid number in the JSON text", at: 14), "2",
            ]
        ),
        ("\u{1E} \n\u{1E}2\n", [truncated(1, at: 3), "2"]),
        // Malformed values: everything up to RS is ignored.
        (
            "\u{1E}{x}\n3\n\u{1E}2\n",
            [malformed(1, "Unexpected character in the JSON text", at: 2), "2"]
        ),
        (
            "\u{1E}1 2\n\u{1E}2\n",
            [malformed(1, "Unexpected text after the JSON value", at: 3), "2"]
        ),
        (
            "\u{1E}1x\n\u{1E}2\n",
            [malformed(1, "Unexpected text after the JSON value", at: 2), "2"]
        ),
        (
            "\u{1E}1\n2\n3\n\u{1E}4\n",
            ["1", malformed(2, "Unexpected text after the JSON value", at: 3), "4"]
        ),
        ("\u{1E}\u{FEFF}1\n", [malformed(1, "Unexpected character in the JSON text", at: 1)]),
        (
            "\u{1E}\"a\nb\"\n",
            [
                malformed(1, "Unescaped control character in a JSON string", at: 3)
            ]
        ),
    ]

    @Test(arguments: failures)
    func malformedAndTruncatedTextsAreFailuresAndTheSequenceContinues(
        text: String, texts: [String]
    ) {
        let sequence = Sequence.inEverySplit(text)
        #expect(sequence.texts == texts)
        #expect(sequence.error == nil)
    }

    @Test
    func streamThatDoesNotBeginWithRSIsAnError() {
        for text in ["{}\n", "\n\u{1E}1\n"] {
            let sequence = Sequence.inEverySplit(text)
            #expect(sequence.texts.isEmpty)
            #expect(sequence.error?.hasPrefix("undecodable: The body is not a JSON text") == true)
        }
    }

    @Test
    func textAboveTheLimitIsAnErrorAfterTheTextsBeforeIt() {
        let error =
            "bodyTooLarge: Text 3 of the JSON sequence exceeds the limit of 4 bytes. Raise "
            + "maximumTextBytes if such texts are expected."
        for rest in ["\"abc\"\n", "\"abcdefgh", "[1,2]\u{1E}", "   12\n", "\"abcd\u{1}\"\n"] {
            let sequence = Sequence.inEverySplit(
                "\u{1E}\"ab\"\n\u{1E}1   \n\u{1E}" + rest, maximum: 4)
            #expect(sequence.texts == ["\"ab\"", "1   "])
            #expect(sequence.error == error, "\(rest)")
        }
        // The rest of a failed text does not count.
        let skipped = Sequence.inEverySplit(
            "\u{1E}x" + String(repeating: "y", count: 20), maximum: 4)
        #expect(skipped.error == nil)
        #expect(skipped.texts.count == 1)
    }

    @Test
    func depthIsLimited() {
        let text = Array("\u{1E}[[1]]\n\u{1E}[[[1]]]\n".utf8)
        let sequence = Sequence([text], maximumDepth: 2)
        #expect(sequence.texts.first == "[[1]]")
        #expect(sequence.texts.last?.contains("nested too deeply") == true)
        #expect(Sequence([text], maximumDepth: 3).texts == ["[[1]]", "[[[1]]]"])
    }

    @Test
    func decodingErrorsNameTheTextAndThePath() throws {
        var parser = JSONSequenceParser()
        var results: [String] = []
        func add(_ result: Result<[Int], RequestError>) {
            switch result {
            case .success(let value): results.append("\(value)")
            case .failure(let error): results.append("\(error.code): \(error.message)")
            }
        }
        try Array("\u{1E}[1]\n\u{1E}1\u{1E}[1,\"x\"]\n\u{1E}[\"\\uD800\"]\n\u{1E}[2]".utf8)
            .asInput { input throws(RequestError) in
                while let result = try parser.next([Int].self, in: &input) { add(result) }
            }
        if let result = try parser.end([Int].self) { add(result) }
        #expect(results.count == 5)
        #expect(results.first == "[1]")
        #expect(results.last == "[2]")
        #expect(
            results[2]
                == "undecodable: Could not decode text 3 of the JSON sequence as Array<Int>: expected "
                + "Int at $[1], found a string.")
        #expect(results[3].contains("text 4") && results[3].contains("surrogate"))
    }

    @Test(arguments: 0..<8)
    func textsEqualThoseOfANaiveParser(seed: UInt64) {
        var generator = JSONGenerator(seed: seed)
        var total = 0
        for _ in 0..<300 {
            var text = ""
            for _ in 0..<generator.number(0...5) {
                text += generator.one(["\u{1E}", "\u{1E}", "\u{1E}\u{1E}"], else: "")
                text += generator.space() + generator.value(depth: 2)
                text += generator.one(["\n", "\n", "\n", "", " ", "\r\n\n"], else: "")
            }
            var bytes = Array(text.utf8)
            if generator.number(0...2) == 0 {
                generator.mutate(&bytes, special: "[]{}\",12\n\u{1E}")
            }
            let expected = Self.naive(bytes)
            total += expected?.count ?? 0
            let random = Chunks.random(of: bytes, using: &generator.random)
            for chunks in [[bytes], bytes.map { [$0] }, random] {
                let sequence = Sequence(chunks, maximum: .max)
                let texts = sequence.error == nil ? sequence.texts.map(Self.reduced) : nil
                #expect(texts == expected, "\(String(decoding: bytes, as: UTF8.self)) \(chunks)")
            }
        }
        #expect(total > 300)
    }

    private static func reduced(_ text: String) -> String { text.hasPrefix("!") ? "!" : text }

    /// A second implementation, which has all bytes at once; nil for a stream without RS.
    private static func naive(_ bytes: [UInt8]) -> [String]? {
        guard bytes.first ?? 0x1E == 0x1E else { return nil }
        var texts: [String] = []
        for text in bytes.split(separator: 0x1E) {
            let ends = text.indices.filter { text[$0] == 0x0A }
            if let end = ends.first(where: { JSONGrammar.accepts(text[..<$0]) }) {
                texts.append(String(decoding: text[..<end], as: UTF8.self))
                if !text[end...].allSatisfy({ isSpace($0) }) { texts.append("!") }
                continue
            }
            let last = text.last { !isSpace($0) }
            let delimits = [0x22, 0x5D, 0x7D].contains(last) || text.last.map(isSpace) == true
            texts.append(
                JSONGrammar.accepts(text) && delimits ? String(decoding: text, as: UTF8.self) : "!")
        }
        return texts
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
}
