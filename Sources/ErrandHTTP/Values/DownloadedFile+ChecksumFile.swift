extension DownloadedFile.Digest {
    /// The digest of a file in a checksum file, such as `SHA256SUMS`; `nil` if no line names the file.
    ///
    /// Lines have the format of `sha256sum` (`<digits>  <name>`) or of BSD (`SHA256 (<name>) = <digits>`); other lines
    /// are ignored. Names are compared without directories. A line without a name applies if it is the only line with
    /// a digest.
    ///
    /// - Parameters:
    ///   - text: The contents of the checksum file.
    ///   - name: The name of the file, or its path.
    ///   - algorithm: The algorithm; `nil`, the default, accepts each one.
    public static func inChecksumFile(
        _ text: String, for name: String, algorithm: Algorithm? = nil
    ) -> DownloadedFile.Digest? {
        let lines = text.split(whereSeparator: \.isNewline).compactMap { ChecksumLine(String($0)) }
        let wanted = ChecksumLine.lastComponent(of: name)
        let named = lines.first { line in
            line.name.map(ChecksumLine.lastComponent) == wanted
                && line.digest.algorithm == algorithm ?? line.digest.algorithm
        }
        if let named { return named.digest }
        guard lines.count == 1, let only = lines.first, only.name == nil,
            only.digest.algorithm == algorithm ?? only.digest.algorithm
        else { return nil }
        return only.digest
    }

    /// The digest in one line of a checksum file, in the format of `sha256sum` or of BSD; `nil` for another text.
    ///
    /// The format of `sha256sum` names no algorithm: it follows from the number of digits.
    public init?(checksumLine line: String) {
        guard let line = ChecksumLine(line) else { return nil }
        self = line.digest
    }
}

/// A parsed line of a checksum file; pure.
package struct ChecksumLine: Sendable, Hashable {
    package let digest: DownloadedFile.Digest
    /// The name of the file; `nil` for a line that has only the digits.
    package let name: String?

    package init?(_ line: String) {
        var line = line[...]
        while let last = line.last, last.isNewline { line.removeLast() }
        guard let parsed = Self.parseBSD(line) ?? Self.parseGNU(line), parsed.0.isValid else {
            return nil
        }
        (digest, name) = parsed
    }

    /// The part of a path after its last separator.
    static func lastComponent(of path: String) -> String {
        String(path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "")
    }

    /// `<digits>  <name>`, or `<digits> *<name>` for binary mode; after a leading `\`, the name has escapes.
    private static func parseGNU(_ line: Substring) -> (DownloadedFile.Digest, String?)? {
        let isEscaped = line.hasPrefix("\\")
        let line = isEscaped ? line.dropFirst() : line
        let digits = line.prefix { $0.isASCII && $0.isHexDigit }
        guard
            let algorithm = DownloadedFile.Digest.Algorithm.allCases.first(where: {
                2 * $0.byteCount == digits.utf8.count
            })
        else { return nil }
        let digest = DownloadedFile.Digest(algorithm, hex: String(digits))
        let rest = line.dropFirst(digits.count)
        if rest.allSatisfy({ $0 == " " || $0 == "\t" }) { return (digest, nil) }
        guard rest.first == " " else { return nil }
        var name = rest.dropFirst()
        // The second character says whether the file was read as text or as bytes.
        if name.first == " " || name.first == "*" { name.removeFirst() }
        guard !name.isEmpty else { return nil }
        return (digest, isEscaped ? unescaped(name) : String(name))
    }

    /// `SHA256 (<name>) = <digits>`, also without the spaces, as `openssl` writes it.
    private static func parseBSD(_ line: Substring) -> (DownloadedFile.Digest, String?)? {
        let isEscaped = line.hasPrefix("\\")
        let line = isEscaped ? line.dropFirst() : line
        // A name can contain parentheses, so the last one ends it.
        guard let open = line.firstIndex(of: "("), let close = line.lastIndex(of: ")"),
            open < close,
            let algorithm = algorithm(named: line[..<open].trimmingBlanks())
        else { return nil }
        let rest = line[line.index(after: close)...].trimmingBlanks()
        guard rest.first == "=" else { return nil }
        let digits = rest.dropFirst().trimmingBlanks()
        let name = line[line.index(after: open)..<close]
        guard !name.isEmpty else { return nil }
        let digest = DownloadedFile.Digest(algorithm, hex: String(digits))
        return (digest, isEscaped ? unescaped(name) : String(name))
    }

    private static func algorithm(named name: Substring) -> DownloadedFile.Digest.Algorithm? {
        switch name.uppercased() {
        case "SHA256", "SHA2-256", "SHA-256": .sha256
        case "SHA512", "SHA2-512", "SHA-512": .sha512
        case "SHA1", "SHA-1": .sha1
        case "MD5": .md5
        default: nil
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var isEscape = false
        for character in text {
            guard isEscape else {
                if character == "\\" { isEscape = true } else { result.append(character) }
                continue
            }
            isEscape = false
            switch character {
            case "n": result.append("\n")
            case "r": result.append("\r")
            default: result.append(character)
            }
        }
        return result
    }
}
