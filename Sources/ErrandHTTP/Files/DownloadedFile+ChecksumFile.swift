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
        let lines = text.utf8.split(whereSeparator: ByteSet("\r\n").contains)
            .compactMap { ChecksumLine(String(Substring($0))) }
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
        while let shorter = line.dropping(suffix: "\n") ?? line.dropping(suffix: "\r") {
            line = shorter
        }
        guard let parsed = Self.parseBSD(line) ?? Self.parseGNU(line), parsed.0.isValid else {
            return nil
        }
        (digest, name) = parsed
    }

    /// The part of a path after its last separator.
    static func lastComponent(of path: String) -> String {
        path.utf8.split(whereSeparator: ByteSet("/\\").contains).last.map { String(Substring($0)) }
            ?? ""
    }

    /// `<digits>  <name>`, or `<digits> *<name>` for binary mode; after a leading `\`, the name has escapes.
    private static func parseGNU(_ line: Substring) -> (DownloadedFile.Digest, String?)? {
        let escaped = line.dropping(prefix: "\\")
        let line = escaped ?? line
        let digits = Substring(line.utf8.prefix(while: ByteSet.hexDigits.contains))
        guard
            let algorithm = DownloadedFile.Digest.Algorithm.allCases.first(where: {
                2 * $0.byteCount == digits.utf8.count
            })
        else { return nil }
        let digest = DownloadedFile.Digest(algorithm, hex: String(digits))
        let rest = line[digits.endIndex...]
        if rest.utf8.allSatisfy(ByteSet(" \t").contains) { return (digest, nil) }
        guard var name = rest.dropping(prefix: " ") else { return nil }
        // The second character says whether the file was read as text or as bytes.
        name = name.dropping(prefix: " ") ?? name.dropping(prefix: "*") ?? name
        guard !name.isEmpty else { return nil }
        return (digest, escaped == nil ? String(name) : unescaped(name))
    }

    /// `SHA256 (<name>) = <digits>`, also without the spaces, as `openssl` writes it.
    private static func parseBSD(_ line: Substring) -> (DownloadedFile.Digest, String?)? {
        let escaped = line.dropping(prefix: "\\")
        let line = escaped ?? line
        // A name can contain parentheses, so the last one ends it.
        guard let open = line.firstIndex(ofByte: "("), let close = line.lastIndex(ofByte: ")"),
            open < close,
            let algorithm = algorithm(named: line[..<open].trimmingBlanks())
        else { return nil }
        let rest = line[line.utf8.index(after: close)...].trimmingBlanks()
        guard let digits = rest.dropping(prefix: "=")?.trimmingBlanks() else { return nil }
        let name = line[line.utf8.index(after: open)..<close]
        guard !name.isEmpty else { return nil }
        let digest = DownloadedFile.Digest(algorithm, hex: String(digits))
        return (digest, escaped == nil ? String(name) : unescaped(name))
    }

    private static func algorithm(named name: Substring) -> DownloadedFile.Digest.Algorithm? {
        switch name.uppercasedASCII() {
        case "SHA256", "SHA2-256", "SHA-256": .sha256
        case "SHA512", "SHA2-512", "SHA-512": .sha512
        case "SHA1", "SHA-1": .sha1
        case "MD5": .md5
        default: nil
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        var result: [UInt8] = []
        var isEscape = false
        for byte in text.utf8 {
            guard isEscape else {
                if byte == UInt8(ascii: "\\") { isEscape = true } else { result.append(byte) }
                continue
            }
            isEscape = false
            switch byte {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
