extension SeededGenerator {
    /// A random text with characters that encodings must escape, of at most `length` characters.
    package mutating func text(upTo length: Int) -> String {
        let alphabet: [Character] = [
            "a", "Z", "0", " ", "+", "&", "=", "%", "[", "]", "?", "/", "#", "\"", "\\", "\n",
            "\r", "\t",
            "\0", "é", "日", "👨‍👩‍👧‍👦", ";", ",", "'", "\u{2028}", "~", "-",
        ]
        return String(
            (0..<Int.random(in: 0...length, using: &self)).map { _ in
                alphabet.randomElement(using: &self) ?? "x"
            })
    }
}
