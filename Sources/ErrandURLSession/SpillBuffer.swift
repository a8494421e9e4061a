import ErrandTransport
import Foundation
import Synchronization

/// Stores bytes that arrive while the receiver is paused: first in memory, then in an unlinked file.
///
/// FoundationNetworking cannot pause a task, and blocking the delegate queue would stall all sessions of the
/// process.
final class SpillBuffer: Sendable {
    /// The maximum number of bytes in memory.
    static let memoryCapacity = 256 << 10
    /// The maximum number of bytes in the file.
    static let fileCapacity: Int64 = 8 << 30

    private struct State {
        var memory = Data()
        var file: UnlinkedFile?
        var readOffset: Int64 = 0
        var writeOffset: Int64 = 0
    }

    private let state = Mutex(State())

    func append(_ bytes: UnsafeRawBufferPointer) throws(RequestError) {
        try state.withLock { state throws(RequestError) in
            // While the file has bytes, later ones are appended to it, to keep the order.
            let isSpilled = state.writeOffset > state.readOffset
            if !isSpilled, state.memory.count + bytes.count <= Self.memoryCapacity {
                state.memory.append(contentsOf: bytes)
                return
            }
            guard state.writeOffset - state.readOffset < Self.fileCapacity else {
                throw RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The receiver was paused while 8 GiB arrived. Read faster, or use "
                        + "CurlTransport, which can pause the connection.")
            }
            let file: UnlinkedFile
            if let known = state.file {
                file = known
            } else {
                file = try UnlinkedFile()
                state.file = file
            }
            if let error = file.write(bytes, at: state.writeOffset) { throw error }
            state.writeOffset += Int64(bytes.count)
        }
    }

    /// Removes and returns the next bytes, in order; empty if there are none.
    func next(upTo limit: Int = 64 << 10) throws(RequestError) -> Data {
        try state.withLock { state throws(RequestError) in
            if !state.memory.isEmpty {
                let part = Data(state.memory.prefix(limit))
                state.memory = Data(state.memory.dropFirst(part.count))
                return part
            }
            guard let file = state.file, state.writeOffset > state.readOffset else {
                return Data()
            }
            var bytes = [UInt8](repeating: 0, count: limit)
            let offset = state.readOffset
            let count = try bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(RequestError) in try file.read(into: buffer, at: offset) }
            }.get()
            state.readOffset += Int64(count)
            if state.readOffset == state.writeOffset {
                file.empty()
                (state.readOffset, state.writeOffset) = (0, 0)
            }
            return Data(bytes.prefix(count))
        }
    }

    /// The number of unread bytes in the file.
    var spilled: Int64 { state.withLock { $0.writeOffset - $0.readOffset } }

    func clear() { state.withLock { $0 = State() } }
}
