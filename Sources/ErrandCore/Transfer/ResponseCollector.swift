import ErrandSystem
import ErrandTransport
import Synchronization

/// Collects the response of a transfer, in memory or in a sink, and resumes the waiting step at the end.
///
/// ``cancel()`` may be called before, during and after the start of the transfer.
final class ResponseCollector: StreamReceiver, ConnectionOwner, UpgradedTransfer {
    private struct State {
        var head: ResponseHead?
        var data = Data()
        /// The number of bytes to reserve in advance.
        var expected = 0
        var usesSink = false
        /// The number of sent bytes that ``RequestEvent/Kind/chunkSent(attempt:bytes:)`` has reported.
        var sent: Int64 = 0
        var failure: RequestError?
        /// Whether the endpoint refuses the response by its head; `nil` until its body exceeds the limit for these.
        var isRefused: Bool?
        /// Whether the rest of the body of a refused response was not received.
        var isCut = false
        /// Whether no more bytes are needed: the transfer is cancelled, and its end counts as complete.
        var isSatisfied = false
        var transfer: (any Transfer)?
        var isCancelled = false
        /// The end, until ``takeResponse()``.
        var end: TransferEnd?
        var hasEnded = false
        /// The channel to which the body goes from the head on; `nil` collects it here.
        var channel: BodyChannel?
        /// The owner of the connection after 101.
        var owner: (any ConnectionUpgrade)?
        /// The observers of a WebSocket, until it is opened.
        var observers: [any WebSocketObserver] = []
        var waiter: UnsafeContinuation<Void, Never>?

