/// Looks up keys of an object, quickest in the order in which they stand there.
///
/// Of a repeated key the one found is the next after the last key that was found.
struct MemberCursor {
    let tape: Tape
    let first: Int
    let stop: Int
    /// How many members the object has.
    let count: Int
    private var next: Int

    init(tape: Tape, object: Int) {
        self.tape = tape
        first = object + 2
        next = first
        stop = Word.end(tape.words[object + 1])
        count = Word.count(tape.words[object + 1])
    }

    /// The index of the value of a member with this key, nil if there is none.
    @inline(__always)
    mutating func find(_ key: UnsafeBufferPointer<UInt8>) -> Int? {
        if next < stop, tape.isString(at: next, equalTo: key) {
            let value = next + 1
            next = tape.end(of: value)
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
            let after = tape.end(of: place + 1)
            if tape.isString(at: place, equalTo: key) {
                next = after
                return place + 1
            }
            place = after
        }
        return nil
    }
}
