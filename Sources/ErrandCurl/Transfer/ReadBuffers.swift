package import ErrandSystem
import Synchronization

/// Buffers for reads whose bytes are passed on without a copy.
///
/// A buffer returns when the chunk that has it is released, so a reader that keeps no chunk uses one
/// or two of them, which stay in the processor's cache.
package final class ReadBuffers: Sendable {
    /// Memory for one read.
    // @unchecked: its one owner uses the memory: the transport that reads, then the chunk.
    package final class Buffer: @unchecked Sendable {
        package let memory: UnsafeMutableRawBufferPointer

        fileprivate init(byteCount: Int) {
            memory = .allocate(byteCount: byteCount, alignment: 16)
        }

        deinit { memory.deallocate() }
    }

    private let byteCount: Int
    private let limit: Int
    private let free = Mutex<[Buffer]>([])

    /// Creates an empty set.
    ///
    /// - Parameters:
    ///   - byteCount: The size of a buffer.
    ///   - limit: The number of buffers that are kept for later reads.
    package init(byteCount: Int, limit: Int) {
        self.byteCount = byteCount
        self.limit = limit
    }

    /// The number of buffers that are kept now.
    package var count: Int { free.withLock { $0.count } }

    /// Takes a buffer for one read.
    package func take() -> Buffer { free.withLock { $0.popLast() } ?? Buffer(byteCount: byteCount) }

    /// Returns a buffer that no chunk has.
    package func giveBack(_ buffer: Buffer) {
        // A surplus buffer is released outside the lock.
        free.withLock { free in
            if free.count < limit { free.append(buffer) }
        }
    }

    /// Releases the buffers that are kept.
    package func removeAll() {
        let removed = free.withLock { free in
            defer { free = [] }
            return free
        }
        withExtendedLifetime(removed) {}
    }

    /// A chunk with a part of a buffer, which returns when the chunk is released.
    package func chunk(_ bytes: UnsafeRawBufferPointer, of buffer: Buffer) -> Data {
        guard let start = bytes.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
            deallocator: .custom { [self] _, _ in giveBack(buffer) })
    }
}
