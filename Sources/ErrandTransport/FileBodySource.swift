package import ErrandSystem
import Synchronization

/// A body source over a regular file, which is read while it is sent.
///
/// The length is taken when the file is opened. If the file has another length when the last byte
/// is due, the body fails before that byte is returned, so that a server never receives an
/// incomplete file as a complete one.
package final class FileBodySource: BodySource {
    private struct State {
        var file: SourceFile?
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
        let (file, size) = try Self.open(url)
        if let expectedLength, expectedLength != size {
            throw FileBodySource.changed(url.lastPathComponent)
        }
        name = url.lastPathComponent
        self.size = size
        state = Mutex(State(file: file))
    }

    /// Checks that a file can be sent and returns its length; does not keep it open.
    ///
    /// - Throws: ``RequestError/Code/invalidBody``.
    package static func checkedLength(of url: URL) throws(RequestError) -> Int64 {
        try open(url).size
    }

    package var length: Int64? { size }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        state.withLock { state in
            guard let file = state.file else {
                return .failed(Self.failure("The file \(name) was closed while it was sent."))
            }
            let rest = size - state.offset
            let wanted = Int(min(Int64(buffer.count), rest))
            guard wanted > 0 else {
                if rest > 0 { return .wait }
                return file.size == size ? .end : .failed(Self.changed(name))
            }
            let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard let count = file.read(into: slice, at: state.offset) else {
                return .failed(Self.failure("Reading the file \(name) failed while it was sent."))
            }
            // A transport that knows the length does not read until `end`: check the size before
            // returning the last byte.
            let isLast = Int64(count) == rest
            guard count > 0, !isLast || file.size == size else {
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
            return state.file != nil
        }
    }

    package func close() {
        state.withLock { $0.file = nil }
    }

    private static func open(_ url: URL) throws(RequestError) -> (file: SourceFile, size: Int64) {
        do throws(SourceFile.Problem) {
            let file = try SourceFile(url)
            return (file, file.size ?? 0)
        } catch { throw refusal(of: url, error) }
    }

    private static func refusal(of url: URL, _ problem: SourceFile.Problem) -> RequestError {
        switch problem {
        case .noFileURL:
            RequestError(
                .invalidBody, stage: .build,
                "The URL of the body's file has the scheme \(url.scheme ?? "(none)"); "
                    + "create it with URL(fileURLWithPath:).")
        case .cannotOpen(let reason):
            RequestError(
                .invalidBody, stage: .build,
                "The body's file \(url.lastPathComponent) cannot be opened: "
                    + "\(String(cString: strerror(reason))). It must exist and be readable.",
                underlying: POSIXErrorCode(rawValue: reason).map { POSIXError($0) })
        case .notRegular:
            RequestError(
                .invalidBody, stage: .build,
                "The body's file \(url.lastPathComponent) is not a regular file. "
                    + "Use HTTPBody.stream for a pipe or a device.")
        }
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
