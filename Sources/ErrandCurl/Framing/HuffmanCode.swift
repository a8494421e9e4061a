/// The static Huffman code of HPACK (RFC 7541 §5.2, Appendix B).
///
/// The code is canonical: the codes of one length are consecutive numbers in the order of their
/// symbols, and longer codes follow. The lengths therefore determine all codes.
enum HuffmanCode {
    /// The lengths of the codes of all bytes and of the end of the string (EOS): `a` is 5 bits.
    private static let lengths: StaticString = """
        isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibcccccccccccccccccccc\
        ccdcdioijbkabababbbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrt\
        qrssqqrqsrssprrrsrrsvvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz
        """
    private static let end = 256

    /// The codes with one length of more than 8 bits, in the upper bits of 32.
    private struct LongCodes {
        let length: Int
        let first: UInt32
        /// The number after the last code; `nil` for the longest, which ends with all bits.
        let limit: UInt32?
        /// The index of the first symbol among all, in the order of their codes.
        let offset: Int
    }

    private struct Tables {
        /// For each byte, the code in the upper 32 bits and its length in the lower ones.
        var codes = [UInt64](repeating: 0, count: 257)
        /// For each first byte of the input, the symbol and, times 256, the length of its code; 0 for
        /// codes of more than 8 bits.
        var short = [UInt16](repeating: 0, count: 256)
        var long: [LongCodes] = []
        var symbols: [UInt16] = []

        init() {
            let lengths = HuffmanCode.lengths.withUTF8Buffer { $0.map { Int($0) - 0x61 + 5 } }
            var code: UInt32 = 0
            for length in 5...30 {
                let first = code
                let offset = symbols.count
                for symbol in lengths.indices where lengths[symbol] == length {
                    codes[symbol] = UInt64(code) << 32 | UInt64(length)
                    symbols.append(UInt16(symbol))
                    if length <= 8 {
                        let start = Int(code) << (8 - length)
                        for index in start..<(start + 1 << (8 - length)) {
                            short[index] = UInt16(length) << 8 | UInt16(symbol)
                        }
                    }
                    code += 1
                }
                if length > 8, code > first {
                    long.append(
                        LongCodes(
                            length: length, first: first << UInt32(32 - length),
                            limit: length == 30 ? nil : code << UInt32(32 - length), offset: offset)
                    )
                }
                code <<= 1
            }
        }
    }

    private static let tables = Tables()

    // MARK: - Encoding

    /// The largest number of bytes that are written for encoded text: 30 bits for each, in words of four.
    static func encodedLimit(of count: Int) -> Int { count * 4 + 4 }

    /// Encodes text into memory with room for ``encodedLimit(of:)`` bytes; returns the number of bytes.
    static func encode(
        _ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        tables.codes.withUnsafeBufferPointer { codes in
            var bits: UInt64 = 0
            var count: UInt64 = 0
            var end = 0
            for byte in text {
                let entry = codes[Int(byte)]
                let length = entry & 0xFF
                bits = bits &<< length | entry &>> 32
                count &+= length
                // A code has at most 30 bits, so the next one fits as well.
                guard count >= 32 else { continue }
                count &-= 32
                let word = UInt32(truncatingIfNeeded: bits &>> count)
                output.storeBytes(of: word.bigEndian, toByteOffset: end, as: UInt32.self)
                end &+= 4
            }
            // The last byte is filled with the first bits of EOS, which are ones (§5.2).
            let missing = 32 &- count
            let word = UInt32(truncatingIfNeeded: bits &<< missing | (1 &<< missing &- 1))
            output.storeBytes(of: word.bigEndian, toByteOffset: end, as: UInt32.self)
            return end &+ Int(truncatingIfNeeded: (count + 7) / 8)
        }
    }

    // MARK: - Decoding

    /// The largest number of bytes that encoded text may decode to.
    static func maximumDecodedCount(of encodedCount: Int) -> Int { encodedCount * 8 / 5 + 1 }

    /// Decodes text into memory with room for ``maximumDecodedCount(of:)`` bytes; returns the number
    /// of bytes, or `nil` if the text contains EOS or its padding is no prefix of it (§5.2).
    static func decode(
        _ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let tables = tables
        return tables.short.withUnsafeBufferPointer { short in
            var bits: UInt64 = 0
            var count = 0
            var position = 0
            var end = 0
            while true {
                if count < 32 {
                    if position + 4 <= text.count {
                        let next = text.loadUnaligned(fromByteOffset: position, as: UInt32.self)
                        bits = bits << 32 | UInt64(UInt32(bigEndian: next))
                        position += 4
                        count += 32
                    } else {
                        while position < text.count {
                            bits = bits << 8 | UInt64(text[position])
                            position += 1
                            count += 8
                        }
                        if count == 0 { return end }
                    }
                }
                // The next 32 bits; after the end of the text, ones.
                let window =
                    count >= 32
                    ? UInt32(truncatingIfNeeded: bits >> (count - 32))
                    : UInt32(truncatingIfNeeded: bits << (32 - count))
                        | UInt32(truncatingIfNeeded: (UInt64(1) << (32 - count)) - 1)
                var symbol = Int(short[Int(window >> 24)])
                var length = symbol >> 8
                if length == 0 {
                    (symbol, length) = longSymbol(window, tables)
                } else {
                    symbol &= 0xFF
                }
                guard length <= count else {
                    // The rest is padding: at most 7 bits, all ones.
                    return count < 8 && window == .max ? end : nil
                }
                guard symbol != Self.end else { return nil }
                output[end] = UInt8(truncatingIfNeeded: symbol)
                end += 1
                count -= length
            }
        }
    }

    private static func longSymbol(
        _ window: UInt32, _ tables: borrowing Tables
    ) -> (symbol: Int, length: Int) {
        for codes in tables.long {
            if let limit = codes.limit, window >= limit { continue }
            let index = Int(truncatingIfNeeded: (window - codes.first) >> UInt32(32 - codes.length))
            return (Int(tables.symbols[codes.offset + index]), codes.length)
        }
        return (Self.end, 30)
    }
}
