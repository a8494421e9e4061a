/// One run of JSON text being written, and the members of the objects open in it.
///
/// Values are written straight into it in the order in which types encode them. What may be
/// written later (a nested container, a super encoder) has a stream of its own, which is put in
/// its place when the value around it is done.
final class EncodingStream {
    let sink: ByteSink
    /// How many values are open in this stream; only the innermost may write.
    var depth = 0
    /// The members of all open objects, outermost first.
    private var members: [Member] = []

    private struct Member {
        var fingerprint: UInt64
        /// Where the member's key begins, the comma before it not included.
        var start: Int
    }

    init(capacity: Int = 512) { sink = ByteSink(capacity: capacity) }

    /// The number of members written so far: where an object's own begin.
    @inline(__always)
    var memberCount: Int { members.count }

    @inline(__always)
    func dropMembers(from first: Int) { members.removeSubrange(first...) }

    func dropLastMember() { _ = members.popLast() }

    /// Notes the member whose key has just been written at `start`, and removes the one that
    /// had the same key before, as in a dictionary the later value wins.
    ///
    /// - Returns: The range of bytes that has been removed, nil without such a member.
    @inline(__always)
    func note(start: Int, since first: Int, index: inout Set<UInt64>?) -> Range<Int>? {
        let fingerprint = sink.fingerprint(from: start)
        let earlier = position(of: fingerprint, since: first, &index)
        members.append(Member(fingerprint: fingerprint, start: start))
        guard let earlier, sink.isSameText(members[earlier].start, start) else { return nil }
        return remove(earlier)
    }

    @inline(__always)
    private func position(
        of fingerprint: UInt64, since first: Int, _ index: inout Set<UInt64>?
    ) -> Int? {
        if members.count &- first > 32 {
            if index == nil { index = Set(members[first...].map(\.fingerprint)) }
            if index?.insert(fingerprint).inserted != false { return nil }
        }
        return members.withUnsafeBufferPointer { members in
            var position = first
            while position < members.count {
                if members[position].fingerprint == fingerprint { return position }
                position &+= 1
            }
            return nil
        }
    }

    @inline(never)
    private func remove(_ earlier: Int) -> Range<Int>? {
        // The comma behind the member goes with it.
        let range = members[earlier].start..<members[earlier + 1].start
        sink.remove(range)
        members.remove(at: earlier)
        for position in earlier..<members.count { members[position].start -= range.count }
        return range
    }
}

extension ByteSink {
    /// A number that differs for most different texts, from `start` to the end.
    @inline(__always)
    func fingerprint(from start: Int) -> UInt64 {
        let length = count &- start
        var hash = UInt64(truncatingIfNeeded: length) &* 0x9E37_79B9_7F4A_7C15
        var position = start
        while position < count {
            var word: UInt64 = 0
            if position &+ 8 <= count {
                word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            } else {
                for offset in 0..<(count &- position) {
                    word = word << 8 | UInt64(base[position &+ offset])
                }
            }
            hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            position &+= 8
        }
        return hash
    }

    /// Whether the quoted strings that begin at two positions are the same.
    func isSameText(_ left: Int, _ right: Int) -> Bool {
        let length = count - right
        guard left + length <= right else { return false }
        return UnsafeBufferPointer(start: base + left, count: length)
            .elementsEqual(UnsafeBufferPointer(start: base + right, count: length))
    }

    /// Puts bytes in at `position` and moves what follows.
    func insert(_ other: ByteSink, at position: Int) {
        let tail = Array(UnsafeBufferPointer(start: base + position, count: count - position))
        truncate(to: position)
        write(UnsafeBufferPointer(start: other.base, count: other.count))
        tail.withUnsafeBufferPointer { write($0) }
    }
}
