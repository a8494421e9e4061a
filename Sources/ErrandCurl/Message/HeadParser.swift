import ErrandSystem
package import ErrandTransport
package import HTTPTypes

/// Parses a complete head, from the status line to the blank line.
///
/// The parser is tolerant where that is harmless: LF alone, no space after the colon, no reason
/// phrase, folded lines, Latin-1 values, and names that are not tokens, which are ignored. It is
/// strict where an error would change the end of the body or hide a field.
package struct HeadParser {
    /// A parsed head.
    package struct Head: Sendable {
        package var status: HTTPResponse.Status
        package var version: HTTPVersion
        package var fields = HTTPFields()
        package var framing = BodyFraming()
        package var connection = ConnectionOptions()
        /// The time of ``KeepAlive``; here, because heads are cached.
        var idleNanoseconds: UInt64?
        /// Whether the head contains secrets, so that it is not cached.
        var containsSecrets = false
        /// The decoded size of a head of HTTP/2, with 32 bytes for each field (RFC 9113 §10.5.1).
        var size = 0

        /// Whether the connection may carry another request after this response (RFC 9112 §9.3).
        ///
        /// An HTTP/1.0 server does not know transfer codings, so one that announces them is not
        /// trusted with the end of its response (RFC 9112 §6.1). Transfer-Encoding without chunked
        /// means that the body ends with the connection (RFC 9112 §6.3).
        package var keepsConnection: Bool {
            if connection.hasClose { return false }
            if framing.namesTransferCoding, !framing.isChunked { return false }
            return version == .http10
                ? connection.hasKeepAlive && !framing.namesTransferCoding : true
        }
    }

    /// The maximum number of fields, far above common use and far below that of `HTTPFields`.
    package static let maximumFields = 10_000

    /// The maximum number of interim responses before the final one, far above common use.
    package static let maximumInterim = 64

    /// Parses a head, whose last line must be blank.
    package static func head(
        in bytes: UnsafeRawBufferPointer, cache: inout FieldCache
    ) throws(HeadParseError) -> Head {
        var lines = LineReader(bytes)
        guard let first = lines.next() else { throw HeadParseError("The head is empty.") }
        let (status, version) = try statusLine(first)
        var head = Head(status: status, version: version)
        var body: BodyFraming? = BodyFraming()
        head.containsSecrets = try read(
            from: &lines, cache: &cache, into: &head.fields, framing: &body,
            connection: &head.connection)
        if let body { head.framing = body }
        head.idleNanoseconds = KeepAlive.idleNanoseconds(of: head.fields)
        guard !head.framing.isAmbiguous else {
            throw HeadParseError("It announces both a length and chunked coding.")
        }
        return head
    }

    /// Parses trailer fields and ignores framing fields among them (RFC 9110 §6.5.1).
    package static func trailers(
        in bytes: UnsafeRawBufferPointer, cache: inout FieldCache
    ) throws(HeadParseError) -> HTTPFields {
        var lines = LineReader(bytes)
        var fields = HTTPFields()
        var ignored: BodyFraming?
        var connection = ConnectionOptions()
        _ = try read(
            from: &lines, cache: &cache, into: &fields, framing: &ignored, connection: &connection)
        return fields
    }

    /// Parses fields; returns whether they contain a secret.
    private static func read(
        from lines: inout LineReader, cache: inout FieldCache, into fields: inout HTTPFields,
        framing: inout BodyFraming?, connection: inout ConnectionOptions
    ) throws(HeadParseError) -> Bool {
        var count = 0
        var containsSecrets = false
        fields.reserveCapacity(12)
        while let line = lines.next(), !line.isEmpty {
            guard line[0] != 0x20, line[0] != 0x09 else {
                throw .beginsFolded
            }
            count += 1
            guard count <= maximumFields else {
                throw HeadParseError("There are more than \(maximumFields) header fields.")
            }
            let found: (field: HTTPField, meaning: FieldCache.Meaning)?
            let isFolded = lines.isFolded
            if isFolded {
                let whole = lines.unfold(line)
                found = try whole.withUnsafeBufferPointer { bytes throws(HeadParseError) in
                    try cache.field(in: UnsafeRawBufferPointer(bytes))
                }
            } else {
                found = try cache.field(in: line)
            }
            guard let found else { continue }
            // libcurl determines the end of the body itself, and it reads only the first line of a
            // folded field.
            if found.meaning.isFraming, framing != nil, isFolded {
                throw HeadParseError("A field that determines the end of the body is folded.")
            }
            if found.meaning != .ordinary {
                if found.meaning == .secret { containsSecrets = true }
                guard framing != nil else {
                    if !found.meaning.isFraming { fields.append(found.field) }
                    continue
                }
                if found.meaning == .connection { connection.add(found.field) }
                try framing?.add(found.field, meaning: found.meaning)
            }
            fields.append(found.field)
        }
        return containsSecrets
    }

    private static func statusLine(
        _ line: UnsafeRawBufferPointer
    ) throws(HeadParseError) -> (HTTPResponse.Status, HTTPVersion) {
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
            throw HeadParseError("The status is not a number of three digits.")
        }
        if code == 200, line.count - index <= 3 { return (.ok, version) }
        var reason = line[index...]
        while let byte = reason.first, byte == 0x20 { reason.removeFirst() }
        return (
            HTTPResponse.Status(
                code: code, reasonPhrase: String(decoding: reason, as: UTF8.self)), version
        )
    }

    private static func version(
        _ text: UnsafeRawBufferPointer
    ) throws(HeadParseError) -> HTTPVersion {
        guard text.count >= 6, text.starts(with: "HTTP/".utf8) else {
            throw HeadParseError("It does not begin with a status line.")
        }
        switch (text.count, text[5], text.count > 7 ? text[7] : 0x30) {
        case (8, 0x31, 0x31) where text[6] == 0x2E: return .http11
        case (8, 0x31, 0x30) where text[6] == 0x2E: return .http10
        case (6, 0x32, _), (8, 0x32, 0x30): return .http2
        case (6, 0x33, _), (8, 0x33, 0x30): return .http3
        default: throw HeadParseError("Its HTTP version is unknown.")
        }
    }
}

/// Splits bytes into lines that end with LF or CRLF.
private struct LineReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether the line after the current one continues it.
    var isFolded: Bool {
        position < bytes.count && (bytes[position] == 0x20 || bytes[position] == 0x09)
    }

    /// Returns the next line without its end.
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

    /// Joins a line and its continuation lines with single spaces (RFC 9112 §5.2).
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
