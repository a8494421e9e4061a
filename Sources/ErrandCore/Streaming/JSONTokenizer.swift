import ErrandJSON

/// Divides a JSON text, whose bytes arrive in chunks, into tokens, and checks its grammar
/// (RFC 8259).
///
/// The memory is one bit for each open array or object. Strings are not checked for valid UTF-8 and
/// surrogate pairs; decoding a value does that.
struct JSONTokenizer: Sendable {
    enum Token {
        /// The input is used up.
        case needsInput
        case beginObject, beginArray, beginString, beginNumber, beginLiteral
        case endObject, endArray
        /// The end of a string, number or literal.
        case endScalar
        case beginKey, endKey
    }

    /// An error at the current position.
    struct Fault: Error {
        let kind: JSONError.Kind
        init(_ kind: JSONError.Kind) { self.kind = kind }
    }

    private enum State: UInt8 {
        /// At the first byte, which can begin a byte order mark.
        case start, mark
        /// Before a value; before the first item or `]`; before the first key or `}`; before a key.
        case value, firstItem, firstKey, key
        case colon, afterValue
        case string, escape, hex
        case literal
        /// In a number, after: the sign, a leading zero, a digit, the point, a decimal, the letter
        /// of the exponent, its sign, its digit.
        case minus, zero, digits, point, decimals, exponent, exponentSign, exponentDigits
        case done
    }

    private let maximumDepth: Int
    private var state: State
    private var isKey = false
    /// The rest of a literal or of a byte order mark, with the next byte in the lowest bits.
    private var rest: UInt32 = 0
    private var hexDigits = 0
    /// A bit for each open container: whether it is an object.
    private var objects: [UInt64] = []
    /// The number of open arrays and objects.
    private(set) var depth = 0

    init(maximumDepth: Int, skipsByteOrderMark: Bool) {
        self.maximumDepth = maximumDepth
        state = skipsByteOrderMark ? .start : .value
    }

    /// Whether the value of the text has ended.
    ///
    /// A number at the top level ends with the byte after it.
    var isComplete: Bool { state == .done }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Moves the position past the next token.
    ///
    /// A token that begins a string or number ends before its second byte; the position of its
    /// first byte is one less than the position after the token.
    mutating func next(
        in bytes: UnsafeRawBufferPointer, at position: inout Int
    ) throws(Fault) -> Token {
        while position < bytes.count {
            let byte = bytes[position]
            switch state {
            case .string:
                position += Self.plainLength(bytes, position)
                guard position < bytes.count else { return .needsInput }
                if let token = try endOfPlainText(bytes[position]) {
                    position += 1
                    return token
                }
                position += 1
            case .escape, .hex:
                try readEscape(byte)
                position += 1
            case .minus, .zero, .digits, .point, .decimals, .exponent, .exponentSign,
                .exponentDigits:
                guard let next = Self.number(after: state, byte) else {
                    guard Self.endsNumber(state) else { throw Fault(.invalidNumber) }
                    endValue()
                    return .endScalar
                }
                state = next
                position += 1
            case .literal, .mark:
                guard byte == UInt8(truncatingIfNeeded: rest) else { throw Fault(.unexpectedByte) }
                rest >>= 8
                position += 1
                guard rest == 0 else { continue }
                if state == .literal {
                    endValue()
                    return .endScalar
                }
                state = .value
            case .start where byte == 0xEF:
                (state, rest) = (.mark, 0xBFBB)
                position += 1
            default:
                if byte <= 0x20, Self.isWhiteSpace(byte) {
                    if state == .start { state = .value }
                    position += 1
                    continue
                }
                let token = try readStructure(byte)
                position += 1
                if let token { return token }
            }
        }
        return .needsInput
    }

    // MARK: - Structure

    /// Reads a byte other than white space outside strings, numbers and literals.
    private mutating func readStructure(_ byte: UInt8) throws(Fault) -> Token? {
        switch state {
        case .firstItem where byte == UInt8(ascii: "]"): return close()
        case .start, .value, .firstItem: return try beginValue(byte)
        case .firstKey where byte == UInt8(ascii: "}"): return close()
        case .firstKey, .key:
            guard byte == UInt8(ascii: "\"") else { throw Fault(.unexpectedByte) }
            (state, isKey) = (.string, true)
            return .beginKey
        case .colon:
            guard byte == UInt8(ascii: ":") else { throw Fault(.unexpectedByte) }
            state = .value
            return nil
        case .afterValue:
            let isInObject = isInObject
            if byte == UInt8(ascii: ",") {
                state = isInObject ? .key : .value
                return nil
            }
            guard byte == UInt8(ascii: isInObject ? "}" : "]") else { throw Fault(.unexpectedByte) }
            return close()
        default: throw Fault(.trailingContent)
        }
    }

