// Performance annotations: decision 17.

/// Parses a document into a tape in one pass, without recursion.
///
/// The hot loop works on local pointers only. On an error it stops at the position, and
/// `TapeParser+Faults` determines the kind of error.
struct TapeParser {
    typealias Bytes = Scan.Bytes

    let start: Bytes
    let end: Bytes
    let maximumDepth: Int

    /// The next byte to read.
    private var next: Bytes
    /// The tape's words, the next word to write, and the end of the allocated words.
    private(set) var words: UnsafeMutablePointer<UInt64>
    private var free: UnsafeMutablePointer<UInt64>
    private var limit: UnsafeMutablePointer<UInt64>
    /// The index, the number of values and the depth of the innermost open container.
    private var open = 0
    private var count = 0
    private var depth = 0
    private var isObject = false
    /// The token that the parser expected when it failed.
    private(set) var expectation = Expectation.value

    enum Expectation { case value, key, colon, separator, end }

    /// Creates a parser for `count` bytes, which must be followed by `Tape.padding` zero bytes.
    init(bytes: Bytes, count: Int, maximumDepth: Int) {
        start = bytes
        end = bytes + count
        // At greater depths the number of words could exceed the range of an index.
        self.maximumDepth = min(maximumDepth, 1 << 30)
        next = bytes
        let capacity = count / 4 + 16
        words = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
        free = words
        limit = words + capacity
        free.pointee = Word.make(.absent, length: 0, offset: 0)
        free += 1
    }

    /// The number of words written.
    var wordCount: Int { free - words }
    /// The parser's position; after an error, at the error or shortly before it.
    var position: Bytes { next }
    /// Whether the innermost open container exceeds the maximum depth.
    var isTooDeep: Bool { depth > maximumDepth }

    /// Writes the null that follows every tape; `wordCount` does not include it.
    mutating func finish() {
        reserve()
        free.pointee = Word.make(.null, length: 0, offset: 0)
    }

    /// Parses the document; false if it is invalid.
    mutating func run() -> Bool {
        if end - start >= 3, start[0] == 0xEF, start[1] == 0xBB, start[2] == 0xBF { next += 3 }
        next = Scan.pastSpace(next)
        while value() {
            while true {
                if depth == 0 {
                    next = Scan.pastSpace(next)
                    if next == end { return true }
                    expectation = .end
                    return false
                }
                next = Scan.pastSpace(next)
                let byte = next.pointee
                if byte == UInt8(ascii: ",") {
                    next = Scan.pastSpace(next + 1)
                    if isObject, !key() { return false }
                    break
                }
                guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    expectation = .separator
                    return false
                }
                next += 1
                close()
            }
        }
        return false
    }

    /// Parses a scalar or an empty container, or opens containers up to their first scalar.
    @inline(__always)
    private mutating func value() -> Bool {
        while true {
            reserve()
            switch next.pointee {
            case UInt8(ascii: "\""):
                return string()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                return number()
            case UInt8(ascii: "{"):
                push(.object)
                if depth > maximumDepth { return false }
                next = Scan.pastSpace(next + 1)
                if next.pointee == UInt8(ascii: "}") {
                    next += 1
                    close()
                    return true
                }
                if !key() { return false }
            case UInt8(ascii: "["):
                push(.array)
                if depth > maximumDepth { return false }
                next = Scan.pastSpace(next + 1)
                if next.pointee == UInt8(ascii: "]") {
                    next += 1
                    close()
                    return true
                }
            case UInt8(ascii: "t"):
                return literal(0x6575_7274, skip: 0, length: 4, .true)
            case UInt8(ascii: "f"):
                return literal(0x6573_6C61, skip: 1, length: 5, .false)
            case UInt8(ascii: "n"):
                return literal(0x6C6C_756E, skip: 0, length: 4, .null)
            default:
                return false
            }
        }
    }

    // MARK: - Containers

    private mutating func push(_ kind: Word.Kind) {
        free[0] = Word.make(kind, length: 0, offset: next - start)
        // While a container is open, its second word stores its parent's state.
        free[1] = Word.extent(count: count, end: open)
        open = free - words
        free += 2
        count = 0
        depth += 1
        isObject = kind == .object
    }

    private mutating func close() {
        let container = words + open
        let parent = container[1]
        container[1] = Word.extent(count: count, end: free - words)
        count = Word.count(parent) &+ 1
        open = Word.end(parent)
        depth -= 1
        isObject = words[open] >> 60 == Word.Kind.object.rawValue
    }

    /// Ensures capacity for a key and the two words of a container.
    private mutating func reserve() {
        if limit - free < 4 { grow() }
    }

    @inline(never)
    private mutating func grow() {
        let used = free - words
        let capacity = (limit - words) * 2
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
        larger.update(from: words, count: used)
        words.deallocate()
        words = larger
        free = larger + used
        limit = larger + capacity
    }

    // MARK: - Scalars

    /// Parses a key, its colon and the white space after it.
    @inline(__always)
    private mutating func key() -> Bool {
        guard next.pointee == UInt8(ascii: "\""), string(isKey: true) else {
            expectation = .key
            return false
        }
        count &-= 1
        next = Scan.pastSpace(next)
        guard next.pointee == UInt8(ascii: ":") else {
            expectation = .colon
            return false
        }
        next = Scan.pastSpace(next + 1)
        return true
    }

    @inline(__always)
    private mutating func string(isKey: Bool = false) -> Bool {
        let text = next + 1
        var past = text
        var kind = Word.Kind.string
        while true {
            let length = Scan.plainText(past)
            past += length
            if length < 8 { break }
        }
        if past.pointee != UInt8(ascii: "\"") {
            guard let rest = StringScan.finish(past) else { return false }
            past = rest.end
            if rest.isEscaped {
                kind = .escaped
                if isKey { words[open] |= Word.hasEscapedKeys }
            }
        }
        let length = past - text
        if length > Word.maximumLength { return false }
        free.pointee = Word.make(kind, length: length, offset: text - start)
        free += 1
        count &+= 1
        next = past + 1
        return true
    }

    @inline(__always)
    private mutating func number() -> Bool {
        var past = next
        var kind = Word.Kind.integer
        if past.pointee == UInt8(ascii: "-") { past += 1 }
        if past.pointee == UInt8(ascii: "0") {
            past += 1
            if Scan.isDigit(past.pointee) { return false }
        } else {
            guard Scan.isDigit(past.pointee) else { return false }
            past = Scan.pastDigits(past)
        }
        if past.pointee == UInt8(ascii: ".") {
            kind = .real
            past += 1
            guard Scan.isDigit(past.pointee) else { return false }
            past = Scan.pastDigits(past)
        }
        if past.pointee | 0x20 == UInt8(ascii: "e") {
            kind = .real
            past += 1
            if past.pointee == UInt8(ascii: "-") || past.pointee == UInt8(ascii: "+") { past += 1 }
            guard Scan.isDigit(past.pointee) else { return false }
            past = Scan.pastDigits(past)
        }
        let length = past - next
        if length > Word.maximumLength { return false }
        free.pointee = Word.make(kind, length: length, offset: next - start)
        free += 1
        count &+= 1
        next = past
        return true
    }

    private mutating func literal(
        _ letters: UInt32, skip: Int, length: Int, _ kind: Word.Kind
    ) -> Bool {
        let found = UnsafeRawPointer(next + skip).loadUnaligned(as: UInt32.self)
        guard UInt32(littleEndian: found) == letters else { return false }
        free.pointee = Word.make(kind, length: length, offset: next - start)
        free += 1
        count &+= 1
        next += length
        return true
    }
}
