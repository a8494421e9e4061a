package import ErrandSystem
package import ErrandTransport
import Synchronization

/// The body of a response between its transfer, which delivers bytes on any thread, and one reader.
///
/// ``BodyChannelState`` decides; this type has the bytes and performs the actions outside its lock.
package final class BodyChannel: Sendable {
    /// The number of buffered bytes at which the transfer is paused at first (64 KiB).
    package static let limit = 64 << 10
    /// The number to which the limit grows with a fast reader (512 KiB).
    ///
    /// A channel holds at most this number and one chunk of the transfer.
    package static let maximumLimit = 512 << 10
    /// The size of a read after which the reader continues the transfer itself (16 KiB).
    private static let largeRead = 16 << 10

    private typealias EndHandler = @Sendable (TransferEnd) -> Void

    private struct State {
        var machine = BodyChannelState(
            limit: BodyChannel.limit, maximumLimit: BodyChannel.maximumLimit,
            largeRead: BodyChannel.largeRead)
        var buffer = ChunkBuffer()
        var waiter: UnsafeContinuation<Void, Never>?
        var waitsSince: ContinuousClock.Instant?
        /// Resumes the paused transfer.
        var resume: (@Sendable () -> Void)?
        /// Resumes the paused transfer, and may receive on the calling thread.
        var receive: (@Sendable () -> Void)?
        /// Cancels the transfer.
        var cancel: (@Sendable () -> Void)?
        /// Cancels the task, and with it the transfer.
        var cancelTask: (@Sendable () -> Void)?
        /// Gets a copy of the bytes.
        var copy: SpooledCopy?
        var end: TransferEnd?
        var releases: [EndHandler] = []
        var whenOver: EndHandler?
        var completions: [@Sendable () async -> Void] = []
        /// The error that the reader gets; `nil` for a complete body.
        var error: RequestError?
    }

    private let state = Mutex(State())

    /// Creates a channel that a transfer fills.
    ///
    /// - Parameters:
    ///   - resume: Continues the transfer after `.pause`.
    ///   - receive: Continues it too, and may receive on the calling thread; like `resume` if `nil`.
    ///   - cancel: Cancels the transfer; it still ends with ``transferEnded(_:)``.
    package init(
        resume: @escaping @Sendable () -> Void, receive: (@Sendable () -> Void)? = nil,
        cancel: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            (state.resume, state.receive, state.cancel) = (resume, receive ?? resume, cancel)
        }
    }

    /// Creates a channel with a complete body, for example of a stored response.
    package init(_ body: Data) {
        state.withLock { state in
            if !body.isEmpty { _ = state.machine.received(body.count) }
            _ = state.machine.transferEnded()
            _ = state.machine.close(discardsBuffer: false)
            state.buffer.append(body)
            state.end = TransferEnd()
        }
    }

    /// The number of bytes that the transfer has delivered.
    package var received: Int64 { state.withLock { $0.machine.received } }

    /// The time for which the reader has been waiting for bytes; `nil` while it does not.
    package var waitingTime: Duration? {
        state.withLock { state in
            guard state.machine.isReaderWaiting else { return nil }
            return state.waitsSince?.duration(to: .now)
        }
    }

    // MARK: - The transfer

    /// Takes bytes of the body; the result says whether the transfer may continue.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> Demand {
        receive(bytes) { $0.append(bytes) }
    }

    /// Takes a chunk of the body without copying it.
    package func receive(_ chunk: Data) -> Demand {
        chunk.withUnsafeBytes { bytes in receive(bytes) { $0.append(chunk) } }
    }

    private func receive(
        _ bytes: UnsafeRawBufferPointer, append: (inout ChunkBuffer) -> Void
    ) -> Demand {
        let (demand, waiter) = state.withLock { state in
            let intake = state.machine.received(bytes.count)
            guard intake.demand != .stop else {
                return (Demand.stop, nil as UnsafeContinuation<Void, Never>?)
            }
            append(&state.buffer)
            if let copy = state.copy, !copy.append(bytes) { state.copy = nil }
            return (intake.demand, intake.wakesReader ? state.waiter.take() : nil)
        }
        waiter?.resume()
        return demand
    }

    /// Announces the bytes of one read, until ``endRead()``; see ``BodyChannelState/beginRead()``.
    package func beginRead() { state.withLock { $0.machine.beginRead() } }

    /// Resumes the reader after a read; the result says whether the transfer may continue.
    package func endRead() -> Demand {
        let (demand, waiter) = state.withLock { state in
            let intake = state.machine.endRead()
            return (intake.demand, intake.wakesReader ? state.waiter.take() : nil)
        }
        waiter?.resume()
        return demand
    }

    /// Records the end of the transfer: releases what was held for it, and passes on the end.
    package func transferEnded(_ end: TransferEnd) {
        let isFirst = state.withLock { state in
            guard state.machine.transferEnded() else { return false }
            (state.resume, state.receive, state.copy) = (nil, nil, nil)
            (state.cancel, state.cancelTask) = (nil, nil)
            if end.error != nil { state.completions = [] }
            return true
        }
        guard isFirst else { return }
        // The end is known to others only when everything was released.
        while true {
            let (releases, whenOver) = state.withLock { state in
                guard state.releases.isEmpty else {
                    return (exchange(&state.releases, with: []), nil as EndHandler?)
                }
                state.end = end
                return ([], state.whenOver.take())
            }
            guard !releases.isEmpty else {
                whenOver?(end)
                return
            }
            for release in releases { release(end) }
        }
    }

    /// Suspends until the transfer has ended and everything was released.
    package func untilEnded() async {
        await withCheckedContinuation { continuation in whenEnded { _ in continuation.resume() } }
    }

    // MARK: - The task

    /// Cancels the transfer, unless it has ended; the reader gets the end when the task has ended.
    ///
    /// - Parameter discardsBuffer: Whether the reader gets none of the bytes that it has not read.
    package func cancelTransfer(discardsBuffer: Bool = false) {
        let (cancel, buffer) = state.withLock { state in
            guard discardsBuffer, !state.machine.isOver else {
                return (state.cancel, ChunkBuffer())
            }
            _ = state.machine.leave()
            return (state.cancel, exchange(&state.buffer, with: ChunkBuffer()))
        }
        withExtendedLifetime(buffer) {}
        cancel?()
    }

    /// Calls a closure with the end of the transfer, at once if it has ended; in the order of the
    /// calls.
    ///
    /// It runs on a thread of the transport and must not block.
    package func whenEnded(_ release: @escaping @Sendable (TransferEnd) -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.releases.append(release) }
            return state.end
        }
        if let end { release(end) }
    }

    /// Calls a closure with the end of the transfer, after those of ``whenEnded(_:)``; at once if
    /// it has ended.
    ///
    /// There is one such closure.
    package func whenOver(_ body: @escaping @Sendable (TransferEnd) -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.whenOver = body }
            return state.end
        }
        if let end { body(end) }
    }

    /// Sets the way in which the reader cancels: the task instead of only its transfer.
    package func setTask(cancel: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.machine.isOver { $0.cancelTask = cancel } }
    }

    private func cancelByReader() {
        let cancel = state.withLock { $0.cancelTask ?? $0.cancel }
        cancel?()
    }

    /// Copies the body: the bytes that the reader has not taken, and all that follow.
    package func copy(to copy: SpooledCopy) {
        state.withLock { state in
            for chunk in state.buffer.chunks {
                guard chunk.withUnsafeBytes({ copy.append($0) }) else { return }
            }
            if !state.machine.isOver { state.copy = copy }
        }
    }

    /// Adds a step that is awaited before the reader gets the end of a complete body.
    package func beforeEnd(_ step: @escaping @Sendable () async -> Void) {
        state.withLock { $0.completions.append(step) }
    }

    /// Runs the steps of ``beforeEnd(_:)``.
    package func complete() async {
        for step in state.withLock({ exchange(&$0.completions, with: []) }) { await step() }
    }

    /// Gives the reader the end: after the buffered bytes, or in their place after a cancellation.
    package func close(_ error: RequestError?) {
        let waiter = state.withLock { state in
            let discards = error?.isCancellation == true
            if discards { state.buffer = ChunkBuffer() }
            state.error = error
            return state.machine.close(discardsBuffer: discards) ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    // MARK: - The reader

    /// The next bytes; `nil` after the last ones.
    ///
    /// Cancelling the calling Swift task cancels the transfer.
    nonisolated(nonsending) package func next() async throws(RequestError) -> Data? {
        while true {
            if Task.isCancelled { leave() }
            let (step, bytes, resume, error) = state.withLock {
                state -> (BodyChannelState.ReadStep, Data, (@Sendable () -> Void)?, RequestError?)
                in
                let step = state.machine.next(chunk: state.buffer.first)
                switch step {
                case .bytes(let resumes):
                    let bytes = state.buffer.takeFirst()
                    return (step, bytes, resumes ? state.resume : nil, nil)
                case .wait, .receive:
                    state.waitsSince = .now
                    return (step, Data(), step == .wait ? nil : state.receive, nil)
                case .end, .busy:
                    let isCancelled = state.machine.hasReaderLeft
                    return (step, Data(), nil, state.error ?? (isCancelled ? .cancelled : nil))
                }
            }
            switch step {
            case .bytes:
                resume?()
                return bytes
            case .wait: await wait()
            case .receive:
                resume?()
                if state.withLock({ $0.machine.isReaderWaiting }) { await wait() }
            case .end:
                if let error { throw error }
                return nil
            case .busy:
                throw .invalidCombination(
                    "Two tasks read the same stream at once. Read it in one task.")
            }
        }
    }

    private nonisolated(nonsending) func wait() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // The bytes, or the end, may have arrived since.
                    if state.machine.isReaderWaiting { state.waiter = continuation }
                    return state.machine.isReaderWaiting
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            cancelByReader()
        }
    }

    /// Discards what was not read, and cancels the transfer unless it has ended.
    package func leave() {
        let (cancel, buffer) = state.withLock { state in
            let cancels = state.machine.leave()
            return (
                cancels ? state.cancelTask ?? state.cancel : nil,
                exchange(&state.buffer, with: ChunkBuffer())
            )
        }
        withExtendedLifetime(buffer) {}
        cancel?()
    }
}

