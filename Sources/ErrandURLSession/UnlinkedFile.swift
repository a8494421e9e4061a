import ErrandTransport
import Foundation

/// A temporary file that is unlinked right after creation.
///
/// The system removes it when this object is released, and also when the process crashes.
final class UnlinkedFile: Sendable {
    private let descriptor: Int32

    init() throws(RequestError) {
        let directory = FileManager.default.temporaryDirectory.path
        do throws(FileAccess.Refusal) {
            descriptor = try FileAccess.unnamed(in: directory)
        } catch {
            throw Self.failure("Could not create a temporary file in \(directory)", error.code)
        }
    }

    deinit { close(descriptor) }

    func write(_ data: Data, at offset: Int64) throws(RequestError) {
        if let error = data.withUnsafeBytes({ write($0, at: offset) }) { throw error }
    }

    /// Writes bytes; returns the error, or `nil` on success.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> RequestError? {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(
                descriptor, rest.baseAddress, rest.count, off_t(offset + Int64(written)))
            if count > 0 {
                written += count
            } else if errno != EINTR {
                return Self.failure("Could not write a temporary file")
            }
        }
        return nil
    }

    /// Reads at an offset and returns the number of bytes; 0 at the end.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(RequestError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw Self.failure("Could not read a temporary file") }
        }
    }

    func empty() { _ = ftruncate(descriptor, 0) }

    private static func failure(_ what: String, _ code: Int32 = errno) -> RequestError {
        let reason = String(cString: strerror(code))
        return RequestError(
            .fileFailed, stage: .transport,
            "\(what): \(reason). Free some disk space, or set TMPDIR.")
    }
}
