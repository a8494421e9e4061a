import ErrandSystem

/// Creates safe file names from text that a server or a URL supplies; pure.
package enum FileName {
    /// The maximum length in bytes: file systems allow 255, and numbers and suffixes need some.
    static let maximumBytes = 240
    /// The maximum length of an extension that is kept when a name is shortened, in bytes.
    private static let maximumExtensionBytes = 20

    /// The last segment of the path, percent-decoded, as a safe file name; `download` if there is none.
    package static func last(of url: HTTPURL) -> String { lastSegment(of: url) ?? "download" }

    /// The last segment of the path, percent-decoded, as a safe file name; `nil` if there is none.
    package static func lastSegment(of url: HTTPURL) -> String? {
        let segment = url.path.pieces(at: "/", keepingEmpty: true).last ?? ""
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return safe(String(segment)) }
        let decoded = String(
            validating: PercentEncoding.decode(segment.utf8), as: UTF8.self)
        return safe(decoded ?? String(segment))
    }

    /// The last component of a path that a server supplies, as a safe file name; `nil` if there is none.
    package static func lastComponent(of path: String) -> String? {
        let last = path.utf8.split(
            omittingEmptySubsequences: false, whereSeparator: ByteSet("/\\").contains
        ).last
        return last.flatMap { safe(String(Substring($0))) }
    }

    /// The text as one path component that Linux, macOS and Windows accept; `nil` if nothing is left of it.
    ///
    /// Separators, control characters, characters that change the direction of text, and those that Windows reserves
    /// become underscores. Other invisible characters are removed, such as soft hyphens, joiners and tags. Dots and spaces at both ends are removed, so that no name is hidden or changed by Windows.
    /// Names of Windows' devices get an underscore. A long name is shortened before its extension.
    package static func safe(_ text: String) -> String? {
        let scalars = text.unicodeScalars.compactMap { scalar -> Unicode.Scalar? in
            guard isSafe(scalar) else { return "_" }
            return isInvisible(scalar) ? nil : scalar
        }
        let name = trimmed(String(String.UnicodeScalarView(scalars)))
        guard !name.isEmpty else { return nil }
        return shortened(isDevice(name) ? "_" + name : name)
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0: false
        // Marks, embeddings, overrides and isolates of direction; line separators; the byte order mark.
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: false
        default: !"/\\:*?\"<>|".unicodeScalars.contains(scalar)
        }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        // The anchors of interlinear annotations do not have the property.
        scalar.properties.isDefaultIgnorableCodePoint || (0xFFF9...0xFFFB).contains(scalar.value)
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while let first = text.unicodeScalars.first, first == "." || first == " " {
            text.unicodeScalars.removeFirst()
        }
        while let last = text.unicodeScalars.last, last == "." || last == " " {
            text.unicodeScalars.removeLast()
        }
        return String(text)
    }

    /// Whether Windows takes the name for a device, which it does with each extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = trimmed(String(name.prefix(upToByte: "."))).uppercasedASCII()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(stem) { return true }
        let scalars = stem.unicodeScalars
        guard stem.starts(withBytes: "COM") || stem.starts(withBytes: "LPT"), scalars.count == 4
        else { return false }
        return scalars.last.map("0123456789¹²³".unicodeScalars.contains) ?? false
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumBytes else { return name }
        var suffix = ""
        if let dot = name.lastIndex(ofByte: "."), name[dot...].utf8.count <= maximumExtensionBytes {
            suffix = String(name[dot...])
        }
        let stem = beginning(of: name, bytes: maximumBytes - suffix.utf8.count)
        return trimmed(stem) + suffix
    }

    /// The first characters of a name, as many as fit into a number of bytes; a part of the first one if that is longer.
    package static func beginning(of name: String, bytes: Int) -> String {
        var (beginning, count) = ("", 0)
        // A name is cut between characters, not between scalars.
        for character in name {
            count += character.utf8.count
            guard count <= bytes else { break }
            beginning.append(character)
        }
        guard beginning.isEmpty else { return beginning }
        // A character may consist of any number of combining marks.
        count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= bytes else { break }
            beginning.unicodeScalars.append(scalar)
        }
        return beginning
    }
}
