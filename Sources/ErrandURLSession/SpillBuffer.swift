import ErrandCore
import Foundation
import Synchronization

/// Bytes that arrived while the receiver paused: some in memory, the rest in a file without a name.
///
/// A task of URLSession cannot be paused: its bytes go on coming, and blocking its queue would stall every
/// session of the process.
final class SpillBuffer: Sendable {
    /// How much stays in memory.
    static let memoryCapacity = 256 << 10
    /// How much the file may hold.
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
            // Once bytes are in the file, all later ones lie behind them.
            let isSpilled = state.writeOffset > state.readOffset
            if !isSpilled, state.memory.count + bytes.count <= Self.memoryCapacity {
                state.memory.append(contentsOf: bytes)
                return
            }
            guard state.writeOffset - state.readOffset < Self.fileCapacity else {
                throw RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The answer's reader paused while 8 GiB arrived. Read faster, or use "
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

    /// The next bytes, in order; empty when there are none.
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

    /// How many bytes lie in the file.
    var spilled: Int64 { state.withLock { $0.writeOffset - $0.readOffset } }

    func clear() { state.withLock { $0 = State() } }
}
