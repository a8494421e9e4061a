/// Content that a receiver has not accepted yet.
///
/// Accepted bytes are removed in large parts, so that a receiver which pauses often costs linear time.
struct UnreadContent {
    /// The size of memory that is kept for more content.
    private static let keptBytes = 256 << 10

    private var bytes: [UInt8] = []
    /// The number of accepted bytes that were not removed.
    private var start = 0

    var isEmpty: Bool { start == bytes.count }

    /// The number of bytes in memory.
    var storageCount: Int { bytes.count }

    mutating func append(contentsOf part: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: part)
    }

    /// Passes the bytes to a closure, which returns how many were accepted.
    mutating func accept(by body: (UnsafeRawBufferPointer) -> Int) -> Int {
        let count = bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        start += count
        if isEmpty {
            // The receiver probably pauses again.
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytes)
            start = 0
        } else if start >= bytes.count - start {
            bytes.removeFirst(start)
            start = 0
        }
        return count
    }
}
