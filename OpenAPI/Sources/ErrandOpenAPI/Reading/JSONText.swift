/// A reader of JSON (RFC 8259) that keeps lines.
struct JSONText {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var depth = 0
    /// The keys that occur twice in an object, with their lines.
    private(set) var repeatedKeys: [(key: String, line: Int)] = []

    /// A fault, with its line.
    struct Fault: Error {
        var line: Int
        var message: String
    }

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Reads the whole text as one value.
    mutating func read() throws(Fault) -> Node {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value()
        skipSpace()
        guard position == bytes.count else { throw fault("There is text after the document.") }
        return value
    }

    private func fault(_ message: String) -> Fault { Fault(line: line, message: message) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return
            }
            position += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Fault) -> Node {
        skipSpace()
        depth += 1
        defer { depth -= 1 }
        guard depth < 512 else { throw fault("Values are nested more than 512 levels deep.") }
        let line = line
        switch next {
        case UInt8(ascii: "{"): return Node(value: .object(try object()), line: line)
        case UInt8(ascii: "["): return Node(value: .array(try array()), line: line)
        case UInt8(ascii: "\""): return Node(value: .string(try string()), line: line)
        case UInt8(ascii: "t") where takeWord("true"): return Node(value: .bool(true), line: line)
        case UInt8(ascii: "f") where takeWord("false"): return Node(value: .bool(false), line: line)
        case UInt8(ascii: "n") where takeWord("null"): return Node(value: .null, line: line)
        case nil: throw fault("The document ends within a value.")
        default: return Node(value: .number(try number()), line: line)
        }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let text = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[position...].starts(with: text) else { return false }
        position += text.count
        return true
    }

    private mutating func object() throws(Fault) -> Node.Members {
        position += 1
        var members = Node.Members()
        if take("}") { return members }
        repeat {
            skipSpace()
            let line = line
            guard next == UInt8(ascii: "\"") else { throw fault("A key must be a string.") }
            let key = try string()
            guard take(":") else { throw fault("A colon is missing after the key \"\(key)\".") }
            var value = try value()
            // The line of a member is that of its key, as in YAML.
            value.line = line
            if !members.set(value, for: key) { repeatedKeys.append((key, line)) }
        } while take(",")
        guard take("}") else { throw fault("A comma or a closing brace is missing.") }
        return members
    }

    private mutating func array() throws(Fault) -> [Node] {
        position += 1
        var items: [Node] = []
        if take("]") { return items }
        repeat { items.append(try value()) } while take(",")
        guard take("]") else { throw fault("A comma or a closing bracket is missing.") }
        return items
    }

    private mutating func number() throws(Fault) -> String {
        let start = position
        while let byte = next, Self.isOfNumber(byte) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard position > start, Double(text) != nil else { throw fault("This is not JSON.") }
        return text
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || [
                UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"),
            ]
            .contains(byte)
    }

    private mutating func string() throws(Fault) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw fault("A string contains a control character.")
            default: text.append(byte)
            }
        }
        throw fault("The document ends within a string.")
    }

    private mutating func escape(into text: inout [UInt8]) throws(Fault) {
        guard let byte = next else { throw fault("The document ends within a string.") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "u"):
            var units = [try codeUnit()]
            if UTF16.isLeadSurrogate(units[0]), next == UInt8(ascii: "\\"),
                position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                units.append(try codeUnit())
            }
            text += Array(String(decoding: units, as: UTF16.self).utf8)
        default: throw fault("A string contains an unknown escape.")
        }
    }

    private mutating func codeUnit() throws(Fault) -> UInt16 {
        let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16) else {
            throw fault("An escape needs four hexadecimal digits.")
        }
        position += 4
        return unit
    }
}