/// The chunks that wait for the reader; small ones are joined.
struct ChunkBuffer {
    /// The size above which chunks are not joined, in bytes.
    private static let joinedBytes = 16 << 10

    private var items: [Data] = []
    private var start = 0

    /// The chunks, oldest first.
    var chunks: ArraySlice<Data> { items[start...] }
    /// The size of the first chunk; 0 if there is none.
    var first: Int { start < items.count ? items[start].count : 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if let last = items.indices.last, last >= start,
            items[last].count + bytes.count <= Self.joinedBytes
        {
            items[last].append(contentsOf: bytes)
        } else if !bytes.isEmpty {
            items.append(Data(bytes))
        }
    }

    mutating func append(_ chunk: Data) {
        if !chunk.isEmpty { items.append(chunk) }
    }

    mutating func takeFirst() -> Data {
        let chunk = exchange(&items[start], with: Data())
        start += 1
        // Amortized constant time, also if the buffer is never empty.
        if start * 2 >= items.count {
            items.removeFirst(start)
            start = 0
        }
        return chunk
    }
}

/// The reader's end of a channel; cancels the transfer when the last reference is released.
package final class StreamedBody: ResponseStreamBody {
    package let channel: BodyChannel

    package init(_ channel: BodyChannel) { self.channel = channel }

    deinit { channel.leave() }
}
