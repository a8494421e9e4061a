/// The number of terminal columns that text needs; pure.
///
/// Wide and fullwidth characters of East Asia (Unicode Standard Annex 11) and emoji have two columns, combining
/// characters none. Terminals differ for some sequences of emoji; a line may be a few columns longer or shorter there.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            ? text.utf8.count : text.reduce(0) { $0 + width(of: $1) }
    }

    /// Replaces control characters, line breaks and characters that change the direction of text.
    static func printable(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(isHarmless(scalar) ? scalar : "\u{FFFD}")
        }
        return String(scalars)
    }

    /// Shortens text to a number of columns: a mark takes the place of the middle, so that the end, which has the
    /// extension of a file, remains.
    static func shortening(_ text: String, to columns: Int, mark: String) -> String {
        guard of(text) > columns else { return text }
        let room = columns - of(mark)
        guard room > 0 else { return prefix(text, columns: columns) }
        let tail = String(prefix(String(text.reversed()), columns: room / 2).reversed())
        return prefix(text, columns: room - of(tail)) + mark + tail
    }

    /// Adds blanks at the end up to a number of columns.
    static func padding(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - of(text)))
    }

    private static func prefix(_ text: String, columns: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += width(of: character)
                return used <= columns
            })
    }

    /// The width of a character that may consist of several scalars: that of the widest.
    // text of the screen: a terminal shows characters
    private static func width(of character: Character) -> Int {
        var widest = 0
        var indicators = 0
        for scalar in character.unicodeScalars {
            // A variation selector that asks for the colored form.
            if scalar == "\u{FE0F}" { return 2 }
            if (0x1F1E6...0x1F1FF).contains(scalar.value) { indicators += 1 }
            widest = max(widest, width(of: scalar))
        }
        // Two regional indicators are a flag.
        return indicators == 2 ? 2 : widest
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return isControl(scalar) ? 0 : 1 }
        if WideCharacters.contains(scalar) { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        // Vowels and final consonants of Hangul that combine with the consonant before them.
        default: return (0x1160...0x11FF).contains(scalar.value) ? 0 : 1
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        // The zero-width joiner is part of emoji; the others of this kind change the direction, or are invisible.
        case .format: scalar == "\u{200D}"
        default: true
        }
    }
}
