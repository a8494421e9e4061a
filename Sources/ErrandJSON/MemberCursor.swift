/// Looks up keys of an object, quickest in the order in which they stand there.
///
/// Of a repeated key the one found is the next after the last key that was found.
struct MemberCursor {
    let first: Int
    let stop: Int
    /// How many members the object has.
    let count: Int
    private let words: UnsafePointer<UInt64>
    private let bytes: UnsafePointer<UInt8>
    private let tape: Unmanaged<Tape>
    private var next: Int

    /// A cursor over the object at `object`; the caller keeps the tape while it is used.
    @inline(__always)
    init(tape: Tape, object: Int) {
        words = tape.words
        bytes = tape.bytes
        self.tape = Unmanaged.passUnretained(tape)
        first = object + 2
        next = first
        let extent = words[object + 1]
        stop = Word.end(extent)
        count = Word.count(extent)
    }

    @inline(__always)
    private func end(of place: Int) -> Int {
        words[place] >> 60 >= Word.Kind.array.rawValue
            ? Word.end(words[place &+ 1]) : place &+ 1
    }

    @inline(__always)
    private func isKey(at place: Int, equalTo key: UnsafeBufferPointer<UInt8>) -> Bool {
        let word = words[place]
        guard word >> 60 == Word.Kind.string.rawValue, let base = key.baseAddress else {
            return tape._withUnsafeGuaranteedRef { $0.isString(at: place, equalTo: key) }
        }
        return Word.length(word) == key.count
            && Bytes.areEqual(bytes + Word.offset(word), base, count: key.count)
    }

    /// The index of the value of a member with this key, nil if there is none.
    @inline(__always)
    mutating func find(_ key: UnsafeBufferPointer<UInt8>) -> Int? {
        if next < stop, isKey(at: next, equalTo: key) {
            let value = next &+ 1
            next = end(of: value)
            return value
        }
        return search(key)
    }

    @inline(never)
    private mutating func search(_ key: UnsafeBufferPointer<UInt8>) -> Int? {
        if let value = search(key, from: next, to: stop) { return value }
        return search(key, from: first, to: next)
    }

    @inline(__always)
    private mutating func search(
        _ key: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Int? {
        var place = start
        while place < end {
            let after = self.end(of: place + 1)
            if isKey(at: place, equalTo: key) {
                next = after
                return place + 1
            }
            place = after
        }
        return nil
    }
}
