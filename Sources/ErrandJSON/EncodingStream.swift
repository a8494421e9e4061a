/// A contiguous run of JSON text, and the members of the objects that are open in it.
///
/// Values are written directly into the stream in the order in which types encode them. A nested
/// container or a super encoder may be written later, so it has its own stream, which is inserted
/// when the enclosing value ends.
final class EncodingStream {
    let sink: ByteSink
    /// The number of open values in this stream; only the innermost may write.
    var depth = 0
    /// The number of members that were indexed or moved because of repeated keys, for tests.
    private(set) var steps = 0
    /// The members of all open objects, outermost first.
    private let members: MemberLog

    init(capacity: Int = 512) {
        sink = ByteSink(capacity: capacity)
        members = MemberLog()
    }

    deinit {
        sink.destroy()
        members.destroy()
    }

    /// Clears the stream; false if a value is still open or if the buffer has grown large.
    func rest() -> Bool {
        guard depth == 0, sink.capacity <= 1 << 16 else { return false }
        sink.truncate(to: 0)
        members.count = 0
        return true
    }

    /// The number of members written so far, which is the index of the next object's first member.
    var memberCount: Int { members.count }

    func dropMembers(from first: Int) { members.count = first }

    func dropLastMember() { members.count = max(members.count - 1, 0) }

    /// Records a member whose key, written at `start`, is known to be new in its object.
    func append(_ fingerprint: UInt64, start: Int) {
        members.append(.init(fingerprint: fingerprint, start: start))
    }

    /// Records the member whose key has just been written at `start`.
    ///
    /// An earlier member with the same key is replaced: the later value wins, as in a dictionary. Its text remains
    /// until ``compact(since:_:)``, so that many repeated keys do not move the text after them each time.
    ///
    /// - Returns: The position of the replaced member; nil if there was no such member.
    func note(
        _ fingerprint: UInt64, start: Int, since first: Int, index: inout [UInt64: Int]?
    ) -> Int? {
        let place = members.count
        let earlier =
            place &- first > 32
            ? indexed(fingerprint, since: first, &index)
            : members.position(of: fingerprint, since: first)
        members.append(.init(fingerprint: fingerprint, start: start))
        guard let earlier, sink.isSameText(members[earlier].start, start) else { return nil }
        members.setReplaced(earlier, true)
        if index != nil { index?[fingerprint] = place }
        return earlier
    }

    /// Makes a replaced member the value of its key again, because the later one could not be encoded.
    func restore(_ place: Int, index: inout [UInt64: Int]?) {
        members.setReplaced(place, false)
        if index != nil { index?[members[place].fingerprint] = place }
    }

    /// The number of bytes of a member that a later one follows, with the comma between them.
    func length(of place: Int) -> Int { members[place + 1].start - members[place].start }

    /// The offset of the first member.
    func start(of first: Int) -> Int { members[first].start }

    /// Finds the key in an object with many members, with a table of the first position of each fingerprint.
    ///
    /// The table makes a search as fast for fingerprints that collide, which keys of a server could be chosen for.
    private func indexed(
        _ fingerprint: UInt64, since first: Int, _ index: inout [UInt64: Int]?
    ) -> Int? {
        if index == nil { index = positions(since: first) }
        // A member whose encoding failed was dropped, and its position may have another one.
        if let place = index?[fingerprint], place < members.count,
            members[place].fingerprint == fingerprint, !members[place].isReplaced
        {
            return place
        }
        index?[fingerprint] = members.count
        return nil
    }

    private func positions(since first: Int) -> [UInt64: Int] {
        steps += members.count - first
        var positions: [UInt64: Int] = [:]
        for place in first..<members.count where !members[place].isReplaced {
            let fingerprint = members[place].fingerprint
            if positions[fingerprint] == nil { positions[fingerprint] = place }
        }
        return positions
    }

