package import ErrandCore
import Foundation
package import HTTPTypes

/// Reads a complete head, from the status line to the blank line, out of its bytes.
///
/// Tolerant where nothing is at stake (LF alone, no space behind the colon, no reason, folded lines, Latin-1
/// values, names that are no tokens, which are left out), strict where a mistake would change where the body
/// ends or hide something.
package struct HeadParser {
    /// A head as it was read.
    package struct Head: Sendable {
        package var status: HTTPResponse.Status
        package var version: HTTPVersion
        package var fields = HTTPFields()
        package var framing = BodyFraming()
        /// Whether a field is among them that is not kept longer than its answer.
        var holdsSecrets = false
    }

    /// More fields than anybody needs, and far fewer than `HTTPFields` takes.
    package static let maximumFields = 10_000

    /// Reads a head.
    ///
    /// The last line must be the blank one.
    package static func head(
        in bytes: UnsafeRawBufferPointer, cache: inout FieldCache
    ) throws(HeadFault) -> Head {
        var lines = LineReader(bytes)
        guard let first = lines.next() else { throw HeadFault("The head is empty.") }
        let (status, version) = try statusLine(first)
        var head = Head(status: status, version: version)
        head.holdsSecrets = try fields(
            from: &lines, cache: &cache, into: &head.fields, framing: &head.framing)
        if head.version == .http10, head.framing.isChunked, head.framing.contentLength != nil {
            throw HeadFault("An HTTP/1.0 answer announces both a length and chunks.")
        }
        return head
    }

    /// Reads trailer fields; framing fields among them are left out (RFC 9110 §6.5.1).
    package static func trailers(
        in bytes: UnsafeRawBufferPointer, cache: inout FieldCache
    ) throws(HeadFault) -> HTTPFields {
        var lines = LineReader(bytes)
        var fields = HTTPFields()
        var ignored: BodyFraming?
        _ = try read(from: &lines, cache: &cache, into: &fields, framing: &ignored)
        return fields
    }

    private static func fields(
        from lines: inout LineReader, cache: inout FieldCache, into fields: inout HTTPFields,
        framing: inout BodyFraming
    ) throws(HeadFault) -> Bool {
        var wanted: BodyFraming? = framing
        let holdsSecrets = try read(
            from: &lines, cache: &cache, into: &fields, framing: &wanted)
        if let wanted { framing = wanted }
        return holdsSecrets
    }

    /// Returns whether a secret is among the fields.
    private static func read(
        from lines: inout LineReader, cache: inout FieldCache, into fields: inout HTTPFields,
        framing: inout BodyFraming?
    ) throws(HeadFault) -> Bool {
        var count = 0
        var holdsSecrets = false
        fields.reserveCapacity(12)
        while let line = lines.next(), !line.isEmpty {
            guard line[0] != 0x20, line[0] != 0x09 else {
                throw .beginsFolded
            }
            count += 1
            guard count <= maximumFields else {
                throw HeadFault("There are more than \(maximumFields) header fields.")
            }
            let found: (field: HTTPField, meaning: FieldCache.Meaning)?
            let isFolded = lines.isFolded
            if isFolded {
                let whole = lines.unfold(line)
                found = try whole.withUnsafeBufferPointer { bytes throws(HeadFault) in
                    try cache.field(in: UnsafeRawBufferPointer(bytes))
                }
            } else {
                found = try cache.field(in: line)
            }
            guard let found else { continue }
            // libcurl, which counts the body's bytes, reads the first line alone.
            if found.meaning.isFraming, framing != nil, isFolded {
                throw HeadFault("A field that says where the body ends is folded.")
            }
            if found.meaning != .ordinary {
                if found.meaning == .secret { holdsSecrets = true }
                guard framing != nil else {
                    if !found.meaning.isFraming { fields.append(found.field) }
                    continue
                }
                try framing?.add(found.field, meaning: found.meaning)
            }
            fields.append(found.field)
        }
        return holdsSecrets
    }

    private static func statusLine(
        _ line: UnsafeRawBufferPointer
    ) throws(HeadFault) -> (HTTPResponse.Status, HTTPVersion) {
        let versionEnd = line.firstIndex(of: 0x20) ?? line.count
        let version = try version(UnsafeRawBufferPointer(rebasing: line[..<versionEnd]))
        var index = versionEnd
        while index < line.count, line[index] == 0x20 { index += 1 }
        var code = 0
        var digits = 0
        while index < line.count, (0x30...0x39).contains(line[index]), digits < 4 {
            code = code * 10 + Int(line[index] - 0x30)
            digits += 1
            index += 1
        }
        guard digits == 3, code >= 100, index == line.count || line[index] == 0x20 else {
            throw HeadFault("The status is not a number of three digits.")
        }
        if code == 200, line.count - index <= 3 { return (.ok, version) }
        var reason = line[index...]
        while let byte = reason.first, byte == 0x20 { reason.removeFirst() }
        return (
            HTTPResponse.Status(
                code: code, reasonPhrase: String(decoding: reason, as: UTF8.self)), version
        )
    }

    private static func version(_ text: UnsafeRawBufferPointer) throws(HeadFault) -> HTTPVersion {
        guard text.count >= 6, text.starts(with: "HTTP/".utf8) else {
            throw HeadFault("The answer does not begin with a status line.")
        }
        switch (text.count, text[5], text.count > 7 ? text[7] : 0x30) {
        case (8, 0x31, 0x31) where text[6] == 0x2E: return .http11
        case (8, 0x31, 0x30) where text[6] == 0x2E: return .http10
        case (6, 0x32, _), (8, 0x32, 0x30): return .http2
        case (6, 0x33, _), (8, 0x33, 0x30): return .http3
        default: throw HeadFault("The answer is in a version of HTTP that does not exist.")
        }
    }
}

/// Goes from line to line, LF with or without CR before it.
private struct LineReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether the line behind the one just read belongs to it.
    var isFolded: Bool {
        position < bytes.count && (bytes[position] == 0x20 || bytes[position] == 0x09)
    }

    /// The next line without its end.
    mutating func next() -> UnsafeRawBufferPointer? {
        guard position < bytes.count, let start = bytes.baseAddress else { return nil }
        let rest = bytes.count - position
        var end = bytes.count
        if let found = memchr(start + position, 0x0A, rest) {
            end = UnsafeRawPointer(found) - start
        }
        let first = position
        position = min(end + 1, bytes.count)
        if end > first, bytes[end - 1] == 0x0D { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[first..<end])
    }

    /// A line and all lines folded under it, joined by single spaces (RFC 9112 §5.2).
    mutating func unfold(_ line: UnsafeRawBufferPointer) -> [UInt8] {
        var whole = Array(line)
        while isFolded, let more = next() {
            let text = more.drop { $0 == 0x20 || $0 == 0x09 }
            whole.append(0x20)
            whole.append(contentsOf: text)
        }
        return whole
    }
}
