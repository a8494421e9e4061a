import ErrandHTTP
import ErrandSystem

/// Replaces secrets in bodies, by their content: the content type decides only where the content does not.
struct BodyRedaction {
    let rules: RedactionRules
    private let json: JSONRedaction
    private let text: TextRedaction
    /// Multipart bodies in parts of multipart bodies.
    private let level: Int

    init(_ rules: RedactionRules, _ json: JSONRedaction, level: Int = 0) {
        self.rules = rules
        self.json = json
        self.level = level
        text = TextRedaction(rules)
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The body without secrets; `nil` if it cannot be parsed and may contain some.
    func body(_ bytes: [UInt8], contentType: String?) -> [UInt8]? {
        let type = MediaType(contentType)
        if let text = Self.wideText(bytes) {
            guard let redacted = body(Array(text.utf8), contentType: contentType) else {
                return nil
            }
            return redacted == Array(text.utf8) ? bytes : redacted
        }
        switch type {
        case .form: return form(bytes)
        case .json: return json.document(bytes)
        case .events: return events(bytes)
        case .lines: return lines(bytes)
        case .multipart(let boundary): return multipart(bytes, boundary)
        case .markup, .other: return recognized(bytes, type)
        }
    }

    /// A body whose content type says nothing about secrets.
    private func recognized(_ bytes: [UInt8], _ type: MediaType) -> [UInt8]? {
        let content = bytes.trimmingPrefix(Self.byteOrderMark).drop { $0.isJSONSpace || $0 == 0x1E }
        switch content.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if let document = json.document(bytes) { return document }
            if type == .markup { return bytes }
            if areDocuments(content) { return lines(bytes) }
            return text.containsName(content) ? nil : bytes
        case UInt8(ascii: "\""): return json.document(bytes) ?? bytes
        case UInt8(ascii: "-"):
            guard content.starts(with: "--".utf8), type != .markup,
                let end = content.firstIndex(where: { $0 == 0x0D || $0 == 0x0A })
            else { return bytes }
            let boundary = content[..<end].dropFirst(2)
            let head = content[end...].prefix(4096).map(\.asciiLowercase)
            guard !boundary.isEmpty, head.firstRange(of: "content-".utf8) != nil else {
                return bytes
            }
            return multipart(bytes, Array(boundary))
        default: break
        }
        if type == .markup { return bytes }
        let fields = ["data:", "event:", "id:", "retry:"]
        if fields.contains(where: { content.starts(with: $0.utf8) }) { return events(bytes) }
        return isForm(content) ? form(bytes) : bytes
    }

    // MARK: - Forms

    private func form(_ bytes: [UInt8]) -> [UInt8] {
        Array(text.pairs(String(decoding: bytes, as: UTF8.self), .form).utf8)
    }

    /// Whether all bytes may be those of a form, which begins with a name.
    private func isForm(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > bytes.startIndex,
            equals < bytes.index(before: bytes.endIndex), bytes[equals + 1] != UInt8(ascii: "=")
        else { return false }
        let line = bytes.reversed().drop { $0 == 0x0A || $0 == 0x0D }
        return line.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") }
    }

    // MARK: - Documents after one another

    /// JSON documents, each on a line or over several: JSON Lines, JSON sequences, and documents without separators.
    ///
    /// Other text is kept, unless it contains the name of a secret.
    private func lines(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        if rest.starts(with: Self.byteOrderMark) {
            result += Self.byteOrderMark
            rest = rest.dropFirst(3)
        }
        while let first = rest.first {
            if first.isJSONSpace || first == 0x1E {
                result.append(first)
                rest = rest.dropFirst()
                continue
            }
            let end = Self.endOfDocument(rest)
            let piece = Array(rest[..<end])
            rest = rest[end...]
            if let document = json.document(piece) {
                result += document
            } else if Self.opensDocument(first) || text.containsName(piece) {
                result += RedactionRules.placeholder.utf8
            } else {
                result += piece
            }
        }
        return result
    }

    /// Whether there are only JSON documents.
    private func areDocuments(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let first = rest.first {
            if first.isJSONSpace || first == 0x1E {
                rest = rest.dropFirst()
                continue
            }
            let end = Self.endOfDocument(rest)
            guard json.document(Array(rest[..<end])) != nil else { return false }
            rest = rest[end...]
        }
        return true
    }

    private static func opensDocument(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
    }