    /// Removes the text of replaced members from the innermost object, with the comma after each.
    ///
    /// - Parameter pending: Values with their offsets, in ascending order; those of replaced members are removed.
    /// - Returns: The number of removed bytes.
    func compact(
        since first: Int, _ pending: inout [(offset: Int, encoder: StreamEncoder)]
    ) -> Int {
        steps += members.count - first
        var (removed, kept, next) = (0, first, 0)
        var keptPending: [(offset: Int, encoder: StreamEncoder)] = []
        for place in first..<members.count {
            let member = members[place]
            let isLast = place + 1 == members.count
            let end = isLast ? sink.count : members[place + 1].start
            while next < pending.count, pending[next].offset < end || isLast {
                if !member.isReplaced {
                    keptPending.append((pending[next].offset - removed, pending[next].encoder))
                }
                next += 1
            }
            if member.isReplaced {
                removed += end - member.start
                continue
            }
            sink.move(member.start..<end, by: removed)
            members.replace(
                kept, .init(fingerprint: member.fingerprint, start: member.start - removed))
            kept += 1
        }
        members.count = kept
        pending = keptPending
        sink.truncate(to: sink.count - removed)
        return removed
    }
}

/// The stack of members written to open objects; a handle without reference counting, like
/// `ByteSink`.
struct MemberLog {
    struct Member {
        var fingerprint: UInt64
        /// The offset of the key; the comma before it is not included.
        var start: Int
        /// Whether a later member has the same key.
        var isReplaced = false
    }

    private let state: UnsafeMutablePointer<State>

    private struct State {
        var base: UnsafeMutablePointer<Member>
        var count = 0
        var capacity = 32
    }

    init() {
        state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State(base: .allocate(capacity: 32)))
    }

    func destroy() {
        state.pointee.base.deallocate()
        state.deallocate()
    }

    var count: Int {
        get { state.pointee.count }
        nonmutating set { state.pointee.count = newValue }
    }

    subscript(position: Int) -> Member {
        get { state.pointee.base[position] }
    }

    func append(_ member: Member) {
        if count == state.pointee.capacity { grow() }
        state.pointee.base[count] = member
        count &+= 1
    }

    private func grow() {
        let larger = UnsafeMutablePointer<Member>.allocate(capacity: count * 2)
        larger.update(from: state.pointee.base, count: count)
        state.pointee.base.deallocate()
        state.pointee.base = larger
        state.pointee.capacity = count * 2
    }

    func position(of fingerprint: UInt64, since first: Int) -> Int? {
        let base = state.pointee.base
        let count = count
        var position = first
        while position < count {
            if base[position].fingerprint == fingerprint, !base[position].isReplaced {
                return position
            }
            position &+= 1
        }
        return nil
    }

    func setReplaced(_ position: Int, _ isReplaced: Bool) {
        state.pointee.base[position].isReplaced = isReplaced
    }

    func replace(_ position: Int, _ member: Member) { state.pointee.base[position] = member }
}

extension ByteSink {
    /// A hash of the text from `start` to the end.
    func fingerprint(from start: Int) -> UInt64 {
        let end = base + count
        var next = base + start
        var hash = UInt64(truncatingIfNeeded: end - next) &* 0x9E37_79B9_7F4A_7C15
        while end - next >= 8 {
            hash =
                (hash ^ UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
                &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            next += 8
        }
        // The bytes after the text are within the buffer; they are masked out.
        let rest: UInt64
        if hasRoom(8) {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
            rest = word & ((1 &<< UInt64((end - next) &* 8)) &- 1)
        } else {
            rest = (0..<(end - next)).reduce(0) { $0 | UInt64(next[$1]) << UInt64($1 * 8) }
        }
        return (hash ^ rest) &* 0xFF51_AFD7_ED55_8CCD
    }

    /// Whether two quoted strings are equal; the one at `right` extends to the end.
    func isSameText(_ left: Int, _ right: Int) -> Bool {
        let length = count - right
        guard left + length <= right else { return false }
        return UnsafeBufferPointer(start: base + left, count: length)
            .elementsEqual(UnsafeBufferPointer(start: base + right, count: length))
    }

    /// Inserts bytes at `position` and moves the following bytes.
    func insert(_ other: ByteSink, at position: Int) {
        let tail = Array(UnsafeBufferPointer(start: base + position, count: count - position))
        truncate(to: position)
        write(UnsafeBufferPointer(start: other.base, count: other.count))
        tail.withUnsafeBufferPointer { write($0) }
    }
}
