import Testing

@testable import ErrandHTTP

/// File names from servers and URLs, for Linux, macOS and Windows.
@Suite struct FileNameTests {
    @Test(arguments: [
        ("a.txt", "a.txt"), ("a b.txt", "a b.txt"), ("é日本.txt", "é日本.txt"), ("a", "a"),
        ("a/b", "a_b"), ("a\\b", "a_b"), ("a:b", "a_b"), ("a*b?c", "a_b_c"),
        ("a\"b<c>d|e", "a_b_c_d_e"), ("a\u{0}b\u{1f}c\u{7f}d\u{9f}e", "a_b_c_d_e"),
        ("a\u{202e}gpj.exe", "a_gpj.exe"), ("a\u{200f}b\u{2066}c\u{2028}d\u{feff}e", "a_b_c_d_e"),
        // Invisible characters.
        ("a\u{AD}b\u{200B}c\u{200C}d\u{200D}e\u{2060}f\u{2064}g", "abcdefg"),
        ("a\u{E0001}\u{E0061}\u{E007F}.txt", "a.txt"), ("\u{34F}a\u{3164}\u{180E}\u{FFF9}", "a"),
        ("\u{200B}.bashrc", "bashrc"), ("C\u{2060}ON", "_CON"), ("a.\u{AD}exe", "a.exe"),
        ("❤\u{FE0F}.png", "❤.png"),
        // Marks after ASCII characters.
        ("CON.\u{301}txt", "_CON.\u{301}txt"), ("COM1\u{301}", "COM1\u{301}"),
        // Hidden files, and ends that Windows removes.
        (".bashrc", "bashrc"), ("...a", "a"), (". .a", "a"), ("..a..", "a"), ("a. ", "a"),
        ("a.txt. .", "a.txt"), (" a ", "a"), ("a.b.", "a.b"), ("..%2Fetc", "%2Fetc"),
        // Devices of Windows.
        ("CON", "_CON"), ("con", "_con"), ("Aux.txt", "_Aux.txt"), ("nul.tar.gz", "_nul.tar.gz"),
        ("prn .txt", "_prn .txt"), ("COM1", "_COM1"), ("lpt9.x", "_lpt9.x"), ("COM0", "_COM0"),
        ("com¹", "_com¹"), ("CONIN$", "_CONIN$"), ("conout$.a", "_conout$.a"),
        ("CONS", "CONS"), ("COM10", "COM10"), ("COM", "COM"), ("COMa", "COMa"), ("a.con", "a.con"),
    ])
    func safeNames(text: String, name: String) { #expect(FileName.safe(text) == name) }

    @Test(arguments: ["", ".", "..", "...", " ", ". .", "  .."])
    func textsWithoutAName(text: String) { #expect(FileName.safe(text) == nil) }

    @Test func noSafeNameHasInvisibleCharacters() {
        let ranges: [ClosedRange<UInt32>] = [
            0xAD...0xAD, 0x61C...0x61C, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F,
            0xFEFF...0xFEFF, 0xE0000...0xE007F,
        ]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            let name = FileName.safe("a\(scalar)b.txt")
            #expect(name == "ab.txt" || name == "a_b.txt", "\(scalar.value)")
        }
    }

    @Test func everySafeNameIsItsOwn() {
        for value in (0 as UInt32)...0x2100 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for text in [
                "\(scalar)", "a\(scalar)", "\(scalar)a", "a\(scalar)b.txt", "CON\(scalar)",
            ] {
                guard let name = FileName.safe(text) else { continue }
                #expect(FileName.safe(name) == name)
                #expect(!name.contains("/") && !name.hasPrefix(".") && !name.hasSuffix("."))
            }
        }
    }

    @Test func longNamesKeepTheirExtension() {
        let long = String(repeating: "n", count: 300)
        #expect(FileName.safe(long) == String(repeating: "n", count: 240))
        #expect(FileName.safe(long + ".tar") == String(repeating: "n", count: 236) + ".tar")
        // Not within a character.
        let wide = FileName.safe(String(repeating: "日", count: 100) + ".txt")
        #expect(wide == String(repeating: "日", count: 78) + ".txt")
        let flags = FileName.safe(String(repeating: "🇪🇺", count: 40) + ".a")
        #expect(flags == String(repeating: "🇪🇺", count: 29) + ".a")
        // What looks like an extension is not always one.
        #expect(FileName.safe("a." + long)?.utf8.count == 240)
        #expect(FileName.safe(String(repeating: "n", count: 235) + ". .  .txt.a") != nil)
        let spaces = FileName.safe("a" + String(repeating: " ", count: 300) + "b.txt")
        #expect(spaces == "a.txt")
    }

    /// A character may have any number of combining marks.
    @Test func longCharacterIsShortened() {
        let marks = String(repeating: "\u{301}", count: 200)
        let name = FileName.safe("a" + marks + ".txt")
        #expect(name == "a" + marks.unicodeScalars.prefix(117).map(String.init).joined() + ".txt")
        #expect(FileName.beginning(of: "🇪🇺b", bytes: 8) == "🇪🇺")
        #expect(FileName.beginning(of: "🇪🇺b", bytes: 5) == "\u{1F1EA}")
        #expect(FileName.beginning(of: "🇪🇺b", bytes: 3) == "")
    }

    @Test(arguments: [
        ("/etc/passwd", "passwd"), ("C:\\dir\\a.txt", "a.txt"), ("..", nil), ("a/", nil),
        ("a/..", nil), ("\\\\server\\share\\.x", "x"), ("a/\u{301}b", "\u{301}b"),
    ])
    func lastComponents(path: String, name: String?) {
        #expect(FileName.lastComponent(of: path) == name)
    }

    @Test(arguments: [
        ("/a/b.txt", "b.txt"), ("/a/", nil), ("", nil), ("/a/%2e%2e", nil),
        ("/a/..%2Fetc%2Fpasswd", "_etc_passwd"), ("/a/x%zz", "x%zz"), ("/%e2%80%aea", "_a"),
    ])
    func lastSegments(path: String, name: String?) {
        #expect(FileName.lastSegment(of: HTTPURL(path: path)) == name)
        #expect(FileName.last(of: HTTPURL(path: path)) == name ?? "download")
    }
}
