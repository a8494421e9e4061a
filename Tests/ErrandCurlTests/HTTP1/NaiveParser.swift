@testable import ErrandCurl

/// A second parser of responses, written for comparison: it has all bytes at once, followed by the
/// end of the connection, and shares no code with `ResponseParser`.
struct NaiveParser {
    /// The result, with the faults of heads and trailers reduced to one.
    struct Result: Equatable, CustomStringConvertible {
        var heads: [String] = []
        var body: [UInt8] = []
        var trailers: [String] = []
        var outcome = "incomplete"
        /// The bytes after a 101 response, which belong to the other protocol.
        var rest: [UInt8] = []
        /// The number of bytes of complete heads and trailers within the limit.
        var headBytes = 0

        var description: String {
            "\(heads) \(String(decoding: body, as: UTF8.self)) \(trailers) \(outcome) "
                + "\(rest.count) \(headBytes)"
        }
    }

    private struct Failure: Error {
        let outcome: String
        init(_ outcome: String) { self.outcome = outcome }
    }

    private struct Head {
        var status = 0
        var version = ""
        var fields: [(name: String, value: [UInt8])] = []
        var length: Int64?
        var isChunked = false
        var namesCoding = false
        var options: [[UInt8]] = []
    }

    private let bytes: [UInt8]
    private let isHead: Bool
    private let acceptsUpgrade: Bool
    private let limit: Int
    private var position = 0
    /// The rest of the limit for heads, and that for chunk extensions.
    private var headLimit: Int
    private var extensionLimit: Int
    private var result = Result()

    private init(_ bytes: [UInt8], isHead: Bool, acceptsUpgrade: Bool, limit: Int) {
        self.bytes = bytes
        self.isHead = isHead
        self.acceptsUpgrade = acceptsUpgrade
        self.limit = limit
        headLimit = limit
        extensionLimit = limit
    }

    static func parse(
        _ bytes: [UInt8], isHead: Bool, acceptsUpgrade: Bool = false, limit: Int = 1 << 16
    ) -> Result {
        var parser = NaiveParser(
            bytes, isHead: isHead, acceptsUpgrade: acceptsUpgrade, limit: limit)
        do {
            try parser.run()
        } catch let failure as Failure {
            parser.result.outcome = failure.outcome
        } catch {
            parser.result.outcome = "\(error)"
        }
        return parser.result
    }

    private var rest: ArraySlice<UInt8> { bytes[position...] }

    private mutating func run() throws {
        var head = Head()
        repeat { head = try nextHead() } while head.status < 200 && head.status != 101
        if head.status == 101 {
            result.outcome = "switched"
            result.rest = Array(rest)
            return
        }
        var keeps =
            head.version == "HTTP/1.1"
            || head.options.contains(Array("keep-alive".utf8)) && !head.namesCoding
        if head.options.contains(Array("close".utf8)) { keeps = false }
        if head.namesCoding, !head.isChunked { keeps = false }
        if isHead || head.status == 204 || head.status == 304 {
        } else if head.isChunked {
            try readChunks()
        } else if let length = head.length {
            result.body = Array(rest.prefix(Int(clamping: length)))
            guard Int64(rest.count) >= length else { throw Failure("truncatedBody") }
            position += Int(length)
        } else {
            result.body = Array(rest)
            position = bytes.count
            keeps = false
        }
        result.outcome = keeps && rest.isEmpty ? "keeps" : "closes"
    }

    // MARK: - Heads

