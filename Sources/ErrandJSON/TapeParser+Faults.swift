// Performance annotations: decision 17.

/// The slow path of the parser: setup and error reporting.
extension Tape {
    /// Copies and parses `count` bytes at `source`.
    static func parse(
        _ source: UnsafeRawBufferPointer, options: JSON.Options
    ) throws(JSONError) -> Tape {
        let count = source.count
        guard count <= min(options.maximumBytes, JSON.Options.largestDocument) else {
            throw JSONError(.tooLarge)
        }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count + padding)
        if let base = source.baseAddress {
            UnsafeMutableRawPointer(bytes).copyMemory(from: base, byteCount: count)
        }
        (bytes + count).initialize(repeating: 0, count: padding)

        var parser = TapeParser(bytes: bytes, count: count, maximumDepth: options.maximumDepth)
        guard parser.run() else {
            let error = parser.fault()
            parser.words.deallocate()
            bytes.deallocate()
            throw error
        }
        parser.finish()
        let tape = Tape(
            adopting: bytes, byteCount: count, words: parser.words, wordCount: parser.wordCount)
        if options.duplicateKeys == .reject, let offset = tape.firstDuplicateKey() {
            throw JSONError.located(.duplicateKey, at: offset, in: bytes, count: count)
        }
        return tape
    }
}

extension TapeParser {
    /// The error at the position where the parser stopped.
    @inline(never)
    func fault() -> JSONError {
        let (at, kind) = locateFault()
        let isPastEnd = at >= end && kind != .tooDeep && kind != .tooLarge
        return JSONError.located(
            isPastEnd ? .unexpectedEnd : kind, at: at - start, in: start, count: end - start)
    }

    private func locateFault() -> (Bytes, JSONError.Kind) {
        let at = position
        if isTooDeep { return (at, .tooDeep) }
        if expectation == .end { return (at, .trailingContent) }
        switch at.pointee {
        case UInt8(ascii: "\"") where expectation == .value || expectation == .key:
            if let rest = StringScan.finish(at + 1), rest.end - at > Word.maximumLength {
                return (at, .tooLarge)
            }
            return StringScan.fault(from: at + 1, end: end)
        case UInt8(ascii: "-") where expectation == .value,
            UInt8(ascii: "0")...UInt8(ascii: "9") where expectation == .value:
            return numberFault(at)
        case UInt8(ascii: "t") where expectation == .value,
            UInt8(ascii: "f") where expectation == .value,
            UInt8(ascii: "n") where expectation == .value:
            return literalFault(at)
        default:
            return (at, .unexpectedByte)
        }
    }

    private func numberFault(_ at: Bytes) -> (Bytes, JSONError.Kind) {
        var past = at
        let isNumberByte = { (byte: UInt8) in
            Scan.isDigit(byte) || byte | 0x20 == UInt8(ascii: "e") || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
        }
        while past < end, isNumberByte(past.pointee) { past += 1 }
        if past - at > Word.maximumLength { return (at, .tooLarge) }
        // A number cut off by the end of the document may have been valid.
        return past == end && !Scan.isDigit(past[-1]) ? (end, .unexpectedEnd) : (at, .invalidNumber)
    }

    private func literalFault(_ at: Bytes) -> (Bytes, JSONError.Kind) {
        let words: [StaticString] = ["true", "false", "null"]
        for word in words where word.utf8Start.pointee == at.pointee {
            for offset in 0..<word.utf8CodeUnitCount where at[offset] != word.utf8Start[offset] {
                return (at + offset, .unexpectedByte)
            }
        }
        return (at, .unexpectedByte)
    }
}

extension Tape {
    /// The offset of the first repeated key; nil if there is none.
    func firstDuplicateKey() -> Int? {
        var index = Tape.root
        while index < wordCount {
            if kind(at: index) == .object, let offset = duplicateKey(inObjectAt: index) {
                return offset
            }
            index += words[index] >> 60 >= Word.Kind.array.rawValue ? 2 : 1
        }
        return nil
    }

    private func duplicateKey(inObjectAt object: Int) -> Int? {
        let stop = Word.end(words[object + 1])
        var keys = Set<[UInt8]>(minimumCapacity: Word.count(words[object + 1]))
        var index = object + 2
        while index < stop {
            guard keys.insert(unescapedBytes(at: index)).inserted else {
                return Word.offset(words[index])
            }
            index = end(of: index + 1)
        }
        return nil
    }
}
