import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandCore

struct LineParserTests {
    /// The lines of a stream, and the error that ended it.
    struct Lines: Equatable {
        var lines: [String] = []
        var error: String?

        init(_ lines: [String] = [], error: String? = nil) {
            self.lines = lines
            self.error = error
        }

        init(
            _ chunks: [[UInt8]], maximum: Int = 100,
            terminator: LineParser.Terminator = .any, invalid: LineParser.InvalidUTF8 = .replace
        ) {
            var parser = LineParser(maximumLineBytes: maximum, terminator: terminator)
            do {
                for chunk in chunks {
                    try chunk.asInput { input throws(RequestError) in
                        while let line = try parser.nextText(in: &input, invalid: invalid) {
                            lines.append(line)
                        }
                        #expect(input.isEmpty)
                    }
                }
                if let line = try parser.endText(invalid: invalid) { lines.append(line) }
                #expect(parser.lineNumber == lines.count)
            } catch let fault {
                error = fault.message
            }
        }
    }

    private static let samples: [(text: String, lines: [String])] = [
        ("", []),
        ("a", ["a"]),
        ("\n", [""]),
        ("\r", [""]),
        ("\r\n", [""]),
        ("\n\r", ["", ""]),
        ("\r\r\n\n", ["", "", ""]),
        ("a\nb\r\nc\rd", ["a", "b", "c", "d"]),
        ("a\nb\r\nc\rd\r", ["a", "b", "c", "d"]),
        ("a\r\n\r\nb\n\n", ["a", "", "b", ""]),
        ("a\r\rb\r", ["a", "", "b"]),
        ("ä€\u{10FFFF}\r\n€", ["ä€\u{10FFFF}", "€"]),
        ("\u{2028}\u{85}\u{B}\u{C}\n", ["\u{2028}\u{85}\u{B}\u{C}"]),
    ]

    @Test(arguments: samples)
    func linesEndAtLFAndCRLFAndCRInAnySplit(text: String, lines: [String]) {
        for chunks in Chunks.all(of: Array(text.utf8)) {
            #expect(Lines(chunks) == Lines(lines), "\(chunks)")
        }
    }

    @Test
    func carriageReturnBelongsToTheLineIfOnlyLFSeparates() {
        for chunks in Chunks.all(of: Array("a\rb\r\n\rc\r".utf8)) {
            let lines = Lines(chunks, terminator: .lineFeed)
            #expect(lines == Lines(["a\rb\r", "\rc\r"]))
        }
    }

    @Test
    func lineIsDeliveredAtItsCarriageReturn() throws {
        var parser = LineParser()
        let first = try Array("a\r".utf8).asInput { input throws(RequestError) in
            try parser.nextText(in: &input)
        }
        #expect(first == "a")
        let second = try Array("\nb".utf8).asInput { input throws(RequestError) in
            try parser.nextText(in: &input)
        }
        #expect(second == nil)
        try expectEqual(parser.endText(), "b")
        try expectEqual(parser.endText(), nil)
    }

    @Test
    func lineAboveTheLimitFailsInAnySplitAfterTheLinesBeforeIt() {
        let error =
            "Line 3 of the body exceeds the limit of 4 bytes. Raise maximumLineBytes if such lines "
            + "are expected."
        for text in ["abcd\r\nabcd\nabcde\nf", "abcd\r\nabcd\nabcdefg", "\r\n\rabcde"] {
            let lines = text.hasPrefix("a") ? ["abcd", "abcd"] : ["", ""]
            for chunks in Chunks.all(of: Array(text.utf8)) {
                #expect(Lines(chunks, maximum: 4) == Lines(lines, error: error), "\(chunks)")
            }
        }
    }

