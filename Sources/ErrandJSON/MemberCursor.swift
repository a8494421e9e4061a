/// Looks up keys of an object, quickest in the order in which they stand there.
///
/// Of a repeated key the first is found, whatever the order of asking.
struct MemberCursor {
    let first: Int
    let stop: Int
    /// How many members the object has.
    let count: Int
    /// How many members have been looked at in vain.
    private(set) var skipped = 0
    private let words: UnsafePointer<UInt64>
    private let bytes: UnsafePointer<UInt8>
    private let tape: Unmanaged<Tape>
    /// The member behind the furthest one found.
    private var next: Int
    /// The key found last.
    private var last: Int
    /// Two bits for each key before `next`: most keys are seen not to be repeated by them.
    private var seen: UInt64 = 0

    /// A cursor over the object at `object`, without members if it is none.
    ///
    /// The caller keeps the tape while it is used. Members before `place` are passed over.
    @inline(__always)
    init(tape: Tape, object: Int, from place: Int? = nil) {
        words = tape.words
        bytes = tape.bytes
        self.tape = Unmanaged.passUnretained(tape)
        let isObject = words[object] >> 60 == Word.Kind.object.rawValue
        let extent = isObject ? words[object &+ 1] : 0
        first = object &+ 2
        next = place ?? first
        last = first
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

    /// Two bits that are the same for the same key.
    @inline(__always)
    static func bits(_ text: UnsafePointer<UInt8>?, _ count: Int) -> UInt64 {
        guard let text, count > 0 else { return 1 }
        return bits(first: UInt64(text[0]), last: UInt64(text[count &- 1]), count)
    }

    @inline(__always)
    private static func bits(_ key: ShortString) -> UInt64 {
        guard key.count > 0 else { return 1 }
        let last =
            key.count <= 8
            ? key.low &>> UInt64(key.count &* 8 &- 8) : key.high &>> UInt64(key.count &* 8 &- 72)
        return bits(first: key.low & 0xFF, last: last & 0xFF, key.count)
    }

    @inline(__always)
    private static func bits(first: UInt64, last: UInt64, _ count: Int) -> UInt64 {
        let mix = (first | last << 8 | UInt64(count) << 16) &* 0x9E37_79B9_7F4A_7C15
        return 1 &<< (mix &>> 58) | 1 &<< (mix &>> 52 & 63)
    }

    /// The index of the value under a key that stands behind the one found last, as most do that
    /// a type asks for; 0 if it must be searched for.
    @inline(__always)
    mutating func findNext(_ key: ShortString) -> Int {
        let place = next
        guard place < stop else { return 0 }
        let word = words[place]
        let bits = MemberCursor.bits(key)
        guard word >> 32 == Word.make(.string, length: key.count, offset: 0) >> 32,
            seen & bits != bits, TextPrefix(key).begins(bytes + Word.offset(word))
        else { return 0 }
        seen |= bits
        last = place
        next = end(of: place &+ 1)
        return place &+ 1
    }

    /// The index of the value of the first member with this key; 0 if there is none.
    @inline(__always)
    mutating func find(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        let place = next
        let bits = MemberCursor.bits(key.baseAddress, key.count)
        guard place < stop, seen & bits != bits, isKey(at: place, equalTo: key) else {
            return search(key, bits)
        }
        seen |= bits
        last = place
        next = end(of: place &+ 1)
        return place &+ 1
    }

    /// The same for a cursor that is asked for each key once: only those that were passed over
    /// can be repeated.
    @inline(__always)
    mutating func findOnce(_ key: UnsafeBufferPointer<UInt8>, bits: UInt64) -> Int {
        let place = next
        guard place < stop, seen & bits != bits, isKey(at: place, equalTo: key) else {
            return search(key, bits)
        }
        next = end(of: place &+ 1)
        return place &+ 1
    }

    @inline(never)
    private mutating func search(_ key: UnsafeBufferPointer<UInt8>, _ bits: UInt64) -> Int {
        if seen & bits == bits {
            // Types often ask for a key twice: whether it is there, and then for its value. The
            // one that was found was the first.
            if last < next, isKey(at: last, equalTo: key) { return last &+ 1 }
            var place = first
            while place < next {
                if isKey(at: place, equalTo: key) { return found(place) }
                skipped &+= 1
                place = end(of: place &+ 1)
            }
        }
        var place = next
        var passed = seen
        while place < stop {
            let after = end(of: place &+ 1)
            let word = words[place]
            if isKey(at: place, equalTo: key) {
                seen = passed | bits
                next = after
                return found(place)
            }
            let isEscaped = word >> 60 == Word.Kind.escaped.rawValue
            passed |=
                isEscaped
                ? .max : MemberCursor.bits(bytes + Word.offset(word), Word.length(word))
            skipped &+= 1
            place = after
        }
        return 0
    }

    private mutating func found(_ place: Int) -> Int {
        last = place
        return place &+ 1
    }
}