    /// The end of the object or array that the bytes begin with, or of the line; the end of the bytes if it is not
    /// closed.
    private static func endOfDocument(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first, opensDocument(first) else {
            return bytes.firstIndex { $0 == 0x0A || $0 == 0x0D || $0 == 0x1E } ?? bytes.endIndex
        }
        var depth = 0
        var isInString = false
        var isEscaped = false
        for index in bytes.indices {
            let byte = bytes[index]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return index + 1 }
            default: break
            }
        }
        return bytes.endIndex
    }

    // MARK: - Events

    private struct Line {
        var content: ArraySlice<UInt8>
        /// CR, LF, both, or nothing at the end of the body.
        var end: ArraySlice<UInt8>

        /// The value of a field `data`; `nil` for another line.
        var data: ArraySlice<UInt8>? {
            if content.elementsEqual("data".utf8) { return [] }
            return content.starts(with: "data:".utf8) ? content.dropFirst(5) : nil
        }
    }

    /// Server-sent events: the lines `data` of each event are one text.
    private func events(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        if rest.starts(with: Self.byteOrderMark) {
            result += Self.byteOrderMark
            rest = rest.dropFirst(3)
        }
        var event: [Line] = []
        while !rest.isEmpty {
            let end = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? rest.endIndex
            var next = end
            if next < rest.endIndex {
                next += rest[next...].starts(with: [0x0D, 0x0A]) ? 2 : 1
            }
            let line = Line(content: rest[..<end], end: rest[end..<next])
            rest = rest[next...]
            if line.content.isEmpty {
                result += redacted(event) + line.end
                event = []
            } else {
                event.append(line)
            }
        }
        return result + redacted(event)
    }

    private func redacted(_ event: [Line]) -> [UInt8] {
        let data = event.compactMap(\.data)
        var replacement: [[UInt8]]?
        if data.count > 1 {
            let joined = Array(data.joined(separator: [0x0A]))
            if let document = json.document(joined) {
                // White space between the values is not significant, so that one line is enough.
                replacement =
                    document == joined
                    ? data.map { Array($0) }
                    : [document] + Array(repeating: [], count: data.count - 1)
            }
        }
        let lines =
            replacement ?? data.map { dataLine($0) ?? Array(RedactionRules.placeholder.utf8) }
        // A document over several lines of which one is missing or damaged.
        let isBroken =
            replacement == nil && data.count > 1
            && data.contains { dataLine($0) == nil }
            && text.containsName(Array(data.joined(separator: [0x0A])))
        var number = 0
        var result: [UInt8] = []
        for line in event {
            guard let value = line.data else {
                result += Array(
                    text.pairs(String(decoding: line.content, as: UTF8.self), .text).utf8)
                result += line.end
                continue
            }
            defer { number += 1 }
            if isBroken {
                guard number == 0 else { continue }
                result += "data: \(RedactionRules.placeholder)".utf8
            } else if replacement != nil, number > 0, lines[number].isEmpty, !value.isEmpty {
                continue
            } else {
                let spaces = value.prefix { $0 == 0x20 }
                // A line without a colon has an empty value, and may get one.
                result +=
                    lines[number].isEmpty ? Array(line.content.prefix(5)) : Array("data:".utf8)
                result += lines[number].starts(with: spaces) ? [] : Array(spaces)
                result += lines[number]
            }
            result += line.end
        }
        return result
    }

    /// The text of a line; `nil` if it begins like JSON and cannot be parsed.
    private func dataLine(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        let content = value.drop { $0.isJSONSpace }
        guard let first = content.first else { return Array(value) }
        if let document = json.document(Array(content)) {
            return Array(value[..<content.startIndex]) + document
        }
        if Self.opensDocument(first) { return nil }
        return Array(text.text(String(decoding: value, as: UTF8.self)).utf8)
    }

    // MARK: - Multipart

    /// The parts of a multipart body (RFC 2046 §5.1), each redacted by its name and content.
    private func multipart(_ bytes: [UInt8], _ boundary: [UInt8]) -> [UInt8]? {
        let delimiter = Array("--".utf8) + boundary
        guard level < TextRedaction.maximumLevel, !boundary.isEmpty,
            bytes.firstRange(of: delimiter) != nil
        else { return text.containsName(bytes) ? nil : bytes }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let place = rest.firstRange(of: delimiter) {
            guard let part = part(rest[..<place.lowerBound], isPreamble: result.isEmpty) else {
                return nil
            }
            result += part + delimiter
            rest = rest[place.upperBound...]
        }
        return text.containsName(rest) ? result : result + rest
    }

    /// A part, from the end of a delimiter to the next one; `nil` if it may contain secrets.
    private func part(_ bytes: ArraySlice<UInt8>, isPreamble: Bool) -> [UInt8]? {
        if isPreamble { return text.containsName(bytes) ? [] : Array(bytes) }
        // The header section ends at an empty line.
        let crlf = bytes.firstRange(of: "\r\n\r\n".utf8)
        let lf = bytes.firstRange(of: "\n\n".utf8)
        guard let gap = [crlf, lf].compactMap(\.self).min(by: { $0.lowerBound < $1.lowerBound })
        else { return text.containsName(bytes) ? nil : Array(bytes) }
        var content = bytes[gap.upperBound...]
        let end = content.suffix(content.ends(with: "\r\n".utf8) ? 2 : content.last == 0x0A ? 1 : 0)
        content = content.dropLast(end.count)
        var type: String?
        var isSecret = false
        var head: [String] = []
        for line in String(decoding: bytes[..<gap.lowerBound], as: UTF8.self).pieces(
            at: "\n", keepingEmpty: true)
        {
            guard let colon = line.firstIndex(ofByte: ":") else {
                head.append(String(line))
                continue
            }
            let name = line[..<colon].trimmingBlanks().lowercasedASCII()
            let value = String(line[line.utf8.index(after: colon)...])
            if name == "content-type" { type = String(value[...].trimmingBlanks()) }
            if name == "content-disposition" {
                isSecret = isSecret || Self.names(in: value).contains { rules.isSecret(name: $0) }
            }
            head.append(line[..<colon] + ":" + rules.header(name, value))
        }
        let body: [UInt8]?
        if isSecret {
            body = Array(RedactionRules.placeholder.utf8)
        } else {
            body = BodyRedaction(rules, json, level: level + 1).body(
                Array(content), contentType: type)
        }
        let shown = body ?? Array(RedactionRules.placeholder.utf8)
        return Array(head.joined(separator: "\n").utf8) + bytes[gap] + shown + end
    }

    /// The values of the parameters `name` and `name*`.
    private static func names(in disposition: String) -> [String] {
        disposition.pieces(at: ";").compactMap { parameter in
            let pair = parameter.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
            guard pair.count == 2,
                pair[0].trimmingBlanks().lowercasedASCII().starts(withBytes: "name")
            else { return nil }
            let value = pair[1].utf8.filter { $0 != UInt8(ascii: "\"") && $0 > 0x20 }
            return String(decoding: PercentEncoding.decode(value), as: UTF8.self)
        }
    }

    // MARK: - Other encodings

    /// The text of a body in UTF-16 or UTF-32, which JSON and text can have; `nil` for others.
    private static func wideText(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 4, bytes.count % 2 == 0 else { return nil }
        let encoding: String.Encoding
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0xFF, 0xFE, 0, 0), (0, 0, 0xFE, 0xFF): encoding = .utf32
        case (0xFF, 0xFE, _, _), (0xFE, 0xFF, _, _): encoding = .utf16
        case (0, 0, 0, 1...0x7F): encoding = .utf32BigEndian
        case (1...0x7F, 0, 0, 0): encoding = .utf32LittleEndian
        case (0, 1...0x7F, 0, 1...0x7F): encoding = .utf16BigEndian
        case (1...0x7F, 0, 1...0x7F, 0): encoding = .utf16LittleEndian
        default: return nil
        }
        return String(data: Data(bytes), encoding: encoding)
    }
}

