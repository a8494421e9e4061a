package import Foundation
import Synchronization

/// A body source over a regular file, which is read while it is sent.
///
/// The length is taken when the file is opened. If the file has another length when the last byte
/// is due, the body fails before that byte is returned, so that a server never receives an
/// incomplete file as a complete one.
package final class FileBodySource: BodySource {
    private struct State {
        var descriptor: FileDescriptor?
        var offset: Int64 = 0
    }

    private let name: String
    private let size: Int64
    private let state: Mutex<State>

    /// Opens the file.
    ///
    /// - Parameter expectedLength: The length that was declared for the file; `nil` if none was.
    /// - Throws: ``RequestError/Code/invalidBody``.
    package init(_ url: URL, expectedLength: Int64? = nil) throws(RequestError) {
        let descriptor = try FileDescriptor(opening: url)
        let size = try descriptor.regularFileSize(of: url)
        if let expectedLength, expectedLength != size {
            throw FileBodySource.changed(url.lastPathComponent)
        }
        name = url.lastPathComponent
        self.size = size
        state = Mutex(State(descriptor: descriptor))
    }

    /// Checks that a file can be sent and returns its length; does not keep it open.
    ///
    /// - Throws: ``RequestError/Code/invalidBody``.
    package static func checkedLength(of url: URL) throws(RequestError) -> Int64 {
        try FileDescriptor(opening: url).regularFileSize(of: url)
    }

    package var length: Int64? { size }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        state.withLock { state in
            guard let descriptor = state.descriptor else {
                return .failed(Self.failure("The file \(name) was closed while it was sent."))
            }
            let rest = size - state.offset
            let wanted = Int(min(Int64(buffer.count), rest))
            guard wanted > 0 else {
                if rest > 0 { return .wait }
                return descriptor.currentSize == size ? .end : .failed(Self.changed(name))
            }
            let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard let count = descriptor.read(into: slice, at: state.offset) else {
                return .failed(Self.failure("Reading the file \(name) failed while it was sent."))
            }
            // A transport that knows the length does not read until `end`: check the size before
            // returning the last byte.
            let isLast = Int64(count) == rest
            guard count > 0, !isLast || descriptor.currentSize == size else {
                return .failed(Self.changed(name))
            }
            state.offset += Int64(count)
            return .bytes(count)
        }
    }

    package func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }

    package func rewind() -> Bool {
        state.withLock { state in
            state.offset = 0
            return state.descriptor != nil
        }
    }

    package func close() {
        state.withLock { $0.descriptor = nil }
    }

    private static func changed(_ name: String) -> RequestError {
        failure(
            "The size of the file \(name) changed while it was sent. "
                + "Send a copy that is not modified.")
    }

    private static func failure(_ message: String) -> RequestError {
        RequestError(.bodyReadFailed, stage: .transport, message)
    }
}

/// An open file; closed when deallocated.
private final class FileDescriptor: Sendable {
    private let number: Int32

    init(opening url: URL) throws(RequestError) {
        guard url.isFileURL else {
            throw RequestError(
                .invalidBody, stage: .build,
                "The URL of the body's file has the scheme \(url.scheme ?? "(none)"); "
                    + "create it with URL(fileURLWithPath:).")
        }
        // Without O_NONBLOCK, opening a named pipe would block until another process writes to it.
        number = url.withUnsafeFileSystemRepresentation { path in
            path.map { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) } ?? -1
        }
        guard number >= 0 else {
            let reason = errno
            throw RequestError(
                .invalidBody, stage: .build,
                "The body's file \(url.lastPathComponent) cannot be opened: "
                    + "\(String(cString: strerror(reason))). It must exist and be readable.",
                underlying: POSIXErrorCode(rawValue: reason).map { POSIXError($0) })
        }
    }

    deinit {
        if number >= 0 { _ = close(number) }
    }

    func regularFileSize(of url: URL) throws(RequestError) -> Int64 {
        var information = stat()
        guard fstat(number, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw RequestError(
                .invalidBody, stage: .build,
                "The body's file \(url.lastPathComponent) is not a regular file. "
                    + "Use HTTPBody.stream for a pipe or a device.")
        }
        return Int64(information.st_size)
    }

    var currentSize: Int64? {
        var information = stat()
        return fstat(number, &information) == 0 ? Int64(information.st_size) : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        while true {
            let count = pread(number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { return nil }
        }
    }
}
