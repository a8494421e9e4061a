package import ErrandSystem

extension Response {
    /// The body as text; `nil` if the bytes are invalid in the charset that `Content-Type` names, or if that charset is
    /// unknown.
    ///
    /// The charset is a label of the WHATWG Encoding Standard, where `iso-8859-1` and `us-ascii` mean windows-1252 and
    /// `gb2312` means GBK, or of UTF-32. Without a charset, or with an unknown one, the byte order mark decides; without
    /// both, the text is UTF-8 if the bytes are valid UTF-8, otherwise Latin-1. The text does not include the byte order
    /// mark. It is decoded at every call.
    public var string: String? {
        ResponseText.decode(data, contentType: headers[.contentType])
    }

    /// Why ``string`` is `nil`.
    package var textProblem: String {
        guard let charset = headers[.contentType].flatMap(ResponseText.charset(of:)) else {
            return "The body is not text in UTF-8 or Latin-1."
        }
        let label = FileName.beginning(of: charset, bytes: 40).debugDescription
        if TextEncoding(label: charset) == nil {
            return "The charset \(label) of the response's Content-Type is not supported. "
                + "Decode the bytes of Response.data yourself."
        }
        return "The body is not valid in the charset \(label) of its Content-Type."
    }
}

/// Decodes bytes as text; a pure function.
package enum ResponseText {
    package static func decode(_ data: Data, contentType: String?) -> String? {
        let mark = ByteOrderMark(of: data)
        let label = contentType.flatMap(charset(of:))
        if let encoding = label.flatMap(TextEncoding.init(label:)) {
            if let mark, mark.mayBegin(encoding) { return mark.text(of: data) }
            return encoding.decode(data)
        }
        if let text = mark?.text(of: data) { return text }
        guard label == nil else { return nil }
        return String(validating: data, as: UTF8.self)
            ?? String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
    }

    /// The first non-empty `charset` parameter in lower case (RFC 9110 §8.3.2).
    package static func charset(of contentType: String) -> String? {
        var rest = contentType.utf8.drop { $0 != UInt8(ascii: ";") }
        while let semicolon = rest.first {
            guard semicolon == UInt8(ascii: ";") else { return nil }
            rest = rest.dropFirst()
            let name = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
            rest = rest.dropFirst(name.count)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst()
            let value = parameterValue(&rest)
            if trim(Substring(name)).hasSameBytes(ignoringCase: "charset"), !value.isEmpty {
                return value.lowercasedASCII()
            }
        }
        return nil
    }

    /// Reads a parameter value, quoted or not (RFC 9110 §5.6.6), and skips to the next semicolon.
    private static func parameterValue(_ rest: inout Substring.UTF8View) -> String {
        let start = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard start.first == UInt8(ascii: "\"") else {
            let raw = rest.prefix { $0 != UInt8(ascii: ";") }
            rest = rest.dropFirst(raw.count)
            var value = trim(Substring(raw))
            // Single quotes are not in the grammar, but some servers send them.
            if value.utf8.count >= 2, value.utf8.first == UInt8(ascii: "'"),
                value.utf8.last == UInt8(ascii: "'")
            {
                value = Substring(value.utf8.dropFirst().dropLast())
            }
            return String(value)
        }
        var bytes: [UInt8] = []
        var isEscaped = false
        rest = start.dropFirst()
        while let byte = rest.popFirst() {
            if isEscaped || (byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\"")) {
                bytes.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                break
            }
        }
        rest = rest.drop { $0 != UInt8(ascii: ";") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without spaces, tabs and line breaks at both ends.
    private static func trim(_ text: Substring) -> Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var bytes = text.utf8.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return Substring(bytes)
    }
}

/// The byte order mark of Unicode text.
private struct ByteOrderMark {
    private let encoding: String.Encoding
    private let length: Int
    private let family: String

    init?(of data: Data) {
        let bytes = Array(data.prefix(4))
        // Longer marks first: the little-endian mark of UTF-32 starts with the one of UTF-16.
        if bytes.starts(with: [0xff, 0xfe, 0, 0]) {
            (encoding, length, family) = (.utf32LittleEndian, 4, "utf-32")
        } else if bytes.starts(with: [0, 0, 0xfe, 0xff]) {
            (encoding, length, family) = (.utf32BigEndian, 4, "utf-32")
        } else if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
            (encoding, length, family) = (.utf8, 3, "utf")
        } else if bytes.starts(with: [0xff, 0xfe]) {
            (encoding, length, family) = (.utf16LittleEndian, 2, "utf-16")
        } else if bytes.starts(with: [0xfe, 0xff]) {
            (encoding, length, family) = (.utf16BigEndian, 2, "utf-16")
        } else {
            return nil
        }
    }

    /// Whether text in this encoding can start with the mark; in Latin-1, for example, its bytes are letters.
    func mayBegin(_ encoding: TextEncoding) -> Bool {
        family == "utf" ? encoding.name == "utf-8" : encoding.name.starts(withBytes: family)
    }

    /// The text after the mark; `nil` if it is not valid.
    func text(of data: Data) -> String? {
        String(data: data.dropFirst(length), encoding: encoding)
    }
}
