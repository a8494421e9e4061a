// Performance annotations: decision 17.

/// Value access for code that is inlined into other modules.
///
/// None of these functions makes the caller retain or release the tape.
extension Tape {
    /// The index of the first value with this key; 0 if there is none or if this is not an object.
    @_effects(releasenone) @usableFromInline
    func place(of key: String, inObjectAt object: Int) -> Int {
        let head = words[object]
        guard head >> 60 == Word.Kind.object.rawValue else { return 0 }
        guard let key = ShortString(key) else { return longPlace(of: key, inObjectAt: object) }
        if head & Word.hasEscapedKeys != 0 {
            return key.withUTF8 { escapedPlace(of: $0, inObjectAt: object) }
        }
        let text = TextPrefix(key)
        return place(length: key.count, inObjectAt: object) { text.begins($0) }
    }

    private func longPlace(of key: String, inObjectAt object: Int) -> Int {
        key.utf8.withContiguousStorageIfAvailable { longPlace(of: $0, inObjectAt: object) }
            ?? Array(key.utf8).withUnsafeBufferPointer { longPlace(of: $0, inObjectAt: object) }
    }

    private func longPlace(of key: UnsafeBufferPointer<UInt8>, inObjectAt object: Int) -> Int {
        guard words[object] & Word.hasEscapedKeys == 0, let text = key.baseAddress,
            key.count <= Word.maximumLength
        else { return escapedPlace(of: key, inObjectAt: object) }
        return place(length: key.count, inObjectAt: object) {
            Bytes.areEqual($0, text, count: key.count)
        }
    }

    /// Searches keys without escapes; `isKey` is called for keys of the right length.
    @inline(__always)
    private func place(
        length: Int, inObjectAt object: Int, _ isKey: (UnsafePointer<UInt8>) -> Bool
    ) -> Int {
        let words = words
        // The upper half of the key's word: kind and length.
        let wanted = Word.make(.string, length: length, offset: 0) >> 32
        let stop = Word.end(words[object &+ 1])
        var place = object &+ 2
        while place < stop {
            let word = words[place]
            if word >> 32 == wanted, isKey(bytes + Word.offset(word)) { return place &+ 1 }
            place = end(of: place &+ 1)
        }
        return 0
    }

    /// Searches empty keys, keys too long for a word, and objects in which keys have escapes.
    private func escapedPlace(
        of key: UnsafeBufferPointer<UInt8>, inObjectAt object: Int
    ) -> Int {
        let stop = Word.end(words[object + 1])
        var place = object + 2
        while place < stop {
            if isString(at: place, equalTo: key) { return place + 1 }
            place = end(of: place + 1)
        }
        return 0
    }

    /// The index of the element at `position`; 0 if there is none or if this is not an array.
    @_effects(releasenone) @usableFromInline
    func place(of position: Int, inArrayAt array: Int) -> Int {
        guard words[array] >> 60 == Word.Kind.array.rawValue, position >= 0,
            position < Word.count(words[array + 1])
        else { return 0 }
        var place = array + 2
        for _ in 0..<position { place = end(of: place) }
        return place
    }

    /// The range of a container's values, and the number of key words before each value.
    @_effects(releasenone) @usableFromInline
    func extent(of container: Int) -> (first: Int, stop: Int, step: Int) {
        switch words[container] >> 60 {
        case Word.Kind.array.rawValue: (container + 2, Word.end(words[container + 1]), 0)
        case Word.Kind.object.rawValue: (container + 2, Word.end(words[container + 1]), 1)
        default: (0, 0, 0)
        }
    }

    // MARK: - Numbers

    @inline(__always)
    func integer<T: FixedWidthInteger>(at index: Int, as type: T.Type) -> T? {
        switch kind(at: index) {
        case .integer: NumberText.integer(text(at: index), as: type)
        case .real: NumberText.integral(text(at: index), as: type)
        default: nil
        }
    }

    @_effects(releasenone) @usableFromInline
    func int(at index: Int) -> Int? { integer(at: index, as: Int.self) }

    @_effects(releasenone) @usableFromInline
    func int64(at index: Int) -> Int64? { integer(at: index, as: Int64.self) }

    @_effects(releasenone) @usableFromInline
    func uint64(at index: Int) -> UInt64? { integer(at: index, as: UInt64.self) }

    @_effects(releasenone) @usableFromInline
    func double(at index: Int) -> Double? {
        switch kind(at: index) {
        case .integer, .real: NumberText.double(text(at: index))
        default: nil
        }
    }
}
