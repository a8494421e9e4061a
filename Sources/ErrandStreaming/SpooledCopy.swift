package import Foundation
import Synchronization

/// A copy of a body: in memory up to 64 KiB, beyond that in a file without a name, which the system
/// removes with the process.
package final class SpooledCopy: Sendable {
    private struct State {
        var memory = Data()
        var file: Int32 = -1
        var size: Int64 = 0
        var isGivenUp = false
    }

    private static let memoryLimit = 64 << 10

    private let limit: Int64
    private let state = Mutex(State())

    /// - Parameter limit: The size in bytes above which the copy is given up.
    package init(limit: Int64) { self.limit = limit }

    deinit {
        state.withLock { state in
            if state.file >= 0 { close(state.file) }
        }
    }

    /// Appends bytes; returns false if the copy is given up.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard !state.isGivenUp else { return false }
            state.size += Int64(bytes.count)
            state.isGivenUp = state.size > limit || !Self.append(bytes, &state)
            if state.isGivenUp {
                if state.file >= 0 { close(state.file) }
                (state.memory, state.file) = (Data(), -1)
            }
            return !state.isGivenUp
        }
    }

    /// The bytes, of a file mapped and not read; `nil` if the copy was given up.
    package func finish() -> Data? {
        state.withLock { state in
            guard !state.isGivenUp else { return nil }
            guard state.file >= 0 else { return state.memory }
            guard Self.flush(&state) else { return nil }
            let length = Int(state.size)
            guard let address = mmap(nil, length, PROT_READ, MAP_PRIVATE, state.file, 0),
                address != MAP_FAILED
            else { return nil }
            return Data(
                bytesNoCopy: address, count: length,
                deallocator: .custom { address, length in munmap(address, length) })
        }
    }

    private static func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) -> Bool {
        state.memory.append(contentsOf: bytes)
        guard state.memory.count > memoryLimit else { return true }
        if state.file < 0 { state.file = unnamedFile() }
        return state.file >= 0 && flush(&state)
    }

    private static func flush(_ state: inout State) -> Bool {
        defer { state.memory.removeAll(keepingCapacity: true) }
        return state.memory.withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let written = write(state.file, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
            return true
        }
    }

    /// Opens a file that has no name any more; -1 if that is not possible.
    private static func unnamedFile() -> Int32 {
        var template = Array((NSTemporaryDirectory() + "/errand-copy-XXXXXX").utf8CString)
        let file = mkstemp(&template)
        if file >= 0 {
            unlink(template)
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        }
        return file
    }
}
