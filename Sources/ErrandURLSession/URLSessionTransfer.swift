import ErrandTransport
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and its response over a session's data task.
final class URLSessionTransfer: Transfer {
    /// The queues and the callback that the transport provides.
    struct TransferContext: Sendable {
        /// Creates, starts and cancels tasks, which must not happen inside a callback of the session.
        let control: DispatchQueue
        /// Calls receivers, except for calls that a callback of the session makes directly.
        let delivery: DispatchQueue
        /// Called once, when the transfer has no task any more.
        let finished: @Sendable (URLSessionTransfer) -> Void
    }

    struct State {
        var task: URLSessionTask?
        var receiver: (any TransferReceiver)?
        var source: (any BodySource)?
        var trust: SessionTrust?
        /// The reason why the task was cancelled: the body could not be sent, or the server is not trusted.
        var ownFailure: RequestError?
        var streams = 0
        var wasChallenged = false
        var interimCount = 0
        var isEncoded = false
        var encodedLength: Int64?
        /// The body's length if libcurl does not apply it; see ``ResponseHead/needsLengthFraming``.
        var framingLength: Int64?
        var received: Int64 = 0
        var bodySent: Int64 = 0
        var timings = AttemptTimings()
        var isFinished = false
    }

    let request: TransportRequest
    private let started = ContinuousClock.now
    private let context: TransferContext
    private let machine = Mutex(DeliveryMachine())
    let state: Mutex<State>
    private let buffer = SpillBuffer()
    private let watch: DeadlineWatch

    init(
        _ request: TransportRequest, receiver: any TransferReceiver, context: TransferContext
    ) {
        self.request = request
        self.context = context
        state = Mutex(State(receiver: receiver))
        watch = DeadlineWatch(request.timeouts, url: request.url)
    }

    var isOver: Bool { machine.withLock { $0.isOver } }

    // MARK: - From callers

    func cancel() { abort(.cancelled) }

    func resumeReceiving() {
        machine.withLock { $0.resume() }
        context.delivery.async { [self] in
            machine.withLock { watch.setPaused($0.isWaitingForReceiver) }
            pump()
        }
    }

    /// Ends the transfer with an error.
    ///
    /// Later calls have no effect.
    func abort(_ error: RequestError) {
        guard machine.withLock({ $0.abort(error) }) else { return }
        context.control.async { [self] in
            // Without a task, no completion callback will call finish().
            if let task = state.withLock({ $0.task }) { task.cancel() } else { finish() }
        }
        context.delivery.async { [self] in pump() }
    }

    // MARK: - From the transport, on its control queue except for watchDeadlines()

    /// Starts the connect limit of a transfer that waits for the place of another one.
    func watchWait() {
        watch.startWaiting { [weak self] in
            self?.abort(
                RequestError(
                    .timedOut, stage: .transport,
                    "All connections to the host were in use until the limit. End one of the other requests, or raise "
                        + "timeouts.connect or httpMaximumConnectionsPerHost.",
                    timeout: .connect))
        }
    }

    /// Starts the timeouts, once the transfer is admitted by the connection limit.
    ///
    /// May run on any thread: a busy session can block the control queue, and the timeouts must still apply.
    func watchDeadlines() {
        state.withLock { $0.timings.queued = started.duration(to: .now) }
        let waitingTime: @Sendable () -> Duration? = { [weak self] in
            guard let receiver = self?.state.withLock({ $0.receiver }) else { return nil }
            return receiver.waitingTime
        }
        watch.start(waitingTime: waitingTime) { [weak self] kind in
            self?.abort(
                RequestError(
                    .timedOut, stage: .transport,
                    kind == .connect
                        ? "Could not connect in time. Check the host, or raise timeouts.connect."
                        : "Nothing was sent or received in time. "
                            + "Try again, or raise timeouts.idle.",
                    timeout: kind))
        }
    }

    func active() { watch.active(fromServer: false) }

    /// Sets the body source.
    func attach(_ source: any BodySource) {
        // If the transfer ended while the source was created, end(_:_:) did not close it.
        let hasEnded = state.withLock { state in
            state.source = source
            return state.receiver == nil
        }
        if hasEnded { source.close() }
    }

    /// Sets the trust of the session that carries the request.
    func trust(by trust: SessionTrust) { state.withLock { $0.trust = trust } }

    func attach(_ task: URLSessionTask) { state.withLock { $0.task = task } }

