package import ErrandSystem
import Synchronization

/// The bytes of a body that a recording keeps, up to a limit.
package struct RecordedBody: Sendable {
    /// The bytes; empty if the body is longer than the limit.
    package private(set) var bytes = Data()
    /// The number of bytes of the body so far.
    package private(set) var count: Int64 = 0
    /// The reason why bytes are missing, as a sentence; `nil` if none are.
    package private(set) var problem: String?

    package init() {}

    /// A complete body.
    package init(_ bytes: Data) {
        self.bytes = bytes
        count = Int64(bytes.count)
    }

    /// A body without its bytes.
    package init(count: Int64, problem: String) {
        self.count = count
        self.problem = problem
    }

    /// Adds bytes, if all of the body fit into the limit and the memory of all recordings.
    mutating func append(_ chunk: UnsafeRawBufferPointer, limit: Int, in memory: RecordingMemory) {
        count += Int64(chunk.count)
        guard problem == nil else { return }
        if count > Int64(limit) {
            withhold("The body exceeds the limit of \(limit) bytes.", in: memory)
        } else if !memory.take(chunk.count) {
            withhold("Too many bytes of other bodies are waiting to be written.", in: memory)
        } else {
            bytes.append(contentsOf: chunk)
        }
    }

    /// Forgets the bytes, for a body that is sent again.
    mutating func restart(in memory: RecordingMemory) {
        memory.release(bytes.count)
        self = RecordedBody()
    }

    private mutating func withhold(_ problem: String, in memory: RecordingMemory) {
        memory.release(bytes.count)
        bytes = Data()
        self.problem = problem
    }
}

/// The number of bytes that recorded bodies occupy, with a limit.
package final class RecordingMemory: Sendable {
    private let used = Mutex(0)
    private let limit: Int

    package init(limit: Int) { self.limit = limit }

    func take(_ count: Int) -> Bool {
        used.withLock { used in
            guard used + count <= limit else { return false }
            used += count
            return true
        }
    }

    package func release(_ count: Int) { used.withLock { $0 -= count } }

    /// The number of bytes that are occupied now.
    package var bytesInUse: Int { used.withLock { $0 } }
}