extension BidirectionalCollection<UInt8> {
    fileprivate func ends(with bytes: some BidirectionalCollection<UInt8>) -> Bool {
        reversed().starts(with: bytes.reversed())
    }
}

/// The formats that a content type names.
private enum MediaType: Equatable {
    case form, json, events
    /// JSON documents after one another: JSON Lines and JSON sequences.
    case lines
    case multipart([UInt8])
    /// HTML, XML and scripts, which are not JSON even if they begin like it.
    case markup
    case other

    init(_ contentType: String?) {
        let essence = contentType?.prefix(upToByte: ";").trimmingBlanks().lowercasedASCII() ?? ""
        switch essence {
        case "application/x-www-form-urlencoded": self = .form
        case "text/event-stream": self = .events
        case "application/x-ndjson", "application/ndjson", "application/jsonl",
            "application/json-seq", "application/jsonlines", "application/x-jsonlines":
            self = .lines
        case "text/html", "text/xml", "application/xml", "text/css", "text/javascript",
            "application/javascript":
            self = .markup
        case let type where type.ends(withBytes: "+xml"): self = .markup
        case let type where type.ends(withBytes: "/json") || type.ends(withBytes: "+json"):
            self = .json
        case let type where type.starts(withBytes: "multipart/"):
            self = .multipart(Self.boundary(contentType ?? ""))
        default: self = .other
        }
    }

    private static func boundary(_ contentType: String) -> [UInt8] {
        for parameter in contentType.pieces(at: ";").dropFirst() {
            let pair = parameter.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
            guard pair.count == 2, pair[0].trimmingBlanks().lowercasedASCII() == "boundary" else {
                continue
            }
            return pair[1].trimmingBlanks().utf8.filter { $0 != UInt8(ascii: "\"") }
        }
        return []
    }
}
