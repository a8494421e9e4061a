/// Operations on the bytes of text that a server, a file or a user wrote.
///
/// The operations of `Collection` on strings compare characters: for them, a semicolon that a combining mark follows
/// is no semicolon, and U+037E (GREEK QUESTION MARK) is one. Protocols define their syntax over bytes. Separators
/// must be ASCII.
///
/// They are inlinable, so that other modules get code for `String` and `Substring` instead of generic code.
extension StringProtocol where SubSequence == Substring {
    /// The parts between the occurrences of an ASCII character; empty parts are left out.
    @inlinable
    package func pieces(
        at separator: Unicode.Scalar, maxSplits: Int = .max, keepingEmpty: Bool = false
    ) -> [Substring] {
        self[...].utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits,
            omittingEmptySubsequences: !keepingEmpty
        ).map { Substring($0) }
    }

    @inlinable
    package func firstIndex(ofByte byte: Unicode.Scalar) -> String.Index? {
        self[...].utf8.firstIndex(of: UInt8(ascii: byte))
    }

    @inlinable
    package func lastIndex(ofByte byte: Unicode.Scalar) -> String.Index? {
        self[...].utf8.lastIndex(of: UInt8(ascii: byte))
    }

    @inlinable
    package func contains(byte: Unicode.Scalar) -> Bool { firstIndex(ofByte: byte) != nil }

    @inlinable
    package func contains(bytes text: some StringProtocol) -> Bool {
        firstRange(ofBytes: text) != nil
    }

    @inlinable
    package func starts(withBytes text: some StringProtocol) -> Bool {
        utf8.starts(with: text.utf8)
    }

    @inlinable
    package func ends(withBytes text: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: text.utf8.reversed())
    }

    @inlinable
    package func hasSameBytes(as text: some StringProtocol) -> Bool {
        utf8.elementsEqual(text.utf8)
    }

    /// Whether both texts have the same bytes, regardless of the case of ASCII letters.
    @inlinable
    package func hasSameBytes(ignoringCase text: some StringProtocol) -> Bool {
        utf8.elementsEqual(text.utf8) { $0.asciiLowercase == $1.asciiLowercase }
    }

    /// The text before the first occurrence of an ASCII character; without one, the whole text.
    @inlinable
    package func prefix(upToByte byte: Unicode.Scalar) -> Substring {
        self[..<(firstIndex(ofByte: byte) ?? endIndex)]
    }

    /// The text without the occurrences of an ASCII character at its start.
    @inlinable
    package func dropping(leadingByte byte: Unicode.Scalar) -> Substring {
        Substring(self[...].utf8.drop { $0 == UInt8(ascii: byte) })
    }

    /// The text without a prefix; `nil` if it does not start with the prefix.
    @inlinable
    package func dropping(prefix: some StringProtocol) -> Substring? {
        guard starts(withBytes: prefix) else { return nil }
        return Substring(self[...].utf8.dropFirst(prefix.utf8.count))
    }

    /// The text without a suffix; `nil` if it does not end with the suffix.
    @inlinable
    package func dropping(suffix: some StringProtocol) -> Substring? {
        guard ends(withBytes: suffix) else { return nil }
        return Substring(self[...].utf8.dropLast(suffix.utf8.count))
    }

    @inlinable
    package func firstRange(ofBytes text: some StringProtocol) -> Range<String.Index>? {
        let pattern = Array(text.utf8)
        guard let first = pattern.first else { return startIndex..<startIndex }
        var rest = self[...].utf8
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: pattern) {
                return start..<rest.index(start, offsetBy: pattern.count)
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// The text with every occurrence of a text replaced; an empty text does not occur.
    @inlinable
    package func replacing(bytes text: some StringProtocol, with other: String) -> String {
        guard !text.isEmpty else { return String(self) }
        var result = ""
        var rest = self[...]
        while let range = rest.firstRange(ofBytes: text) {
            result += rest[..<range.lowerBound]
            result += other
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    /// The text with its ASCII letters in lower case.
    ///
    /// `lowercased()` turns U+212A (KELVIN SIGN) into the letter k.
    @inlinable
    package func lowercasedASCII() -> String {
        guard utf8.contains(where: { $0.asciiLowercase != $0 }) else { return String(self) }
        return String(decoding: utf8.map(\.asciiLowercase), as: UTF8.self)
    }

    /// The text with its ASCII letters in upper case.
    @inlinable
    package func uppercasedASCII() -> String {
        String(decoding: utf8.map(\.asciiUppercase), as: UTF8.self)
    }
}

extension UInt8 {
    @inlinable
    package var asciiLowercase: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    @inlinable
    package var asciiUppercase: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self
    }
}