    /// The body's length; `nil` without a body.
    var bodyLength: Int64? { state.withLock { $0.source?.length } }

    /// The body as a stream for the first send; `nil` without a body.
    func firstStream() -> InputStream? {
        let source = state.withLock { state in
            state.streams += 1
            return state.source
        }
        return source.map(stream)
    }

    /// Reports to the transport, once, that the transfer has no task any more.
    func finish() {
        let isFirst = state.withLock { state in
            defer { state.isFinished = true }
            return !state.isFinished
        }
        guard isFirst else { return }
        context.finished(self)
    }

    // MARK: - From the session's delegate

    func received(_ head: ResponseHead) {
        watch.active(fromServer: true)
        if head.status.code < 200 {
            if let error = refusal(ofInterim: head) { return abort(error) }
            machine.withLock { $0.arrived(informational: head) }
            return pump()
        }
        if let error = refusal(of: head) { return abort(error) }
        state.withLock { state in
            if state.timings.firstByte == nil {
                state.timings.firstByte = started.duration(to: .now)
            }
            state.isEncoded = head.isEncoded
            state.timings.headBytesReceived = Int64(head.wireSize)
            state.encodedLength = head.encodedLength
            if head.needsLengthFraming, request.method != .head {
                state.framingLength = head.contentLength
            }
        }
        var head = head
        head.isDecoded = head.isDecoded(for: request)
        machine.withLock { [head] in $0.arrived(head: head) }
        pump()
        endIfComplete()
    }

    func received(_ data: Data) {
        watch.active(fromServer: true)
        let data = bodyPart(of: data)
        if let error = refusal(ofBytes: data.count) { return abort(error) }
        defer { endIfComplete() }
        data.withUnsafeBytes { bytes in
            switch machine.withLock({ $0.arrived(bytes: bytes.count) }) {
            case .drop: return
            case .store: store(bytes)
            case .deliver:
                deliverBytes(bytes, fromBuffer: 0)
                deliver()
            }
        }
    }

    func sent(_ total: Int64) {
        watch.active(fromServer: true)
        let bytes = min(total, state.withLock { $0.source?.length } ?? total)
        state.withLock { $0.bodySent = max($0.bodySent, bytes) }
        machine.withLock { $0.sent(bytes) }
        pump()
    }

    /// Decides about a challenge.
    func response(to challenge: URLAuthenticationChallenge) -> ChallengeResponse {
        let (trust, receiver) = state.withLock { ($0.trust, $0.receiver) }
        let response =
            trust?.response(to: challenge, host: request.host ?? "") { receiver?.didNotice($0) }
            ?? .refusal
        state.withLock { state in
            switch response {
            case .failure(let error): state.ownFailure = error
            case .refusal: state.wasChallenged = true
            case .system, .credential: break
            }
        }
        return response
    }

    /// A stream that sends the body again, or one that fails if the body must not be sent again.
    func streamForReplay() -> InputStream {
        let (source, isFirst) = state.withLock { state in
            state.streams += 1
            return (state.source, state.streams == 1)
        }
        guard let source, isFirst || request.mayBeReplayed, source.rewind() else {
            state.withLock { $0.ownFailure = Self.notReplayed }
            return RefusingInputStream()
        }
        return stream(source)
    }

    func completed(_ error: (any Error)?) {
        let redirectError = error == nil ? deliverHiddenRedirect() : nil
        let (wasChallenged, ownFailure, isEncoded) = state.withLock { state in
            // The task keeps its session and connections alive, so it is released here.
            state.task = nil
            return (state.wasChallenged, state.ownFailure, state.isEncoded)
        }
        let hasHead = machine.withLock { $0.hasHead }
        let failure =
            error.map {
                ownFailure
                    ?? FailureMapping.error(for: $0, hasHead: hasHead, isEncoded: isEncoded)
            } ?? redirectError
        machine.withLock { machine in
            let isChallenge = failure?.code == .cancelled && wasChallenged && machine.hasHead
            machine.completed(
                isChallenge ? nil : failure ?? (machine.hasHead ? nil : Self.noResponse))
        }
        finish()
        pump()
    }

    private static var notReplayed: RequestError {
        RequestError(
            .connectionLost, stage: .transport,
            "The connection was lost before the response. The server may have read the request, "
                + "so it was not repeated: its method is not idempotent, or its body is not replayable."
        )
    }

