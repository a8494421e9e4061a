package import ErrandSystem

/// A regular file that is open for reading; closed when deallocated.
package final class SourceFile: Sendable {
    /// The reason why a file cannot be read.
    package enum Problem: Error {
        /// The URL has another scheme than `file`.
        case noFileURL
        /// The error number of the system.
        case cannotOpen(Int32)
        case notRegular
    }

    private let descriptor: Int32

    package init(_ url: URL) throws(Problem) {
        guard url.isFileURL else { throw .noFileURL }
        do throws(FileAccess.Refusal) {
            descriptor = try FileAccess.reading(url.path)
        } catch {
            if case .failed(let code) = error { throw .cannotOpen(code) }
            throw .notRegular
        }
    }

    /// Opens a file that the package has written; see ``FileAccess/own(_:_:mayHaveSecondName:)``.
    package init(own path: String) throws(FileAccess.Refusal) {
        descriptor = try FileAccess.own(path)
    }

    deinit { if descriptor >= 0 { _ = close(descriptor) } }

    /// The present attributes; `nil` if they cannot be read.
    package var information: stat? {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? information : nil
    }

    /// The present size in bytes; `nil` if it cannot be read.
    package var size: Int64? { information.map { Int64($0.st_size) } }

    /// Reads from an offset; `nil` if that fails, with the reason in `errno`.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { return nil }
        }
    }

    /// The first bytes of a file, at most the given number; `nil` if it cannot be read.
    ///
    /// FileHandle does the same, and loads 0.5 MB more of Foundation into the memory of a process.
    package static func beginning(of url: URL, _ count: Int) -> Data? {
        (try? SourceFile(url))?.beginning(count)
    }

    /// The same for a file that the package has written; `nil` also if another user can have written it.
    package static func beginning(ofOwn path: String, _ count: Int) -> Data? {
        (try? SourceFile(own: path))?.beginning(count)
    }

    /// All bytes; `nil` if they cannot be read, with the reason in `errno`.
    package func contents() -> Data? { size.flatMap { beginning(Int($0)) } }

    private func beginning(_ count: Int) -> Data? {
        // The initializer of the array would write into the storage that all empty arrays share.
        guard count > 0 else { return Data() }
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let whole = UnsafeMutableRawBufferPointer(buffer)
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: whole[filled...])
                guard let read = read(into: rest, at: Int64(filled)) else {
                    failed = true
                    return
                }
                if read == 0 { return }
                filled += read
            }
        }
        return failed ? nil : Data(bytes)
    }
}