        /// Records the end; only the first one counts.
        mutating func finish(_ end: consuming TransferEnd) {
            guard !hasEnded else { return }
            if isSatisfied { end.error = nil }
            self.end = consume end
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
    /// Here and not in the async frame of the step, which has the collector anyway.
    let pipelineRequest: PipelineRequest
    /// The request without its body, for the response.
    let sent: TransportRequest
    private var task: RequestTask { pipelineRequest.task }
    private var sink: (any ResponseSink)? { pipelineRequest.sink }
    private var attempt: Int { pipelineRequest.attempt }
    private let limit: Int64
    /// The number of the transfer for ``RequestTask/capture``.
    let captured: Int?

    init(_ pipelineRequest: PipelineRequest, sent: TransportRequest, captured: Int?) {
        self.pipelineRequest = pipelineRequest
        self.sent = sent
        limit = pipelineRequest.request.options.maximumBytesInMemory
        self.captured = captured
    }

    /// Starts the transfer; the continuation is resumed at its end.
    func run(resuming continuation: UnsafeContinuation<Void, Never>) {
        let wasCancelled = state.withLock { state in
            if state.isCancelled {
                state.finish(TransferEnd(error: .cancelled))
            } else {
                state.waiter = continuation
            }
            return state.isCancelled
        }
        if wasCancelled { continuation.resume() } else { begin() }
    }

    /// The head, if the body goes to a channel; then called once instead of ``takeResponse()``.
    func takeStream() -> (head: ResponseHead, channel: BodyChannel)? {
        state.withLock { state in
            guard let channel = state.channel, let head = state.head else { return nil }
            return (head, channel)
        }
    }

    /// Takes the result of the transfer; called once, after its end.
    func takeResponse() -> CollectedResponse {
        let (end, failure, data, head, usesSink, isCut) = state.withLock { state in
            (
                state.end.take() ?? TransferEnd(error: .cancelled), state.failure,
                exchange(&state.data, with: Data()), state.head.take(), state.usesSink,
                state.isCut
            )
        }
        var body = Result<Response.Body, RequestError>.success(.data(data))
        if usesSink, let sink { body = sink.finish(failure ?? end.error) }
        if let failure { body = .failure(failure) }
        return CollectedResponse(head: head, body: body, end: end, isCut: isCut)
    }

    /// The transfer may be cancelled, deliver bytes and end before `start` returns.
    private func begin() {
        var transport = task.transport
        if let captured, let own = task.capture?.transport(of: captured, over: transport) {
            transport = own
        }
        if let limit = task.description.bandwidth {
            transport = limit.transport(over: transport)
        }
        let transfer = transport.start(pipelineRequest.request, receiver: self)
        let (isCancelled, hasEnded) = state.withLock { state in
            if !state.hasEnded { state.transfer = transfer }
            return (state.isCancelled && !state.hasEnded, state.hasEnded)
        }
        guard !hasEnded else { return }
        task.pause.attach(transfer)
        if isCancelled { transfer.cancel() }
        // If the transfer ended between the two locks, `didEnd` has already detached it.
        if state.withLock({ $0.hasEnded }) { task.pause.detach(transfer) }
    }

    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func didReceive(informational head: ResponseHead) {
        task.emitAsynchronously(.informational(attempt: attempt, head.status))
    }

    func didReceive(head: ResponseHead) {
        task.emitAsynchronously(.headReceived(attempt: attempt, head.status))
        let usesSink: Bool
        var failure: RequestError?
        switch sink?.accept(head) {
        case nil: usesSink = false
        case .success(let accepts): usesSink = accepts
        case .failure(let error):
            usesSink = false
            failure = error
        }
        let length = usesSink ? nil : head.contentLength
        state.withLock { state in
            state.head = head
            state.usesSink = usesSink
            state.failure = failure
            if let length, length > 0, length <= limit {
                // `Content-Length` is a hint only: reserve at most 1 MiB for bytes that may never arrive.
                state.expected = Int(min(length, 1 << 20))
            }
        }
        // Not with the first byte of the body, which may never arrive.
        guard failure == nil else { return cancel() }
        if let length {
            task.updateProgressAsynchronously { $0.totalBytesToReceive = length }
        }
        if task.description.isStreamed { beginStream(head) }
    }

    /// Ends the wait of the step, if the body of an accepted response is to be streamed.
    ///
    /// The bodies of redirects and of refusals are collected: later steps may need them.
    private func beginStream(_ head: ResponseHead) {
        guard StreamRules.accepts(head, task.description) else { return }
        openChannel()
    }

    private func openChannel() {
        let channel = BodyChannel(
            resume: { [weak self] in self?.resume() },
            receive: { [weak self] in self?.resume(onCaller: true) },
            cancel: { [weak self] in self?.cancel() })
        task.updateProgressAsynchronously { $0.bytesReceived = 0 }
        let waiter = state.withLock { state in
            state.channel = channel
            return state.waiter.take()
        }
        if let waiter { task.startBarrier.wake(waiter) }
    }

    /// Resumes the transfer for a reader that has read the channel, unless the task is suspended.
    private func resume(onCaller: Bool = false) {
        guard task.pause.demand() == .more else { return }
        let transfer = state.withLock { $0.transfer }
        if onCaller, let transfer = transfer as? any ReadableTransfer {
            transfer.receiveOnCaller()
        } else {
            transfer?.resumeReceiving()
        }
    }

    var acceptsConnection: Bool { task.description.upgrade != nil }
    var extendedProtocol: String? { task.description.upgrade?.extendedProtocol }

    func didSwitchProtocols(_ head: ResponseHead) -> any BodySource {
        task.emitAsynchronously(.headReceived(attempt: attempt, head.status))
        do throws(RequestError) {
            guard let upgrade = task.description.upgrade else { throw .cancelled }
            let observers = state.withLock { exchange(&$0.observers, with: []) }
            let source = try upgrade.begin(
                head, observers: observers + [self], transfer: self)
            state.withLock { ($0.head, $0.owner) = (head, upgrade) }
            openChannel()
            return source
        } catch {
            return FailedSource(error)
        }
    }

    var isSuspended: Bool { task.pause.isPaused }

    func resumeReading() { resume() }

    func addObserver(_ observer: any WebSocketObserver) {
        state.withLock { $0.observers.append(observer) }
    }

    func didReceiveEnd() { state.withLock { $0.owner }?.receiveEnd() }

    /// The demand after the channel has taken bytes.
    private func received(_ count: Int, _ demand: Demand) -> Demand {
        // Bytes that are discarded do not count.
        guard demand != .stop else { return .stop }
        task.updateProgressAsynchronously { $0.bytesReceived += Int64(count) }
        return demand == .more ? task.pause.demand() : demand
    }

    func didReceive(chunk: Data) -> Demand {
        emitChunk(.chunkReceived(attempt: attempt, bytes: Int64(chunk.count)))
        // The channel of a connection that was taken over carries no bytes.
        guard !acceptsConnection, let channel = state.withLock({ $0.channel }) else {
            return chunk.withUnsafeBytes { collect($0) }
        }
        return received(chunk.count, channel.receive(chunk))
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        emitChunk(.chunkReceived(attempt: attempt, bytes: Int64(bytes.count)))
        return collect(bytes)
    }

    private func emitChunk(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard task.sharedConfiguration.listeners.observesChunks else { return }
        task.emitAsynchronously(kind())
    }

    private func collect(_ bytes: UnsafeRawBufferPointer) -> Demand {
        if acceptsConnection, let owner = state.withLock({ $0.owner }) {
            return received(bytes.count, owner.receive(bytes))
        }
        if task.description.isStreamed, let channel = state.withLock({ $0.channel }) {
            return received(bytes.count, channel.receive(bytes))
        }
        var taken = take(bytes)
        if case .undecided(let head) = taken {
            // The user's validator runs without the lock.
            let isRefused = head.map { !ResponseValidation.accepts($0, task.description) }
            state.withLock { $0.isRefused = isRefused ?? false }
            taken = take(bytes)
        }
        switch taken {
        case .sink: return sink.map { write(bytes, to: $0) } ?? .stop
        case .ended, .undecided: return .stop
        case .collected(let count):
            task.updateProgressAsynchronously { $0.bytesReceived = count }
            return task.pause.demand()
        }
    }

    private enum Taken {
        case sink
        /// The number of all collected bytes.
        case collected(Int64)
        /// No further bytes are needed.
        case ended
        /// Whether the response is refused must be known for this number of bytes.
        case undecided(ResponseHead?)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Taken {
        state.withLock { state in
            guard state.failure == nil, !state.isSatisfied else { return .ended }
            if state.usesSink { return .sink }
            let total = Int64(state.data.count) + Int64(bytes.count)
            let refusedLimit = min(limit, ResponseValidation.refusedBodyLimit)
            if total > refusedLimit, state.isRefused != false {
                guard state.isRefused != nil else { return .undecided(state.head) }
                // The error by its status or content type must not be hidden by one about the size.
                let room = max(0, Int(refusedLimit) - state.data.count)
                state.collect(UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
                (state.isSatisfied, state.isCut) = (true, true)
                return .ended
            }
            guard total <= limit else {
                state.failure = RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The response body is larger than maximumBytesInMemory (\(limit) bytes). Download it to a "
                        + "file, or raise the limit.")
                return .ended
            }
            state.collect(bytes)
            return .collected(Int64(state.data.count))
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to sink: any ResponseSink) -> Demand {
        switch sink.write(bytes) {
        case .success(true): return task.pause.demand()
        case .success(false): state.withLock { $0.isSatisfied = true }
        case .failure(let error): state.withLock { $0.failure = error }
        }
        return .stop
    }

    func willSend(over connection: Response.Connection, isReused: Bool) {
        if let captured { task.capture?.transferUses(connection, captured) }
        task.emitAsynchronously(
            isReused
                ? .connectionReused(attempt: attempt, connection)
                : .connectionOpened(attempt: attempt, connection))
    }

    func didSend(bodyBytes: Int64) {
        if task.sharedConfiguration.listeners.observesChunks {
            let sent = state.withLock { exchange(&$0.sent, with: bodyBytes) }
            emitChunk(.chunkSent(attempt: attempt, bytes: max(0, bodyBytes - sent)))
        }
        task.updateProgressAsynchronously { $0.bytesSent = bodyBytes }
    }

    func didNotice(_ mismatch: PinMismatch) { task.emitAsynchronously(.pinMismatch(mismatch)) }

    func beginRead() { state.withLock { $0.channel }?.beginRead() }

    func endRead() -> Demand { state.withLock { $0.channel }?.endRead() ?? .more }

    var waitingTime: Duration? {
        guard let channel = state.withLock({ $0.channel }) else { return .seconds(Int64.max) }
        return channel.waitingTime
    }

    func didEnd(_ end: TransferEnd) {
        guard acceptsConnection, let owner = state.withLock({ $0.owner.take() }) else {
            return finish(end)
        }
        var end = end
        end.error = owner.end(end.error)
        finish(end)
    }

    private func finish(_ end: TransferEnd) {
        let (waiter, channel, transfer) = state.withLock { state in
            state.finish(end)
            return (state.waiter.take(), state.channel, state.transfer.take())
        }
        if let channel {
            task.pause.detach(transfer)
            channel.transferEnded(end)
        }
        guard let waiter else { return }
        task.pause.detach(transfer)
        task.startBarrier.wake(waiter)
    }
}

extension ResponseCollector: WebSocketObserver {
    var observesWebSocket: Bool { captured != nil || task.isObserved }

    func observe(_ event: WebSocketEvent) {
        if let captured { task.capture?.webSocket(event, captured) }
        let hasPayload = task.sharedConfiguration.listeners.observesMessagePayloads
        task.emitAsynchronously(.webSocket(hasPayload ? event : event.withoutPayload))
    }
}

/// The output of a connection that was refused after 101.
private final class FailedSource: BodySource {
    private let error: RequestError

    init(_ error: RequestError) { self.error = error }

    var length: Int64? { nil }
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { .failed(error) }
    func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }
    func rewind() -> Bool { false }
    func close() {}
}
