// Performance annotations: decision 17.

/// Finds members of an object by key, fastest when keys are requested in document order.
///
/// For a repeated key the first member is found, whatever the order of requests.
struct MemberCursor {
    let first: Int
    let stop: Int
    /// The number of members of the object.
    let count: Int
    /// The number of members compared without a match.
    private(set) var skipped = 0
    private let words: UnsafePointer<UInt64>
    private let bytes: UnsafePointer<UInt8>
    private let tape: Unmanaged<Tape>
    /// The index of the member after the last one passed.
    private var next: Int
    /// The index of the key found last.
    private var last: Int
    /// A Bloom filter of the keys before `next`, two bits for each key.
    private var seen: UInt64 = 0
    /// The first member that the last search skipped, or the one after those found there since; and the filter of the
    /// keys before it.
    ///
    /// One member in another order, such as an identifier at the end, then leaves the others in order.
    private var aside: Int
    private var seenAside: UInt64 = 0

    /// Creates a cursor over the object at `object`; it has no members if the value is not an
    /// object.
    ///
    /// The caller keeps the tape alive. Members before `place` are skipped.
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
        aside = stop
        count = Word.count(extent)
    }

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

    /// The two bits of a key in the filter.
    static func bits(_ text: UnsafePointer<UInt8>?, _ count: Int) -> UInt64 {
        guard let text, count > 0 else { return 1 }
        return bits(first: UInt64(text[0]), last: UInt64(text[count &- 1]), count)
    }

    static func bits(_ key: ShortString) -> UInt64 {
        guard key.count > 0 else { return 1 }
        let last =
            key.count <= 8
            ? key.low &>> UInt64(key.count &* 8 &- 8) : key.high &>> UInt64(key.count &* 8 &- 72)
        return bits(first: key.low & 0xFF, last: last & 0xFF, key.count)
    }

    private static func bits(first: UInt64, last: UInt64, _ count: Int) -> UInt64 {
        let mix = (first | last << 8 | UInt64(count) << 16) &* 0x9E37_79B9_7F4A_7C15
        return 1 &<< (mix &>> 58) | 1 &<< (mix &>> 52 & 63)
    }

    /// Returns the value's index if `key` is the member at `next`, the common case; 0 otherwise.
    ///
    /// On 0 the caller must search with `find`.
    @inline(__always)
    mutating func findNext(_ key: SoughtKey) -> Int {
        let place = next
        guard place < stop else { return 0 }
        let word = words[place]
        let bits = key.bits
        guard word >> 32 == key.head,
            TextPrefix(key.text).begins(bytes + Word.offset(word)),
            seen & bits != bits || isFirst(key, at: place)
        else { return 0 }
        seen |= bits
        last = place
        next = end(of: place &+ 1)
        return place &+ 1
    }

    /// Whether no member before `place` has this key; false if the caller must search for it.
    ///
    /// The filter has two bits for each key, so that in an object of ten members one of the last
    /// keys is often in it by chance.
    @inline(never)
    private func isFirst(_ key: SoughtKey, at place: Int) -> Bool {
        guard count <= 32, words[first &- 2] & Word.hasEscapedKeys == 0 else { return false }
        let text = TextPrefix(key.text)
        let head = words[place] >> 32
        var earlier = first
        while earlier < place {
            let word = words[earlier]
            if word >> 32 == head, text.begins(bytes + Word.offset(word)) { return false }
            earlier = end(of: earlier &+ 1)
        }
        return true
    }

    /// Returns the value's index if `key` is the first skipped member; 0 otherwise.
    ///
    /// On 0 the caller must search with `find`.
    @inline(never)
    mutating func findAside(_ key: SoughtKey) -> Int {
        let place = aside
        guard place < stop else { return 0 }
        let word = words[place]
        let bits = key.bits
        guard word >> 32 == key.head,
            seenAside & bits != bits, TextPrefix(key.text).begins(bytes + Word.offset(word))
        else { return 0 }
        seenAside |= bits
        last = place
        aside = end(of: place &+ 1)
        return place &+ 1
    }

    /// Returns the index of the value of the first member with this key; 0 if there is none.
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

    /// Works like `find`, for a cursor that searches for each key only once.
    ///
    /// Therefore only skipped members need to be in the filter.
    @inline(__always)
    mutating func findOnce(_ key: UnsafeBufferPointer<UInt8>, bits: UInt64) -> Int {
        let place = next
        guard place < stop, seen & bits != bits, isKey(at: place, equalTo: key) else {
            return search(key, bits)
        }
        next = end(of: place &+ 1)
        return place &+ 1
    }

    private mutating func search(_ key: UnsafeBufferPointer<UInt8>, _ bits: UInt64) -> Int {
        if seen & bits == bits {
            // Types often request a key twice: first its presence, then its value. The member found
            // last was the first with its key.
            if last < next, isKey(at: last, equalTo: key) { return last &+ 1 }
            // A key that is not before the first skipped member is searched from there on.
            var place = aside < next && seenAside & bits != bits ? aside : first
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
                if place > next { (aside, seenAside) = (next, seen) }
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
