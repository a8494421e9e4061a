package import ErrandSystem
import Synchronization

/// A body source over bytes in memory.
package final class DataBodySource: BodySource {
    private let data: Data
    private let offset = Mutex(0)

    package init(_ data: Data) { self.data = data }

    package var length: Int64? { Int64(data.count) }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        offset.withLock { offset in
            let count = min(buffer.count, data.count - offset)
            guard count > 0 else { return offset == data.count ? .end : .wait }
            // A slice of `Data` keeps its parent's indices.
            let start = data.startIndex + offset
            data.copyBytes(to: buffer, from: start..<start + count)
            offset += count
            return .bytes(count)
        }
    }

    package func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }

    package func rewind() -> Bool {
        offset.withLock { $0 = 0 }
        return true
    }

    package func close() {}
}
