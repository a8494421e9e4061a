/// The places of the parts of a URL, in text that may go on.
enum URLLayout {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    enum Place {
        /// Before any delimiter: in the first segment, or in a scheme.
        case head
        /// In the authority that starts at an offset.
        case host(Int)
        case pastHost
    }

    static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    static func place(atEndOf bytes: Bytes) -> Place {
        guard bytes.contains(where: endsAuthority) else { return .head }
        guard let start = startOfAuthority(bytes) else { return .pastHost }
        return bytes[start...].contains(where: endsAuthority) ? .pastHost : .host(start)
    }

    /// The offset after a scheme and `://`; spaces before it are ignored, as when the URL is parsed.
    static func startOfAuthority(_ bytes: Bytes) -> Int? {
        var index = 0
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
        guard index < bytes.count, ByteSet.letters.contains(bytes[index]) else { return nil }
        let scheme = URIBytes.scheme
        while index < bytes.count, scheme.contains(bytes[index]) { index += 1 }
        return bytes[index...].starts(with: "://".utf8) ? index + 3 : nil
    }

    /// Whether the first delimiter is the one of `://`, whatever precedes it.
    static func looksAbsolute(_ bytes: Bytes) -> Bool {
        guard let first = bytes.firstIndex(where: endsAuthority), first > 0 else { return false }
        return bytes[(first - 1)...].starts(with: "://".utf8)
    }

    /// Whether the text ends with its first delimiter, the first slash of `://`.
    static func isHalfAuthority(_ bytes: Bytes) -> Bool {
        bytes.suffix(2).elementsEqual(":/".utf8)
            && bytes.firstIndex(where: endsAuthority) == bytes.count - 1
    }

    /// The fault of the segment with a value of dots, or with an empty one, at an offset.
    ///
    /// `%2E` is a dot for many parsers, and `;` begins parameters for some servers.
    static func fault(ofValueAt offset: Int, _ bytes: Bytes) -> EndpointURL.Fault? {
        let before = bytes[..<offset]
        guard !before.contains(UInt8(ascii: "?")), !before.contains(UInt8(ascii: "#")) else {
            return nil
        }
        let start = before.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let end =
            bytes[offset...].firstIndex { endsAuthority($0) || $0 == UInt8(ascii: ";") }
            ?? bytes.endIndex
        let segment = String(decoding: bytes[start..<end], as: UTF8.self)
        return switch PercentEncoding.decodingDots(segment) {
        case "": .emptySegment
        case ".", "..": .dotSegment
        default: nil
        }
    }
}

extension EndpointURL {
    /// Whether the text has a scheme followed by `://`; other text is a path below the base URL.
    public var isAbsolute: Bool { Self.isAbsolute(text) }

    /// Whether the text has a scheme followed by `://`; other text is a path below the base URL.
    static func isAbsolute(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { URLLayout.startOfAuthority($0) != nil }
    }
}

extension PercentEncoding {
    /// The segment with its escaped dots decoded, if it may be a dot segment.
    fileprivate static func decodingDots(_ segment: String) -> String {
        let bytes = decode(segment.utf8)
        return bytes.count <= 2 ? String(decoding: bytes, as: UTF8.self) : segment
    }
}
