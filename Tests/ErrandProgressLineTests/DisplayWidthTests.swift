import Testing

@testable import ErrandProgressLine

/// Columns of text on a terminal.
@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("photo.jpg", 9), ("Zürich", 6), ("写真.jpg", 8), ("ｱ", 1), ("Ａ", 2), ("한글", 4),
        ("e\u{301}", 1),
        ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("🙂", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("𠮷", 2),
        ("\u{301}", 0), ("☃", 1), ("a\u{200B}b", 2), ("…", 1), ("█░", 2),
    ])
    func width(_ text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test func controlCharactersAreReplaced() {
        #expect(
            DisplayWidth.printable("a\u{1B}[2Jb\nc\u{7F}\u{9B}d")
                == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}\u{FFFD}d")
        #expect(DisplayWidth.printable("a\u{202E}gpj.exe\u{2028}") == "a\u{FFFD}gpj.exe\u{FFFD}")
        #expect(DisplayWidth.printable("写真 👩‍👧.jpg") == "写真 👩‍👧.jpg")
    }

    @Test(arguments: [
        ("abcdefghij.tar", 9, "abcd….tar"), ("abc", 3, "abc"), ("写真写真.jpg", 9, "写真….jpg"),
        ("写真写真.jpg", 8, "写真…jpg"), ("abc", 1, "a"), ("写", 1, ""), ("abc", 0, ""),
    ])
    func shorteningKeepsBothEnds(_ text: String, columns: Int, result: String) {
        let short = DisplayWidth.shortening(text, to: columns, mark: "…")
        #expect(short == result)
        #expect(DisplayWidth.of(short) <= columns)
    }

    @Test func paddingCountsColumns() {
        #expect(DisplayWidth.padding("写", to: 4) == "写  ")
        #expect(DisplayWidth.padding("abcd", to: 2) == "abcd")
    }
}
