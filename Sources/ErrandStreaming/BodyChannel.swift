package import ErrandTransport
package import Foundation
import Synchronization

/// The body of a response between its transfer, which delivers bytes on any thread, and one reader.
///
/// ``BodyChannelState`` decides; this type has the bytes and performs the actions outside its lock.
package final class BodyChannel: Sendable {
    /// The number of buffered bytes at which the transfer is paused (64 KiB).
    ///
    /// A channel holds at most this number and one chunk of the transfer.
    package static let limit = 64 << 10

    private struct State {
        var machine = BodyChannelState(limit: BodyChannel.limit)
        var buffer = Data()
        var waiter: UnsafeContinuation<Void, Never>?
        var waitsSince: ContinuousClock.Instant?
        /// Resumes the paused transfer.
        var resume: (@Sendable () -> Void)?
        /// Cancels the transfer.
        var cancel: (@Sendable () -> Void)?
        /// Cancels the task, and with it the transfer.
        var cancelTask: (@Sendable () -> Void)?
        /// Gets a copy of the bytes.
        var copy: (any BodyCopy)?
        var end: TransferEnd?
        var releases: [@Sendable (TransferEnd) -> Void] = []
        var whenOver: (@Sendable (TransferEnd) -> Void)?
        var completions: [@Sendable () async -> Void] = []
        /// The error that the reader gets; `nil` for a complete body.
        var error: RequestError?
    }

    private let state = Mutex(State())

    /// Creates a channel that a transfer fills.
    ///
    /// - Parameters:
    ///   - resume: Continues the transfer after `.pause`.
    ///   - cancel: Cancels the transfer; it still ends with ``transferEnded(_:)``.
    package init(
        resume: @escaping @Sendable () -> Void, cancel: @escaping @Sendable () -> Void
    ) {
        state.withLock { ($0.resume, $0.cancel) = (resume, cancel) }
    }

    /// Creates a channel with a complete body, for example of a stored response.
    package init(_ body: Data) {
        state.withLock { state in
            if !body.isEmpty { _ = state.machine.received(body.count) }
            _ = state.machine.transferEnded()
            _ = state.machine.close(discardsBuffer: false)
            state.buffer = body
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
        let (demand, waiter) = state.withLock { state in
            let intake = state.machine.received(bytes.count)
            guard intake.demand != .stop else {
                return (Demand.stop, nil as UnsafeContinuation<Void, Never>?)
            }
            if state.buffer.isEmpty {
                state.buffer = Data(bytes)
            } else {
                state.buffer.append(contentsOf: bytes)
            }
            if let copy = state.copy, !copy.append(bytes) { state.copy = nil }
            return (intake.demand, intake.wakesReader ? state.waiter.take() : nil)
        }
        waiter?.resume()
        return demand
    }

    /// Records the end of the transfer: releases what was held for it, and passes on the end.
    package func transferEnded(_ end: TransferEnd) {
        let (releases, whenOver) = state.withLock { state in
            guard state.machine.transferEnded() else {
                return ([], nil)
                    as ([@Sendable (TransferEnd) -> Void], (@Sendable (TransferEnd) -> Void)?)
            }
            state.end = end
            (state.resume, state.cancel, state.cancelTask) = (nil, nil, nil)
            return (exchange(&state.releases, with: []), state.whenOver.take())
        }
        for release in releases { release(end) }
        whenOver?(end)
    }

    // MARK: - The task

    /// Cancels the transfer, unless it has ended; the reader gets the end when the task has ended.
    ///
    /// - Parameter discardsBuffer: Whether the reader gets none of the bytes that it has not read.
    package func cancelTransfer(discardsBuffer: Bool = false) {
        let (cancel, buffer) = state.withLock { state in
            guard discardsBuffer, !state.machine.isOver else { return (state.cancel, Data()) }
            _ = state.machine.leave()
            return (state.cancel, exchange(&state.buffer, with: Data()))
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

    /// Copies the body: the bytes that have arrived, and all that follow.
    ///
    package func copy(to copy: any BodyCopy) {
        state.withLock { state in
            guard state.buffer.withUnsafeBytes({ copy.append($0) }) else { return }
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
            if discards { state.buffer = Data() }
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
            let (answer, bytes, resume, error) = state.withLock {
                state -> (BodyChannelState.Answer, Data, (@Sendable () -> Void)?, RequestError?) in
                let answer = state.machine.next()
                switch answer {
                case .bytes(let resumes):
                    let bytes = exchange(&state.buffer, with: Data())
                    return (answer, bytes, resumes ? state.resume : nil, nil)
                case .wait:
                    state.waitsSince = .now
                    return (answer, Data(), nil, nil)
                case .end, .busy:
                    let isCancelled = state.machine.hasReaderLeft
                    return (answer, Data(), nil, state.error ?? (isCancelled ? .cancelled : nil))
                }
            }
            switch answer {
            case .bytes:
                resume?()
                return bytes
            case .wait: await wait()
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
                exchange(&state.buffer, with: Data())
            )
        }
        withExtendedLifetime(buffer) {}
        cancel?()
    }
}

/// Takes a copy of a body while it is read, for example for the store; called serially.
package protocol BodyCopy: AnyObject, Sendable {
    /// Appends bytes; returns false if the copy is given up.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool
}

/// The reader's end of a channel; cancels the transfer when the last reference is released.
package final class StreamedBody: ResponseStreamBody {
    package let channel: BodyChannel

    package init(_ channel: BodyChannel) { self.channel = channel }

    deinit { channel.leave() }
}