    private mutating func beginValue(_ byte: UInt8) throws(Fault) -> Token {
        switch byte {
        case UInt8(ascii: "{"):
            try open(isObject: true)
            state = .firstKey
            return .beginObject
        case UInt8(ascii: "["):
            try open(isObject: false)
            state = .firstItem
            return .beginArray
        case UInt8(ascii: "\""):
            (state, isKey) = (.string, false)
            return .beginString
        // The letters after the first one, in reverse order.
        case UInt8(ascii: "t"): (state, rest) = (.literal, 0x65_75_72)
        case UInt8(ascii: "f"): (state, rest) = (.literal, 0x65_73_6C_61)
        case UInt8(ascii: "n"): (state, rest) = (.literal, 0x6C_6C_75)
        case UInt8(ascii: "-"): state = .minus
        case UInt8(ascii: "0"): state = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .digits
        default: throw Fault(.unexpectedByte)
        }
        return state == .literal ? .beginLiteral : .beginNumber
    }

    private mutating func open(isObject: Bool) throws(Fault) {
        guard depth < maximumDepth else { throw Fault(.tooDeep) }
        let (word, bit) = (depth >> 6, UInt64(1) << UInt64(depth & 63))
        if word == objects.count { objects.append(0) }
        if isObject { objects[word] |= bit } else { objects[word] &= ~bit }
        depth += 1
    }

    private var isInObject: Bool {
        let top = depth - 1
        return objects[top >> 6] & UInt64(1) << UInt64(top & 63) != 0
    }

    private mutating func close() -> Token {
        let token: Token = isInObject ? .endObject : .endArray
        depth -= 1
        endValue()
        return token
    }

    private mutating func endValue() { state = depth == 0 ? .done : .afterValue }

    // MARK: - Strings

    /// Reads a quote, a backslash or a control character; returns the token that ends the string.
    private mutating func endOfPlainText(_ byte: UInt8) throws(Fault) -> Token? {
        switch byte {
        case UInt8(ascii: "\""):
            if isKey {
                state = .colon
                return .endKey
            }
            endValue()
            return .endScalar
        case UInt8(ascii: "\\"):
            state = .escape
            return nil
        default: throw Fault(.controlCharacter)
        }
    }

    private mutating func readEscape(_ byte: UInt8) throws(Fault) {
        if state == .hex {
            guard Scan.hex(byte) != nil else { throw Fault(.invalidEscape) }
            hexDigits -= 1
            if hexDigits == 0 { state = .string }
        } else if byte == UInt8(ascii: "u") {
            (state, hexDigits) = (.hex, 4)
        } else {
            guard JSONKeyMatcher.escaped(byte) != nil else { throw Fault(.invalidEscape) }
            state = .string
        }
    }

    /// The number of bytes from a position to the next quote, backslash or control character.
    private static func plainLength(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Int {
        var index = position
        while index + 8 <= bytes.count {
            let block = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            // The high bit of a lane is set at a searched byte. A borrow reaches only higher lanes,
            // so the lowest mark is always correct.
            let quotes = Self.zeroBytes(block ^ 0x2222_2222_2222_2222)
            let slashes = Self.zeroBytes(block ^ 0x5C5C_5C5C_5C5C_5C5C)
            let controls = (block &- 0x2020_2020_2020_2020) & ~block
            let marks = (quotes | slashes | controls) & 0x8080_8080_8080_8080
            if marks != 0 { return index - position + marks.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            index += 1
        }
        return index - position
    }

    private static func zeroBytes(_ block: UInt64) -> UInt64 {
        (block &- 0x0101_0101_0101_0101) & ~block
    }

    // MARK: - Numbers

    /// The state after a byte of a number; nil if the byte does not continue it.
    private static func number(after state: State, _ byte: UInt8) -> State? {
        let isDigit = byte >= 0x30 && byte <= 0x39
        switch (state, byte) {
        case (.minus, 0x30): return .zero
        case (.minus, _): return isDigit ? .digits : nil
        case (.digits, _) where isDigit: return .digits
        case (.zero, UInt8(ascii: ".")), (.digits, UInt8(ascii: ".")): return .point
        case (.point, _): return isDigit ? .decimals : nil
        case (.decimals, _) where isDigit: return .decimals
        case (.zero, UInt8(ascii: "e")), (.zero, UInt8(ascii: "E")),
            (.digits, UInt8(ascii: "e")), (.digits, UInt8(ascii: "E")),
            (.decimals, UInt8(ascii: "e")), (.decimals, UInt8(ascii: "E")):
            return .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): return .exponentSign
        case (.exponent, _), (.exponentSign, _), (.exponentDigits, _):
            return isDigit ? .exponentDigits : nil
        default: return nil
        }
    }

    private static func endsNumber(_ state: State) -> Bool {
        switch state {
        case .zero, .digits, .decimals, .exponentDigits: true
        default: false
        }
    }
}
