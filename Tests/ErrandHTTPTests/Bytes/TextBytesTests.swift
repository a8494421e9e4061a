import Testing

@testable import ErrandHTTP

/// Operations on the bytes of text.
@Suite(.timeLimit(.minutes(1))) struct TextBytesTests {
    /// Scalars that join an ASCII character before them to one Swift character.
    private static let marks = ["", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{E0061}"]

    @Test(arguments: marks) func separatorsAreFoundBeforeMarks(mark: String) {
        let text = "a;\(mark)b;\(mark)"
        #expect(
            text.pieces(at: ";").map(\.utf8.count)
                == [1, 1 + mark.utf8.count, mark.utf8.count].filter { $0 > 0 })
        #expect(text.pieces(at: ";", maxSplits: 1, keepingEmpty: true).count == 2)
        #expect(text.pieces(at: ";", keepingEmpty: true).count == 3)
        #expect(text.firstIndex(ofByte: ";").map { text[..<$0] } == "a")
        #expect(
            text.lastIndex(ofByte: ";").map { text[..<$0].utf8.count } == 2 + mark.utf8.count + 1)
        #expect(text.contains(byte: ";") && !text.contains(byte: ","))
        #expect(text.prefix(upToByte: ";") == "a")
        #expect("=\(mark)x".dropping(leadingByte: "=").utf8.elementsEqual("\(mark)x".utf8))
        #expect("=\(mark)x".dropping(prefix: "=")?.utf8.elementsEqual("\(mark)x".utf8) == true)
        #expect("a://\(mark)b".firstRange(ofBytes: "://") != nil)
        #expect("a://\(mark)b".contains(bytes: "//") && "a//\(mark)".starts(withBytes: "a//"))
        #expect("'\(mark)".replacing(bytes: "'", with: "''").utf8.elementsEqual("''\(mark)".utf8))
    }

    @Test func equivalentCharactersDiffer() {
        // U+037E is canonically equivalent to a semicolon, U+1FEF to a grave accent, U+212A to the letter K.
        #expect("a\u{37E}b".pieces(at: ";") == ["a\u{37E}b"])
        #expect(!"\u{1FEF}".contains(byte: "`") && !"\u{1FEF}a".starts(withBytes: "`"))
        #expect(!"\u{212A}".hasSameBytes(as: "K") && !"\u{212A}".hasSameBytes(ignoringCase: "k"))
        #expect(!"é".hasSameBytes(as: "e\u{301}"))
        #expect("\u{212A}KÄ".lowercasedASCII().utf8.elementsEqual("\u{212A}kÄ".utf8))
        #expect("\u{131}kßä".uppercasedASCII().utf8.elementsEqual("\u{131}Kßä".utf8))
        #expect(String(lowercasingASCII: "\u{212A}A".utf8).utf8.elementsEqual("\u{212A}a".utf8))
    }

    @Test func wholeTextsAndEmptyTexts() {
        #expect(
            "abc".ends(withBytes: "bc") && !"bc".ends(withBytes: "abc") && "a".ends(withBytes: ""))
        #expect("abcabc".replacing(bytes: "bc", with: "") == "aa")
        #expect(
            "aaa".replacing(bytes: "aa", with: "b") == "ba"
                && "a".replacing(bytes: "", with: "b") == "a")
        #expect(
            "aab".firstRange(ofBytes: "ab") == "aab".index(after: "aab".startIndex)..<"aab".endIndex
        )
        #expect("".pieces(at: ";").isEmpty && "".pieces(at: ";", keepingEmpty: true) == [""])
        #expect("abc".dropping(prefix: "b") == nil && "abc".dropping(suffix: "c") == "ab")
        #expect(
            "Content-TYPE".hasSameBytes(ignoringCase: "content-type")
                && !"a".hasSameBytes(ignoringCase: "ab"))
    }

    @Test func replacementTakesLinearTime() {
        let text = String(repeating: "'", count: 1 << 20)
        #expect(text.replacing(bytes: "'", with: "ab").utf8.count == 2 << 20)
    }
}
