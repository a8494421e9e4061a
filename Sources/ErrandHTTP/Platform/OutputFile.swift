package import ErrandSystem
import Synchronization

/// A file that is open for writing; closed when deallocated.
package final class OutputFile: Sendable {
    /// -1 after ``close()``.
    private let descriptor: Mutex<Int32>

    /// Takes over an open descriptor.
    package init(descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    deinit { try? close() }

    /// Writes all bytes to an open descriptor, which stays open.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
    ) throws(POSIXError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = ErrandSystem.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count == 0 || errno != EINTR {
                throw count == 0 ? POSIXError(.ENOSPC) : .last
            }
        }
    }

    /// Writes all bytes at the present position.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(POSIXError) {
        try descriptor.withLock { descriptor throws(POSIXError) in
            try Self.write(bytes, to: descriptor)
        }
    }

    /// Writes all bytes at the present position.
    package func write(_ data: Data) throws(POSIXError) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(POSIXError) in try write(bytes) }
        }
        try result.get()
    }

    /// Moves the position to an offset.
    package func seek(to offset: Int64) throws(POSIXError) {
        try check { lseek($0, off_t(offset), SEEK_SET) >= 0 }
    }

    /// Removes the bytes from an offset on.
    package func truncate(at offset: Int64) throws(POSIXError) {
        try check { ftruncate($0, off_t(offset)) == 0 }
    }

    /// Writes the content to the disk.
    package func synchronize() throws(POSIXError) { try check { fsync($0) == 0 } }

    /// Closes the file; some file systems report only now that it could not be written.
    package func close() throws(POSIXError) {
        try descriptor.withLock { descriptor throws(POSIXError) in
            guard descriptor >= 0 else { return }
            let result = ErrandSystem.close(descriptor)
            descriptor = -1
            if result != 0, errno != EINTR { throw .last }
        }
    }

    private func check(_ call: (Int32) -> Bool) throws(POSIXError) {
        try descriptor.withLock { descriptor throws(POSIXError) in
            guard call(descriptor) else { throw .last }
        }
    }
}
