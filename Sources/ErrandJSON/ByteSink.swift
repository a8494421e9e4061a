// Performance annotations: decision 17.

/// A growing buffer of bytes with functions that write JSON strings and numbers.
///
/// It is a handle without reference counting, because the encoder's hot path copies it often. All
/// copies share one buffer, and the code that creates the sink must destroy it. Use `with`, or let
/// a class own the sink.
struct ByteSink {
    private let state: UnsafeMutablePointer<State>

    private struct State {
        var base: UnsafeMutablePointer<UInt8>
        var count = 0
        var capacity: Int
    }

    init(capacity: Int = 512) {
        let capacity = max(capacity, 64)
        state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(
            to: State(
                base: UnsafeMutablePointer<UInt8>.allocate(capacity: capacity), capacity: capacity))
    }

    /// Frees the buffer; no copy of the handle may be used afterwards.
    func destroy() {
        state.pointee.base.deallocate()
        state.deallocate()
    }

    /// Calls `body` with a new sink and destroys the sink afterwards.
    static func with<R, E: Error>(
        capacity: Int = 512, _ body: (ByteSink) throws(E) -> R
    ) throws(E) -> R {
        let sink = ByteSink(capacity: capacity)
        defer { sink.destroy() }
        return try body(sink)
    }

    var base: UnsafeMutablePointer<UInt8> { state.pointee.base }

    var count: Int {
        get { state.pointee.count }
        nonmutating set { state.pointee.count = newValue }
    }

    var capacity: Int { state.pointee.capacity }

    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    /// Whether the buffer has capacity for `more` bytes after the last one.
    func hasRoom(_ more: Int) -> Bool { state.pointee.capacity &- state.pointee.count >= more }

    /// Ensures capacity for `more` bytes, which the caller then writes without bounds checks.
    private func reserve(_ more: Int) -> UnsafeMutablePointer<UInt8> {
        if state.pointee.capacity &- state.pointee.count < more { grow(more) }
        return state.pointee.base + state.pointee.count
    }

