import Foundation
import Synchronization

/// An async sequence of chunks, pumped by a task into a bounded buffer; read again, it is made anew by that task.
///
/// The pump starts with the first read and stops ahead of a full buffer; ``close()`` and the end of this
/// object cancel it.
package final class StreamBodySource: BodySource {
    /// How many bytes are taken ahead of the reader; the chunk that crosses the line is kept whole.
    package static let capacity = 256 << 10

    package let length: Int64?
    private let isReplayable: Bool
    private let make: @Sendable () throws -> AnyChunks
    private let channel: Mutex<StreamChannel>
    /// Whether somebody has asked for a byte; before that there is nothing to begin again.
    private let wasAsked = Atomic(false)

    /// Makes the sequence, but asks it for nothing yet.
    ///
    /// - Parameter isReplayable: Whether the sequence may be made again once it was asked.
    /// - Throws: ``RequestError/Code/invalidBody``.
    package init(
        length: Int64?, isReplayable: Bool = true,
        make: @escaping @Sendable () throws -> AnyChunks
    ) throws(RequestError) {
        if let length, length < 0 {
            throw RequestError(
                .invalidBody, stage: .build,
                "The body's length is \(length); give the number of bytes, or nil when it is unknown."
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
                .invalidBody, stage: .build, "The body's stream cannot be made.", underlying: error)
        }
    }

    deinit { close() }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        wasAsked.store(true, ordering: .relaxed)
        return current.read(into: buffer)
    }

    package func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        wasAsked.store(true, ordering: .relaxed)
        current.whenReadable(notify)
    }

    package func rewind() -> Bool {
        guard wasAsked.load(ordering: .relaxed) else { return true }
        guard isReplayable else { return false }
        // Whoever rewinds serves other transfers, too: the sequence is made where it is read.
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

/// One run through a stream: what the pump and the reader share.
private final class StreamChannel: Sendable {
    private struct State {
        var buffer: StreamBuffer
        /// Until the pump has taken it.
        var make: (@Sendable () throws -> AnyChunks)?
        var pump: Task<Void, Never>?
        var isClosed = false
        var reader: (@Sendable () -> Void)?
        var writer: CheckedContinuation<Bool, Never>?

        /// The reader's call, if there is one and reading makes sense.
        mutating func takeReader() -> (@Sendable () -> Void)? {
            guard buffer.isReadable else { return nil }
            defer { reader = nil }
            return reader
        }

        /// The pump, if it waits for room and there is some.
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
            // The task takes the lock only once it runs, which is never inside this one.
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

    /// Hands a chunk over and waits for room; false when nobody wants more.
    private func push(_ chunk: Data) async -> Bool {
        update { $0.append(chunk) }
        return await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if state.isClosed { return false }
                if state.buffer.wantsMore { return true }
                if state.buffer.hasFailed { return false }
                state.writer = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
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
