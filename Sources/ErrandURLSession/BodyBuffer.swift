import ErrandTransport
import Foundation
import Synchronization

/// Copies a body source that may wait into memory, or into an unlinked file if it is large.
///
/// The resulting source never waits and has a known length.
final class BodyBuffer: Sendable {
    typealias Completion = @Sendable (Result<any BodySource, RequestError>) -> Void

    private struct State {
        var memory = Data()
        var file: UnlinkedFile?
        var length: Int64 = 0
    }

    private let source: any BodySource
    private let queue: DispatchQueue
    private let activity: @Sendable () -> Void
    private let completion: Completion
    private let state = Mutex(State())

    /// Creates a buffer for a source.
    ///
    /// - Parameters:
    ///   - activity: Called after each read of bytes, on the queue.
    ///   - completion: Called once, on the queue.
    init(
        _ source: any BodySource, queue: DispatchQueue, activity: @escaping @Sendable () -> Void,
        completion: @escaping Completion
    ) {
        self.source = source
        self.queue = queue
        self.activity = activity
        self.completion = completion
    }

    func run() {
        queue.async { [self] in fill() }
    }

    private func fill() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count):
                activity()
                if let error = keep(buffer[..<count]) { return finish(.failure(error)) }
            case .end:
                return finish(.success(spooled()))
            case .failed(let error):
                return finish(.failure(error))
            case .wait:
                source.whenReadable { [self] in run() }
                return
            }
        }
    }

    /// Stores bytes; returns the error, or `nil` on success.
    private func keep(_ bytes: ArraySlice<UInt8>) -> RequestError? {
        state.withLock { state in
            state.memory.append(contentsOf: bytes)
            state.length += Int64(bytes.count)
            guard state.file != nil || state.memory.count > SpillBuffer.memoryCapacity else {
                return nil
            }
            do throws(RequestError) {
                let file: UnlinkedFile
                if let known = state.file { file = known } else { file = try UnlinkedFile() }
                state.file = file
                try file.write(state.memory, at: state.length - Int64(state.memory.count))
                state.memory.removeAll(keepingCapacity: true)
                return nil
            } catch {
                return error
            }
        }
    }

    private func spooled() -> any BodySource {
        state.withLock { state in
            guard let file = state.file else { return DataBodySource(state.memory) }
            return BufferedBodySource(file, length: state.length)
        }
    }

    private func finish(_ result: Result<any BodySource, RequestError>) {
        source.close()
        completion(result)
    }
}

/// A body source over an unlinked file.
final class BufferedBodySource: BodySource {
    private let file: UnlinkedFile
    private let size: Int64
    private let offset = Mutex<Int64>(0)

    init(_ file: UnlinkedFile, length: Int64) {
        self.file = file
        size = length
    }

    var length: Int64? { size }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        offset.withLock { offset in
            do throws(RequestError) {
                let count = try file.read(into: buffer, at: offset)
                offset += Int64(count)
                return count > 0 ? .bytes(count) : .end
            } catch {
                return .failed(error)
            }
        }
    }

    func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }

    func rewind() -> Bool {
        offset.withLock { $0 = 0 }
        return true
    }

    func close() {}
}
