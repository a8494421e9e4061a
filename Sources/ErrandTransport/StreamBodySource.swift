import ErrandSystem
import Synchronization

/// A body source over an async sequence of chunks.
///
/// A task, the pump, reads the sequence into a bounded buffer. It starts with the first read, and
/// waits while the buffer is full; ``close()`` and deallocation cancel it. After ``rewind()``, a
/// new pump creates the sequence again.
package final class StreamBodySource: BodySource {
    /// The buffer size at which the pump waits, in bytes; the chunk that exceeds it is kept whole.
    package static let capacity = 256 << 10

    package let length: Int64?
    private let isReplayable: Bool
    private let make: @Sendable () throws -> AnyChunks
    private let channel: Mutex<StreamChannel>
    /// Whether the source was read; before that, ``rewind()`` has nothing to do.
    private let wasRead = Atomic(false)

    /// Creates the sequence, but does not read it yet.
    ///
    /// - Parameter isReplayable: Whether the sequence may be created again after it was read.
    /// - Throws: ``RequestError/Code/invalidBody``.
    package init(
        length: Int64?, isReplayable: Bool = true,
        make: @escaping @Sendable () throws -> AnyChunks
    ) throws(RequestError) {
        if let length, length < 0 {
            throw RequestError(
                .invalidBody, stage: .build,
                "The body's length is \(length); set the number of bytes, or nil if it is unknown."
            )
        }
        self.length = length
        self.isReplayable = isReplayable
        self.make = make
        do {
            let chunks = try make()
            channel = Mutex(StreamChannel(make: { chunks }, length: length))
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .invalidBody, stage: .build,
                "Creating the body's stream threw \(type(of: error)); see the underlying error.",
                underlying: error)
        }
    }

    deinit { close() }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        wasRead.store(true, ordering: .relaxed)
        return current.read(into: buffer)
    }

    package func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        wasRead.store(true, ordering: .relaxed)
        current.whenReadable(notify)
    }

    package func rewind() -> Bool {
        guard wasRead.load(ordering: .relaxed) else { return true }
        guard isReplayable else { return false }
        // The pump creates the sequence, not this thread: a transport calls `rewind` on a thread
        // that serves other transfers, too.
        let fresh = StreamChannel(make: make, length: length)
        let old = channel.withLock { channel in
            defer { channel = fresh }
            return channel
        }
        old.close()
        return true
    }

    package func close() { current.close() }

    private var current: StreamChannel { channel.withLock { $0 } }
}

/// The state that the pump and the reader share during one run through a stream.
private final class StreamChannel: Sendable {
    private struct State {
        var buffer: StreamBuffer
        /// Creates the sequence; `nil` once the pump has taken it.
        var make: (@Sendable () throws -> AnyChunks)?
        var pump: Task<Void, Never>?
        var isClosed = false
        var reader: (@Sendable () -> Void)?
        var writer: CheckedContinuation<Bool, Never>?

        /// Takes the reader's closure if one is registered and the buffer is readable.
        mutating func takeReader() -> (@Sendable () -> Void)? {
            guard buffer.isReadable else { return nil }
            defer { reader = nil }
            return reader
        }

        /// Takes the pump's continuation if the pump waits and the buffer has room.
        mutating func takeWriter() -> CheckedContinuation<Bool, Never>? {
            guard buffer.wantsMore else { return nil }
            defer { writer = nil }
            return writer
        }
    }

    private let state: Mutex<State>

    init(make: @escaping @Sendable () throws -> AnyChunks, length: Int64?) {
        let buffer = StreamBuffer(declaredLength: length, capacity: StreamBodySource.capacity)
        state = Mutex(State(buffer: buffer, make: make))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        startPump()
        let (result, writer) = state.withLock { state in
            (state.buffer.read(into: buffer), state.takeWriter())
        }
        writer?.resume(returning: true)
        return result
    }

    func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        startPump()
        let reader = state.withLock { state in
            state.reader = notify
            return state.takeReader()
        }
        reader?()
    }

    func close() {
        let (pump, writer) = state.withLock { state in
            defer {
                state.pump = nil
                state.writer = nil
                state.reader = nil
            }
            state.isClosed = true
            state.make = nil
            state.buffer.fail(
                RequestError(.bodyReadFailed, stage: .transport, "The body's stream was closed."))
            return (state.pump, state.writer)
        }
        pump?.cancel()
        writer?.resume(returning: false)
    }

    private func startPump() {
        state.withLock { state in
            guard let make = state.make else { return }
            state.make = nil
            // The task takes this lock only when it runs, which is after this closure.
            state.pump = Task { await self.pump(make) }
        }
    }

    private func pump(_ make: @Sendable () throws -> AnyChunks) async {
        do {
            let next = try make().makeIterator()
            while let chunk = try await next() {
                guard await push(chunk) else { return }
            }
            update { $0.finish() }
        } catch {
            update { buffer in
                buffer.fail(
                    error as? RequestError
                        ?? RequestError(
                            .bodyReadFailed, stage: .transport,
                            "The body's stream failed while it was sent.", underlying: error))
            }
        }
    }

    /// Appends a chunk and waits for room in the buffer; false if the source was closed or failed.
    private func push(_ chunk: Data) async -> Bool {
        update { $0.append(chunk) }
        return await withCheckedContinuation { continuation in
            let result: Bool? = state.withLock { state in
                if state.isClosed { return false }
                if state.buffer.wantsMore { return true }
                if state.buffer.hasFailed { return false }
                state.writer = continuation
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    private func update(_ change: (inout StreamBuffer) -> Void) {
        let reader = state.withLock { state in
            change(&state.buffer)
            return state.takeReader()
        }
        reader?()
    }
}
