#if Redis
    import ErrandSystem

    /// Writes numbers in little-endian order, and texts with their count.
    struct RecordWriter {
        var bytes: [UInt8] = []

        mutating func put(_ word: UInt64) {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func put(_ number: Int) { put(UInt64(bitPattern: Int64(number))) }

        mutating func put(_ date: Date) {
            put(date.timeIntervalSinceReferenceDate.bitPattern)
        }

        mutating func put(_ text: String) {
            put(text.utf8.count)
            bytes.append(contentsOf: text.utf8)
        }

        mutating func put(_ text: String?) {
            put(text == nil ? 0 : 1)
            if let text { put(text) }
        }

        mutating func put(_ word: UInt64?) {
            put(word == nil ? 0 : 1)
            if let word { put(word) }
        }
    }

    /// Reads what ``RecordWriter`` has written; every read is `nil` at the end of the bytes.
    struct RecordReader {
        private let bytes: UnsafeRawBufferPointer
        private var offset = 0

        init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        /// The next number, without reading on.
        func peek() -> UInt64? {
            guard offset + 8 <= bytes.count else { return nil }
            return UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }

        mutating func word() -> UInt64? {
            guard let word = peek() else { return nil }
            offset += 8
            return word
        }

        mutating func int() -> Int? { word().map { Int(Int64(bitPattern: $0)) } }

        private mutating func field() -> UnsafeRawBufferPointer? {
            guard let count = int(), count >= 0, count <= bytes.count - offset else { return nil }
            defer { offset += count }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
        }

        mutating func text() -> String? { field().map { String(decoding: $0, as: UTF8.self) } }

        /// Reads a text and compares it by its bytes.
        mutating func text(equals text: String) -> Bool {
            guard let field = field() else { return false }
            var text = text
            return text.withUTF8 { text in
                guard text.count == field.count else { return false }
                guard let one = text.baseAddress, let other = field.baseAddress else {
                    return true
                }
                return memcmp(one, other, text.count) == 0
            }
        }

        /// The outer optional is `nil` at the end of the bytes.
        mutating func optionalText() -> String?? {
            switch int() {
            case 0: .some(nil)
            case 1: text().map { .some($0) }
            default: nil
            }
        }

        /// The outer optional is `nil` at the end of the bytes.
        mutating func optionalWord() -> UInt64?? {
            switch int() {
            case 0: .some(nil)
            case 1: word().map { .some($0) }
            default: nil
            }
        }
    }
#endif