    /// The lines up to the next blank line, without their ends; `nil` if there is none.
    ///
    /// Fails if the lines exceed the limit, which this call reduces.
    private mutating func section(limit: inout Int) throws -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        for index in position..<bytes.count {
            guard bytes[index] == 0x0A else {
                line.append(bytes[index])
                continue
            }
            if line.last == 0x0D { line.removeLast() }
            if line.isEmpty {
                let count = index + 1 - position
                guard count <= limit else { throw Failure("head") }
                limit -= count
                result.headBytes += count
                position += count
                return lines
            }
            lines.append(line)
            line = []
        }
        guard rest.count <= limit else { throw Failure("head") }
        return nil
    }

    private mutating func nextHead() throws -> Head {
        let start = Array(rest.prefix(min(5, headLimit)))
        guard !bytes.isEmpty else { throw Failure("noResponse") }
        guard Array("HTTP/".utf8).starts(with: start) else { throw Failure("notHTTP") }
        var limit = headLimit
        guard var lines = try section(limit: &limit) else { throw Failure("truncatedHead") }
        headLimit = limit
        var head = Head()
        let words = lines.removeFirst().split(
            separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        head.version = String(decoding: words[0], as: UTF8.self)
        guard ["HTTP/1.1", "HTTP/1.0"].contains(head.version) else { throw Failure("head") }
        let code = (words.count > 1 ? words[1] : []).drop { $0 == 0x20 }.prefix { $0 != 0x20 }
        guard code.count == 3, code.allSatisfy(Self.isDigit), code.first != 0x30 else {
            throw Failure("head")
        }
        head.status = Int(String(decoding: code, as: UTF8.self)) ?? 0
        try addFields(lines, to: &head, isTrailer: false)
        if head.isChunked && head.length != nil { throw Failure("head") }
        if head.status == 101 && !acceptsUpgrade { throw Failure("head") }
        if head.status < 200 && result.heads.count >= 64 { throw Failure("head") }
        let fields = head.fields.map { "\($0.name)=\($0.value)" }
        result.heads.append(([String(head.status), head.version] + fields).joined(separator: "|"))
        return head
    }

    private func addFields(_ lines: [[UInt8]], to head: inout Head, isTrailer: Bool) throws {
        var fields: [(line: [UInt8], isFolded: Bool)] = []
        for line in lines {
            guard line[0] == 0x20 || line[0] == 0x09 else {
                fields.append((line, false))
                continue
            }
            guard let last = fields.popLast() else { throw Failure("head") }
            fields.append((last.line + [0x20] + Self.trimmed(line, endToo: false), true))
        }
        for (line, isFolded) in fields {
            guard !line.contains(0), !line.contains(0x0D),
                let colon = line.firstIndex(of: UInt8(ascii: ":"))
            else { throw Failure("head") }
            if colon > 0, Self.isSpace(line[colon - 1]) { throw Failure("head") }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = Self.trimmed(Array(line[(colon + 1)...]), endToo: true)
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
                let letters = name.unicodeScalars.filter {
                    "abcdefghijklmnopqrstuvwxyz-".unicodeScalars.contains($0)
                        || "ABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars.contains($0)
                }
                let text = String(String.UnicodeScalarView(letters)).lowercased()
                if text == "content-length" || text == "transfer-encoding" { throw Failure("head") }
                continue
            }
            let isFraming = ["content-length", "transfer-encoding"].contains(name.lowercased())
            if isFraming, isTrailer { continue }
            if isFraming, isFolded { throw Failure("head") }
            try interpret(name.lowercased(), value, &head)
            head.fields.append((name, value))
        }
    }

    private func interpret(_ name: String, _ value: [UInt8], _ head: inout Head) throws {
        let parts = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { Self.trimmed(Array($0), endToo: true) }
        let tokens = parts.map { $0.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
        switch name {
        case "content-length":
            for part in parts {
                guard !part.isEmpty, part.allSatisfy(Self.isDigit),
                    let length = Int64(String(decoding: part, as: UTF8.self)),
                    head.length == nil || head.length == length
                else { throw Failure("head") }
                head.length = length
            }
        case "transfer-encoding":
            head.namesCoding = true
            for token in tokens where !token.isEmpty {
                if token == Array("identity".utf8), !head.isChunked { continue }
                guard token == Array("chunked".utf8), !head.isChunked else {
                    throw Failure("head")
                }
                head.isChunked = true
            }
        case "connection": head.options += tokens
        default: break
        }
    }

    // MARK: - Chunks

    private mutating func readChunks() throws {
        while true {
            let line = Array(rest.prefix { $0 != 0x0D })
            let isWhole = line.count < rest.count
            guard let size = Self.chunkSize(line, isWhole: isWhole),
                isWithinLimit(extensionIn: line)
            else { throw Failure("malformedChunk") }
            position += line.count
            try expect(0x0D)
            try expect(0x0A)
            if size == 0 { break }
            let part = rest.prefix(Int(clamping: size))
            result.body += part
            position += part.count
            try expect(0x0D)
            try expect(0x0A)
        }
        var limit = limit
        guard let lines = try section(limit: &limit) else { throw Failure("truncatedBody") }
        var head = Head()
        try addFields(lines, to: &head, isTrailer: true)
        result.trailers = head.fields.map { "\($0.name)=\($0.value)" }
    }

    /// Whether the white space and the extensions of a chunk's line, without the first semicolon,
    /// are within the limit, which this call reduces.
    private mutating func isWithinLimit(extensionIn line: [UInt8]) -> Bool {
        let rest = line.drop { $0 != 0x3B && !Self.isSpace($0) }
        extensionLimit -= rest.count - (rest.contains(0x3B) ? 1 : 0)
        return extensionLimit >= 0
    }

    private mutating func expect(_ byte: UInt8) throws {
        guard let next = rest.first else { throw Failure("truncatedBody") }
        guard next == byte else { throw Failure("malformedChunk") }
        position += 1
    }

    /// The size in a line, or 0 in an incomplete line that may become valid; `nil` if the line is
    /// malformed.
    private static func chunkSize(_ line: [UInt8], isWhole: Bool) -> Int64? {
        let digits = line.prefix { byte in
            isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
        }
        let after = line[digits.count...].drop(while: isSpace)
        let isSeparated = after.isEmpty || after.first == UInt8(ascii: ";")
        guard isSeparated, after.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            digits.count <= 16, !digits.isEmpty || line.isEmpty && !isWhole
        else { return nil }
        return digits.isEmpty ? 0 : Int64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: - Bytes

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func trimmed(_ bytes: [UInt8], endToo: Bool) -> [UInt8] {
        var bytes = bytes[...].drop(while: isSpace)
        while endToo, let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return Array(bytes)
    }
}