    @Test
    func errorOfTheLimitNamesItsCodeAndRepeats() {
        var parser = LineParser(maximumLineBytes: 2, setting: "limitOfTest")
        for chunk in ["abc", "\n"] {
            let error = #expect(throws: RequestError.self) {
                try Array(chunk.utf8).asInput { input in try parser.nextText(in: &input) }
            }
            #expect(error?.code == .bodyTooLarge)
            #expect(error?.stage == .transport)
            #expect(error?.message.contains("Raise limitOfTest") == true)
        }
        #expect(throws: RequestError.self) { try parser.endText() }
    }

    private static let invalid: [(bytes: [UInt8], replaced: String)] = [
        ([0x61, 0xFF, 0x62], "a\u{FFFD}b"),
        // The maximal prefix of a sequence is replaced by one character.
        ([0xE2, 0x82], "\u{FFFD}"),
        ([0xF0, 0x9F, 0x98, 0x41], "\u{FFFD}A"),
        // Overlong forms, surrogates and values above U+10FFFF have no valid prefix.
        ([0xC0, 0xAF], "\u{FFFD}\u{FFFD}"),
        ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    ]

    @Test(arguments: invalid)
    func invalidUTF8IsReplacedOrAnErrorWithTheLineNumber(bytes: [UInt8], replaced: String) {
        let error =
            "Line 2 of the body is not valid UTF-8. Read the lines as bytes, or have invalid bytes "
            + "replaced."
        for chunks in Chunks.all(of: Array("x\n".utf8) + bytes + [0x0A, 0x79]) {
            #expect(Lines(chunks) == Lines(["x", replaced, "y"]))
            #expect(Lines(chunks, invalid: .reject) == Lines(["x"], error: error))
        }
        for chunks in Chunks.all(of: Array("x\r".utf8) + bytes) {
            #expect(Lines(chunks) == Lines(["x", replaced]))
            #expect(Lines(chunks, invalid: .reject) == Lines(["x"], error: error))
        }
    }

    /// Text is checked 32 bytes at a time, then byte by byte.
    @Test func invalidByteIsFoundAtEveryPosition() {
        for length in 1...70 {
            let text = [UInt8](repeating: 0x61, count: length)
            let valid = Lines([text + [0x0A]], invalid: .reject)
            #expect(valid == Lines([String(repeating: "a", count: length)]))
            for position in 0..<length {
                var line = text
                line[position] = 0x80
                let lines = Lines([line + [0x0A]], invalid: .reject)
                #expect(lines.lines.isEmpty && lines.error != nil, "\(position) of \(length)")
            }
        }
    }

    @Test
    func callerMayStopAtALineAndKeepTheRestOfTheInput() throws {
        var parser = LineParser()
        try Array("a\nb\r\nc\n".utf8).asInput { input throws(RequestError) in
            expectEqual(try parser.nextText(in: &input), "a")
            #expect(input.count == 5)
            expectEqual(try parser.nextText(in: &input), "b")
            #expect(input.count == 2)
            expectEqual(try parser.nextText(in: &input), "c")
            #expect(input.isEmpty)
        }
    }

    @Test
    func reusedMemoryOfAChunkIsSearchedAgain() throws {
        var parser = LineParser()
        var lines: [String] = []
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 1)
        defer { memory.deallocate() }
        for text in ["ab\r\n", "c\nd\n", "\ref\n", "g\rh\r", "\nij\r"] {
            memory.copyBytes(from: text.utf8)
            var input = UnsafeRawBufferPointer(memory)
            // The input is used up without a call that returns nil.
            while !input.isEmpty {
                if let line = try parser.nextText(in: &input) { lines.append(line) }
            }
        }
        #expect(lines == ["ab", "c", "d", "", "ef", "g", "h", "ij"])
    }

    @Test(arguments: 0..<8)
    func linesEqualThoseOfANaiveParser(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let alphabet: [UInt8] = [0x0A, 0x0D, 0x61, 0x62, 0xC3, 0xA4, 0x20]
            let bytes = (0..<Int.random(in: 0...60, using: &random))
                .map { _ in alphabet.randomElement(using: &random) ?? 0 }
            let maximum = Int.random(in: 4...20, using: &random)
            let expected = Self.naive(bytes, maximum: maximum)
            for _ in 0..<4 {
                let chunks = Chunks.random(of: bytes, using: &random)
                let lines = Lines(chunks, maximum: maximum)
                #expect(lines.lines == expected.lines)
                #expect((lines.error != nil) == expected.fails)
            }
            var parser = LineParser()
            var whole: [String] = []
            let unlimited = Self.naive(bytes, maximum: .max)
            #expect(throws: Never.self) {
                try bytes.asInput { input throws(RequestError) in
                    try parser.forEachLine(in: input) { line throws(RequestError) in
                        whole.append(String(decoding: line, as: UTF8.self))
                    }
                }
                _ = try parser.end { whole.append(String(decoding: $0, as: UTF8.self)) }
            }
            #expect(whole == unlimited.lines)
        }
    }

    /// A second implementation, which has all bytes at once.
    private static func naive(
        _ bytes: [UInt8], maximum: Int
    ) -> (lines: [String], fails: Bool) {
        var lines: [[UInt8]] = [[]]
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x0D || byte == 0x0A {
                lines.append([])
                let isPair = byte == 0x0D && index + 1 < bytes.count && bytes[index + 1] == 0x0A
                index += isPair ? 2 : 1
            } else {
                lines[lines.count - 1].append(byte)
                index += 1
            }
        }
        if lines.last == [] { lines.removeLast() }
        let good = lines.prefix { $0.count <= maximum }
        return (good.map { String(decoding: $0, as: UTF8.self) }, good.count < lines.count)
    }
}