    private static var noResponse: RequestError {
        RequestError(
            .badServerResponse, stage: .transport, "The transfer ended without a response.")
    }
}

// MARK: - Responses that URLSession handles incompletely

extension URLSessionTransfer {
    /// Delivers the head of a redirect whose `Location` is missing or invalid; returns an error if it had a body.
    ///
    /// FoundationNetworking (Swift 6.3.1) does not report such a response to the delegate, and discards its
    /// body.
    private func deliverHiddenRedirect() -> RequestError? {
        guard !machine.withLock({ $0.hasHead }),
            let response = state.withLock({ $0.task?.response }) as? HTTPURLResponse
        else { return nil }
        let head = ResponseHead(response)
        received(head)
        guard request.method != .head, head.contentLength != 0 else { return nil }
        return RequestError(
            .badServerResponse, stage: .transport,
            "The redirect has no usable Location, and URLSession does not deliver the body of "
                + "such a response. Correct the server's response.")
    }

    /// The bytes that belong to the body, without those after its announced end.
    private func bodyPart(of data: Data) -> Data {
        let left = state.withLock { state in
            state.framingLength.map { max(0, $0 - state.received) }
        }
        return left.map { data.prefix(Int(clamping: $0)) } ?? data
    }

    /// Ends the transfer once `framingLength` bytes are received; libcurl would wait for the connection to close.
    private func endIfComplete() {
        let isComplete = state.withLock { state in
            state.framingLength.map { state.received >= $0 } ?? false
        }
        if isComplete { endReceiving(nil) }
    }

    /// Ends the transfer after everything that is pending, and ignores what URLSession delivers later.
    private func endReceiving(_ error: RequestError?) {
        machine.withLock { $0.completed(error) }
        pump()
        context.control.async { [self] in state.withLock { $0.task }?.cancel() }
    }
}

// MARK: - Calls of the receiver

extension URLSessionTransfer {
    /// Delivers everything that is pending, unless another thread is delivering.
    private func pump() {
        if machine.withLock({ $0.begin() }) { deliver() }
    }

    private func deliver() {
        while true {
            let action = machine.withLock { $0.next() }
            let receiver = state.withLock { $0.receiver }
            switch action {
            case .nothing: return
            case .informational(let head): receiver?.didReceive(informational: head)
            case .head(let head): receiver?.didReceive(head: head)
            case .sent(let bytes): receiver?.didSend(bodyBytes: bytes)
            case .storedBytes: deliverBuffered()
            case .end(let error): end(error, receiver)
            }
        }
    }

    private func deliverBuffered() {
        do throws(RequestError) {
            let data = try buffer.next()
            data.withUnsafeBytes { deliverBytes($0, fromBuffer: $0.count) }
        } catch {
            machine.withLock { $0.delivered(0, demand: .more) }
            abort(error)
        }
    }

    private func deliverBytes(_ bytes: UnsafeRawBufferPointer, fromBuffer: Int) {
        let receiver = state.withLock { $0.receiver }
        let demand = receiver?.didReceive(bytes: bytes) ?? .stop
        // In one critical section, so that a concurrent resumption is not overwritten.
        machine.withLock { machine in
            machine.delivered(fromBuffer, demand: demand)
            watch.setPaused(machine.isWaitingForReceiver)
        }
        if demand == .stop {
            context.control.async { [self] in state.withLock { $0.task }?.cancel() }
        }
    }

    private func store(_ bytes: UnsafeRawBufferPointer) {
        do throws(RequestError) {
            try buffer.append(bytes)
            machine.withLock { $0.stored(bytes.count) }
            pump()
        } catch {
            abort(error)
        }
    }

    private func end(_ error: RequestError?, _ receiver: (any TransferReceiver)?) {
        watch.stop()
        let (timings, source) = state.withLock { state in
            state.timings.finished = started.duration(to: .now)
            state.timings.bytesSent = state.bodySent
            state.timings.bytesReceived = state.received
            state.receiver = nil
            return (state.timings, state.source)
        }
        source?.close()
        buffer.clear()
        receiver?.didEnd(TransferEnd(error: error, timings: timings))
    }

    private func stream(_ source: any BodySource) -> InputStream {
        BodyInputStream(
            source, activity: { [weak self] in self?.watch.active(fromServer: true) },
            failed: { [weak self] error in self?.state.withLock { $0.ownFailure = error } })
    }
}
