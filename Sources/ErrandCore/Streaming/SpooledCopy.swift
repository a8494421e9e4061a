import ErrandHTTP
package import ErrandSystem
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

    /// Ends the copy; returns the number of its bytes, or `nil` if it was given up.
    package func finish() -> Int? {
        state.withLock { state in
            guard !state.isGivenUp, state.file < 0 || Self.flush(&state) else { return nil }
            return Int(state.size)
        }
    }

    /// A range of the bytes, after ``finish()``; `nil` if the file cannot be read.
    package func bytes(in range: Range<Int>) -> Data? {
        let (file, memory) = state.withLock { ($0.file, $0.memory) }
        guard file >= 0 else { return memory.dropFirst(range.lowerBound).prefix(range.count) }
        var data = Data(count: range.count)
        let isComplete = data.withUnsafeMutableBytes { bytes in
            var count = 0
            while count < range.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
                let read = pread(
                    file, rest.baseAddress, rest.count, off_t(range.lowerBound + count))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return false }
                count += read
            }
            return true
        }
        return isComplete ? data : nil
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
        (try? FileAccess.unnamed(in: FileAccess.temporaryFolder, as: "errand-copy")) ?? -1
    }
}
