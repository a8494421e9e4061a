/// The bytes that wait to be sent: frames are appended at the end, sent bytes are removed at the start. An empty buffer has
/// no memory, because most connections are idle most of the time.
// @unchecked: its memory belongs to it alone.
package struct WebSocketBuffer: ~Copyable, @unchecked Sendable {
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var start = 0
    private var end = 0

    package init() {}

    deinit { memory.deallocate() }

    package var count: Int { end - start }
    package var isEmpty: Bool { start == end }

    /// The bytes, valid until they change.
    package var contents: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[start..<end])
    }

    /// Removes bytes at the start, after they were sent.
    package mutating func removeFirst(_ count: Int) {
        start = min(end, start + count)
        guard start == end else { return }
        removeAll()
    }

    /// Removes bytes at the end.
    mutating func removeLast(_ count: Int) { end = max(start, end - count) }

    package mutating func removeAll() {
        (start, end) = (0, 0)
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Appends bytes that a closure writes; the closure gets room for exactly this number of bytes and fills it.
    package mutating func append(
        _ count: Int, write: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        append(upTo: count) { room in
            write(room)
            return count
        }
    }

    /// Appends bytes that a closure writes; it gets room for exactly this number of bytes and returns how many it
    /// has written.
    mutating func append(upTo limit: Int, write: (UnsafeMutableRawBufferPointer) -> Int) {
        reserve(limit)
        let room = UnsafeMutableRawBufferPointer(rebasing: memory[end..<(end + limit)])
        end += min(limit, write(room))
    }

    private mutating func reserve(_ extra: Int) {
        guard memory.count - end < extra else { return }
        let count = end - start
        if memory.count >= count + extra, start >= count {
            // The free space at the start is at least as large as what is moved.
            memory.copyMemory(from: contents)
        } else {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(memory.count * 2, count + extra, 512), alignment: 16)
            larger.copyMemory(from: contents)
            memory.deallocate()
            memory = larger
        }
        (start, end) = (0, count)
    }
}
