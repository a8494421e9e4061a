package import Foundation
import Synchronization

/// A regular file, read through a descriptor of its own while it is sent.
///
/// Its length is taken once, when it is opened. A file that has another length by the time its last byte is
/// due fails the body, before that byte is handed out: a server must not take half a file for a whole one.
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
    /// - Parameter expectedLength: The length that was announced for it, where one was.
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

    /// The length of a file that can be sent, without keeping it open.
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
                return .failed(Self.failure("The file \(name) cannot be read on."))
            }
            // NB: a transport that knows the length does not ask for the end, so look before the last byte.
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
            "The file \(name) changed its size while it was sent. Send a copy that nobody writes to."
        )
    }

    private static func failure(_ message: String) -> RequestError {
        RequestError(.bodyReadFailed, stage: .transport, message)
    }
}

/// An open file that closes itself.
private final class FileDescriptor: Sendable {
    private let number: Int32

    init(opening url: URL) throws(RequestError) {
        guard url.isFileURL else {
            throw RequestError(
                .invalidBody, stage: .build,
                "The body's file has the scheme \(url.scheme ?? "(none)"); "
                    + "make its URL with URL(fileURLWithPath:).")
        }
        // NB: without O_NONBLOCK, opening a named pipe would wait for its writer.
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
                "The body's file \(url.lastPathComponent) is no regular file. "
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