    private func grow(_ more: Int) {
        let capacity = max(state.pointee.capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        state.pointee.base = larger
        state.pointee.capacity = capacity
    }

    @inline(__always)
    func write(_ byte: UInt8) {
        reserve(1).pointee = byte
        count &+= 1
    }

    @inline(__always)
    func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count).update(from: source, count: bytes.count)
        count &+= bytes.count
    }

    /// Writes `length` bytes in words of eight.
    ///
    /// Up to seven bytes after the end of `source` are read and must be readable.
    @inline(__always)
    func write(words source: UnsafePointer<UInt8>, count length: Int) {
        let target = UnsafeMutableRawPointer(reserve(length &+ 8))
        var offset = 0
        while offset < length {
            let word = UnsafeRawPointer(source + offset).loadUnaligned(as: UInt64.self)
            (target + offset).storeBytes(of: word, as: UInt64.self)
            offset &+= 8
        }
        count &+= length
    }

    @inline(__always)
    func write(_ text: StaticString) {
        write(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Removes all bytes from `position` on.
    func truncate(to position: Int) { count = min(count, max(position, 0)) }

    /// Moves bytes to lower offsets.
    func move(_ range: Range<Int>, by distance: Int) {
        guard distance > 0 else { return }
        let start = base + range.lowerBound
        (start - distance).update(from: start, count: range.count)
    }

    /// Replaces all bytes from `position` on.
    func replaceTail(from position: Int, with bytes: [UInt8]) {
        truncate(to: position)
        bytes.withUnsafeBufferPointer { write($0) }
    }

    // MARK: - Strings

    /// Writes a string as a JSON string with quotes and escapes.
    @inline(__always)
    func write(string: String, escapesSlashes: Bool = false) {
        #if canImport(Darwin)
            let isWritten: Void? = string.utf8.withContiguousStorageIfAvailable {
                write(quoted: $0, escapesSlashes: escapesSlashes)
            }
            if isWritten == nil {
                Array(string.utf8).withUnsafeBufferPointer {
                    write(quoted: $0, escapesSlashes: escapesSlashes)
                }
            }
        #else
            // A span needs no reference count for the string.
            string.utf8Span.span.withUnsafeBufferPointer {
                write(quoted: $0, escapesSlashes: escapesSlashes)
            }
        #endif
    }

    /// Writes UTF-8 text as a JSON string with quotes and escapes.
    func write(quoted text: UnsafeBufferPointer<UInt8>, escapesSlashes: Bool) {
        // An escape takes up to six bytes; long texts are split to limit the capacity.
        guard text.count <= 4096 else { return writeLong(text, escapesSlashes) }
        var target = reserve(text.count &* 6 &+ 10)
        target.pointee = UInt8(ascii: "\"")
        target += 1
        if let source = text.baseAddress {
            target = ByteSink.escape(source, text.count, to: target, escapesSlashes)
        }
        target.pointee = UInt8(ascii: "\"")
        count = target + 1 - base
    }

    private func writeLong(_ text: UnsafeBufferPointer<UInt8>, _ escapesSlashes: Bool) {
        write(UInt8(ascii: "\""))
        var position = 0
        while position < text.count, let source = text.baseAddress {
            let length = min(4096, text.count - position)
            let target = reserve(length &* 6 &+ 8)
            count = ByteSink.escape(source + position, length, to: target, escapesSlashes) - base
            position += length
        }
        write(UInt8(ascii: "\""))
    }

    /// Writes `count` bytes at `source` with escapes and returns the position after the last byte.
    @inline(__always)
    private static func escape(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>,
        _ escapesSlashes: Bool
    ) -> UnsafeMutablePointer<UInt8> {
        let end = source + count
        var read = source
        var write = target
        while read < end {
            while end - read >= 8 {
                let word = UnsafeRawPointer(read).loadUnaligned(as: UInt64.self)
                UnsafeMutableRawPointer(write).storeBytes(of: word, as: UInt64.self)
                let plain = plainBytes(UInt64(littleEndian: word), escapesSlashes)
                read += plain
                write += plain
                if plain < 8 { break }
            }
            let rest = end - read
            if rest == 0 { break }
            if rest < 8 {
                // The unused high bytes are zero and count as control characters: plain <= rest.
                let word = lastBytes(read, rest)
                let plain = plainBytes(word, escapesSlashes)
                UnsafeMutableRawPointer(write).storeBytes(of: word.littleEndian, as: UInt64.self)
                read += plain
                write += plain
                if plain == rest { break }
            }
            let byte = read.pointee
            if byte >= 0x20, byte != 0x22, byte != 0x5C, byte != 0x2F || !escapesSlashes {
                write.pointee = byte
                write += 1
            } else {
                write += writeEscape(byte, to: write)
            }
            read += 1
        }
        return write
    }

    /// Loads one to seven bytes into a word without reading beyond them.
    private static func lastBytes(_ at: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, _ offset: Int) -> UInt64 {
            UInt64(T(littleEndian: UnsafeRawPointer(at + offset).loadUnaligned(as: type)))
        }
        if count >= 4 {
            return load(UInt32.self, 0) | load(UInt32.self, count &- 4)
                &<< UInt64((count &- 4) &* 8)
        }
        if count >= 2 {
            return load(UInt16.self, 0) | load(UInt16.self, count &- 2)
                &<< UInt64((count &- 2) &* 8)
        }
        return UInt64(at.pointee)
    }

    /// The number of bytes, from the lowest, that need no escape.
    private static func plainBytes(_ word: UInt64, _ escapesSlashes: Bool) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* 0x22)
        let slash = word ^ (ones &* 0x5C)
        // The high bit of a lane marks a match; only the lowest mark is reliable.
        var special = (quote &- ones) & ~quote | (slash &- ones) & ~slash
        special |= (word &- ones &* 0x20) & ~word
        if escapesSlashes {
            let solidus = word ^ (ones &* 0x2F)
            special |= (solidus &- ones) & ~solidus
        }
        return (special & 0x8080_8080_8080_8080).trailingZeroBitCount &>> 3
    }

    private static func writeEscape(_ byte: UInt8, to target: UnsafeMutablePointer<UInt8>) -> Int {
        target[0] = UInt8(ascii: "\\")
        let letter: UInt8
        switch byte {
        case 0x08: letter = UInt8(ascii: "b")
        case 0x09: letter = UInt8(ascii: "t")
        case 0x0A: letter = UInt8(ascii: "n")
        case 0x0C: letter = UInt8(ascii: "f")
        case 0x0D: letter = UInt8(ascii: "r")
        case 0..<0x20:
            target[1] = UInt8(ascii: "u")
            target[2] = UInt8(ascii: "0")
            target[3] = UInt8(ascii: "0")
            target[4] = 0x30 + byte >> 4
            target[5] = byte & 15 < 10 ? 0x30 + byte & 15 : 0x57 + byte & 15
            return 6
        default: letter = byte
        }
        target[1] = letter
        return 2
    }

    // MARK: - Numbers

    @inline(__always)
    func write<T: FixedWidthInteger>(integer: T) {
        if let value = UInt64(exactly: integer.magnitude) {
            let target = reserve(21)
            if integer < 0 {
                target.pointee = UInt8(ascii: "-")
                count &+= 1
            }
            count &+= ByteSink.digits(of: value, to: base + count)
        } else {
            var text = integer.description
            text.withUTF8 { write($0) }
        }
    }

    /// Writes the decimal digits of `value` and returns their number.
    @inline(__always)
    private static func digits(of value: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
        if value < 10 {
            target.pointee = 0x30 | UInt8(truncatingIfNeeded: value)
            return 1
        }
        let length = digitCount(value)
        var rest = value
        var next = target + length
        while rest >= 100 {
            let pair = rest % 100
            rest /= 100
            next -= 2
            writePair(pair, to: next)
        }
        if rest >= 10 {
            writePair(rest, to: target)
        } else {
            target.pointee = 0x30 | UInt8(truncatingIfNeeded: rest)
        }
        return length
    }

    private static func writePair(_ pair: UInt64, to target: UnsafeMutablePointer<UInt8>) {
        target[0] = 0x30 | UInt8(truncatingIfNeeded: pair / 10)
        target[1] = 0x30 | UInt8(truncatingIfNeeded: pair % 10)
    }

    private static func digitCount(_ value: UInt64) -> Int {
        // 1233 / 4096 is slightly more than log10(2).
        let bits = 64 &- value.leadingZeroBitCount
        let guess = (bits &* 1233) &>> 12
        return guess &+ (value < powersOfTen[guess] ? 0 : 1)
    }

    private static let powersOfTen: [UInt64] = [
        1, 10, 100, 1000, 10000, 100000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
        10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000,
        100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000,
        100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]

    /// Writes the shortest text that parses to the same number; returns false if it is not finite.
    func write<T: BinaryFloatingPoint & LosslessStringConvertible>(floating value: T) -> Bool {
        guard value.isFinite else { return false }
        var text = value.description
        text.withUTF8 { digits in
            let isWhole =
                digits.count > 2 && digits[digits.count - 2] == UInt8(ascii: ".")
                && digits[digits.count - 1] == UInt8(ascii: "0")
            write(UnsafeBufferPointer(rebasing: digits.dropLast(isWhole ? 2 : 0)))
        }
        return true
    }
}
