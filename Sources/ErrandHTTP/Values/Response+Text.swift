package import Foundation

extension Response {
    /// The body as text; `nil` if the bytes are invalid in the charset that `Content-Type` names.
    ///
    /// The charset of `Content-Type` decides. If it is missing or unknown, the byte order mark decides; without
    /// one, the text is UTF-8 if the bytes are valid UTF-8, otherwise Latin-1. The text does not include the byte
    /// order mark. It is decoded at every call.
    public var string: String? {
        ResponseText.decode(data, contentType: headers[.contentType])
    }
}

/// Decodes bytes as text; a pure function.
package enum ResponseText {
    package static func decode(_ data: Data, contentType: String?) -> String? {
        let mark = ByteOrderMark(of: data)
        if let charset = contentType.flatMap(charset(of:)), let named = encodings[charset] {
            if let mark, mark.mayBegin(charset) {
                return String(data: data.dropFirst(mark.length), encoding: mark.encoding)
            }
            return String(data: data, encoding: named)
        }
        if let mark, let text = String(data: data.dropFirst(mark.length), encoding: mark.encoding) {
            return text
        }
        return String(data: data, encoding: .utf8) ?? String(data: data, encoding: .isoLatin1)
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
            if trim(Substring(name)).lowercased() == "charset", !value.isEmpty {
                return value.lowercased()
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
                value = value.dropFirst().dropLast()
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

    private static func trim(_ text: Substring) -> Substring {
        var text = text
        while let last = text.last, last.isWhitespace { text.removeLast() }
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        return text
    }

    /// An encoding with a CoreFoundation number, which Foundation does not name.
    private static func coreFoundation(_ number: UInt) -> String.Encoding {
        String.Encoding(rawValue: 0x8000_0000 | number)
    }

    /// The encodings by charset name in lower case, including common aliases.
    private static let encodings: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "ascii": .ascii,
        "iso-8859-1": .isoLatin1, "iso8859-1": .isoLatin1, "iso_8859-1": .isoLatin1,
        "latin1": .isoLatin1, "l1": .isoLatin1, "iso-8859-2": .isoLatin2, "latin2": .isoLatin2,
        "iso-8859-5": coreFoundation(0x0205), "iso-8859-7": coreFoundation(0x0207),
        "iso-8859-9": coreFoundation(0x0209), "iso-8859-15": coreFoundation(0x020f),
        "windows-1250": .windowsCP1250, "cp1250": .windowsCP1250,
        "windows-1251": .windowsCP1251, "cp1251": .windowsCP1251,
        "windows-1252": .windowsCP1252, "cp1252": .windowsCP1252,
        "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
        "utf-32": .utf32, "utf-32le": .utf32LittleEndian, "utf-32be": .utf32BigEndian,
        "shift_jis": .shiftJIS, "shift-jis": .shiftJIS, "sjis": .shiftJIS,
        "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP, "koi8-r": coreFoundation(0x0a02),
        "gb2312": coreFoundation(0x0632), "gbk": coreFoundation(0x0631),
        "gb18030": coreFoundation(0x0632), "big5": coreFoundation(0x0a03),
        "euc-kr": coreFoundation(0x0940),
    ]
}

/// The byte order mark of Unicode text.
private struct ByteOrderMark {
    let encoding: String.Encoding
    let length: Int
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

    /// Whether text in this charset can start with the mark; in Latin-1, for example, its bytes are letters.
    func mayBegin(_ charset: String) -> Bool {
        family == "utf" ? charset == "utf-8" || charset == "utf8" : charset.hasPrefix(family)
    }
}
