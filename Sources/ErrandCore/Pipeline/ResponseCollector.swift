import Foundation
import Synchronization

/// Collects what a transfer brings, in memory or in a sink, and wakes the waiting step at the end.
///
/// Cancelling may come before, while and after the transfer starts; whichever is later acts.
final class ResponseCollector: TransferReceiver {
    private struct State {
        var head: ResponseHead?
        var data = Data()
        /// How many bytes were announced, as far as memory is taken for them beforehand.
        var expected = 0
        var usesSink = false
        var failure: RequestError?
        var transfer: (any Transfer)?
        var isCancelled = false
        /// How it ended, until somebody takes it.
        var end: TransferEnd?
        var hasEnded = false
        var waiter: UnsafeContinuation<Void, Never>?

        /// The first end counts.
        mutating func finish(_ end: consuming TransferEnd) {
            guard !hasEnded else { return }
            self.end = end
            hasEnded = true
        }

        mutating func collect(_ bytes: UnsafeRawBufferPointer) {
            if data.isEmpty, bytes.count >= expected {
                data = Data(bytes)
            } else {
                if data.isEmpty { data.reserveCapacity(expected) }
                data.append(contentsOf: bytes)
            }
        }
    }

    private let state = Mutex(State())
    private let context: TaskContext
    private let sink: (any ResponseSink)?
    private let attempt: Int
    private let limit: Int64

    init(context: TaskContext, sink: (any ResponseSink)?, attempt: Int, limit: Int64) {
        self.context = context
        self.sink = sink
        self.attempt = attempt
        self.limit = limit
    }

    /// Begins the transfer; the continuation is resumed when it has ended.
    func run(
        _ request: TransportRequest, resuming continuation: UnsafeContinuation<Void, Never>
    ) {
        let wasCancelled = state.withLock { state in
            if state.isCancelled {
                // Before anything was sent: nothing is.
                state.finish(TransferEnd(error: .cancelled))
            } else {
                state.waiter = continuation
            }
            return state.isCancelled
        }
        if wasCancelled { continuation.resume() } else { begin(request) }
    }

    /// What the transfer brought; once, after its end.
    func takeAnswer() -> CollectedAnswer {
        let (end, failure, data, head, usesSink) = state.withLock { state in
            (
                state.end.take(), state.failure, exchange(&state.data, with: Data()),
                state.head.take(), state.usesSink
            )
        }
        var answer = CollectedAnswer(
            head: head, body: .success(.data(data)), end: end ?? TransferEnd(error: .cancelled))
        if usesSink, let sink { answer.body = sink.finish(failure ?? answer.end.error) }
        if let failure { answer.body = .failure(failure) }
        return answer
    }

    /// The transfer may be cancelled, bring bytes and end before `start` returns.
    private func begin(_ request: TransportRequest) {
        let transfer = context.transport.start(request, receiver: self)
        let (isCancelled, hasEnded) = state.withLock { state in
            if !state.hasEnded { state.transfer = transfer }
            return (state.isCancelled && !state.hasEnded, state.hasEnded)
        }
        guard !hasEnded else { return }
        context.pause.attach(transfer)
        if isCancelled { transfer.cancel() }
        // An end between the two locks has told the gate already that there is no transfer any more.
        if state.withLock({ $0.hasEnded }) { context.pause.attach(nil) }
    }

    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func didReceive(informational head: ResponseHead) {
        context.emitElsewhere(.informational(attempt: attempt, head.status))
    }

    func didReceive(head: ResponseHead) {
        context.emitElsewhere(.headReceived(attempt: attempt, head.status))
        let usesSink: Bool
        var failure: RequestError?
        switch sink?.accept(head) {
        case nil: usesSink = false
        case .success(let accepts): usesSink = accepts
        case .failure(let error):
            usesSink = false
            failure = error
        }
        state.withLock { state in
            state.head = head
            state.usesSink = usesSink
            state.failure = failure
            if !usesSink, let length = head.contentLength, length > 0, length <= limit {
                // The announced length is a hint: a liar gets no memory for what never comes.
                state.expected = Int(min(length, 1 << 20))
            }
        }
        if !usesSink, let length = head.contentLength {
            context.progress.updateElsewhere { $0.totalBytesToReceive = length }
        }
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        var collected: Int64 = 0
        let usesSink = state.withLock { state -> Bool? in
            guard state.failure == nil else { return nil }
            if state.usesSink { return true }
            guard Int64(state.data.count) + Int64(bytes.count) <= limit else {
                state.failure = RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The body is larger than the \(limit) bytes that maximumBytesInMemory allows. Download it to a file, or raise the limit."
                )
                return nil
            }
            state.collect(bytes)
            collected = Int64(state.data.count)
            return false
        }
        guard let usesSink else { return .stop }
        if usesSink, let error = sink?.write(bytes) {
            state.withLock { $0.failure = error }
            return .stop
        }
        // A sink begins where an earlier run of the download stopped; what is collected begins at 0 with
        // every attempt.
        context.progress.updateElsewhere { progress in
            progress.bytesReceived =
                usesSink ? progress.bytesReceived + Int64(bytes.count) : collected
        }
        return context.pause.demand()
    }

    func didSend(bodyBytes: Int64) {
        context.progress.updateElsewhere { $0.bytesSent = bodyBytes }
    }

    func didNotice(_ mismatch: PinMismatch) { context.emitElsewhere(.pinMismatch(mismatch)) }

    func didEnd(_ end: TransferEnd) {
        let waiter = state.withLock { state in
            state.finish(end)
            defer {
                state.waiter = nil
                state.transfer = nil
            }
            return state.waiter
        }
        guard let waiter else { return }
        context.pause.attach(nil)
        context.startGate.wake(waiter)
    }
}
