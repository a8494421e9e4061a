import ErrandCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange over a session's data task.
final class URLSessionTransfer: Transfer {
    /// What the transfer needs of its transport.
    struct Surroundings: Sendable {
        /// Where tasks are made, started and cancelled: never within a callback of the session.
        let control: DispatchQueue
        /// Where receivers are called when it is not the session that brings something.
        let delivery: DispatchQueue
        /// Told once, when no task is at work any more.
        let finished: @Sendable (URLSessionTransfer) -> Void
    }

    struct State {
        var task: URLSessionTask?
        var receiver: (any TransferReceiver)?
        var source: (any BodySource)?
        var bodyFailure: RequestError?
        var streams = 0
        var wasChallenged = false
        var interim = 0
        var isEncoded = false
        var encodedLength: Int64?
        /// Where the body ends, if only we know; see ``ResponseHead/hidesLength``.
        var ownLength: Int64?
        var received: Int64 = 0
        var bodySent: Int64 = 0
        var timings = AttemptTimings()
        var isFinished = false
    }

    let request: TransportRequest
    private let started = ContinuousClock.now
    private let surroundings: Surroundings
    private let machine = Mutex(DeliveryMachine())
    let state: Mutex<State>
    private let buffer = SpillBuffer()
    private let watch: DeadlineWatch

    init(
        _ request: TransportRequest, receiver: any TransferReceiver, surroundings: Surroundings
    ) {
        self.request = request
        self.surroundings = surroundings
        state = Mutex(State(receiver: receiver))
        watch = DeadlineWatch(request.timeouts, url: request.url)
    }

    var isOver: Bool { machine.withLock { $0.isOver } }

    // MARK: - From callers

    func cancel() { abort(.cancelled) }

    func resumeReceiving() {
        machine.withLock { $0.resume() }
        surroundings.delivery.async { [self] in
            watch.setPaused(machine.withLock { $0.isWaitingForReceiver })
            pump()
        }
    }

    /// Ends the transfer now, whatever it is doing; later calls change nothing.
    func abort(_ error: RequestError) {
        guard machine.withLock({ $0.abort(error) }) else { return }
        surroundings.control.async { [self] in
            // A task that was never made needs no end.
            if let task = state.withLock({ $0.task }) { task.cancel() } else { finish() }
        }
        surroundings.delivery.async { [self] in pump() }
    }

    // MARK: - From the transport, on its control queue but for the first

    /// Time begins to count: the transfer has its place.
    ///
    /// On any thread: a session that is busy keeps the control queue, too, and the limits hold all the same.
    func watchDeadlines() {
        state.withLock { $0.timings.queued = started.duration(to: .now) }
        watch.start { [weak self] kind in
            self?.abort(
                RequestError(
                    .timedOut, stage: .transport,
                    kind == .connect
                        ? "There was no connection in time; the limit is timeouts.connect."
                        : "Nothing went out or came in for too long; the limit is timeouts.idle.",
                    timeout: kind))
        }
    }

    func active() { watch.active(fromServer: false) }

    /// The body is there to be read without waiting.
    func attach(_ source: any BodySource) {
        // The end may have come while the body was made: then nobody else closes it.
        let hasEnded = state.withLock { state in
            state.source = source
            return state.receiver == nil
        }
        if hasEnded { source.close() }
    }

    func attach(_ task: URLSessionTask) {
        state.withLock { $0.task = task }
    }

    /// The body's length; `nil` when there is none.
    var bodyLength: Int64? { state.withLock { $0.source?.length } }

    /// The body as a stream, for the first time of asking.
    func firstStream() -> InputStream? {
        let source = state.withLock { state in
            state.streams += 1
            return state.source
        }
        return source.map(stream)
    }

    /// The task is gone, or there will be none.
    func finish() {
        let isFirst = state.withLock { state in
            defer { state.isFinished = true }
            return !state.isFinished
        }
        guard isFirst else { return }
        surroundings.finished(self)
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
            if head.hidesLength, request.method != .head { state.ownLength = head.contentLength }
        }
        machine.withLock { $0.arrived(head: head) }
        pump()
        endIfWhole()
    }

    func received(_ data: Data) {
        watch.active(fromServer: true)
        let data = own(data)
        if let error = refusal(ofFurther: data.count) { return abort(error) }
        defer { endIfWhole() }
        data.withUnsafeBytes { bytes in
            switch machine.withLock({ $0.arrived(bytes: bytes.count) }) {
            case .drop: return
            case .store: store(bytes)
            case .deliver:
                tell(bytes, fromBuffer: 0)
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

    func challenged() { state.withLock { $0.wasChallenged = true } }

    /// A stream for sending the body again, or one that refuses.
    func streamForReplay() -> InputStream {
        let (source, isFirst) = state.withLock { state in
            state.streams += 1
            return (state.source, state.streams == 1)
        }
        let mayReplay =
            request.options.mayReplay && request.method.isIdempotent
            && request.body?.isReplayable != false
        guard let source, isFirst || mayReplay, source.rewind() else {
            state.withLock { $0.bodyFailure = Self.notReplayed }
            return RefusingInputStream()
        }
        return stream(source)
    }

    func completed(_ error: (any Error)?) {
        let hiddenFault = error == nil ? takeHiddenRedirect() : nil
        let (wasChallenged, bodyFailure, isEncoded) = state.withLock { state in
            // A task holds its session, and that its connections, as long as somebody holds the task.
            state.task = nil
            return (state.wasChallenged, state.bodyFailure, state.isEncoded)
        }
        let hasHead = machine.withLock { $0.hasHead }
        let failure =
            error.map {
                bodyFailure
                    ?? FailureMapping.error(for: $0, hasHead: hasHead, isEncoded: isEncoded)
            } ?? hiddenFault
        machine.withLock { machine in
            let isChallenge = failure?.code == .cancelled && wasChallenged && machine.hasHead
            machine.completed(
                isChallenge ? nil : failure ?? (machine.hasHead ? nil : Self.noAnswer))
        }
        finish()
        pump()
    }

    private static var notReplayed: RequestError {
        RequestError(
            .connectionLost, stage: .transport,
            "The server closed the connection after it may have read the request, which is not sent "
                + "again by itself: its method is not idempotent, or its body cannot be read again."
        )
    }

    private static var noAnswer: RequestError {
        RequestError(
            .badServerResponse, stage: .transport, "The transfer ended without an answer.")
    }
}

// MARK: - What URLSession does not see

extension URLSessionTransfer {
    /// Takes a redirect without a `Location`, or with one that is no URL; returns what is wrong with it.
    ///
    /// NB: FoundationNetworking says nothing of it until it has ended, and keeps its body to itself.
    private func takeHiddenRedirect() -> RequestError? {
        guard !machine.withLock({ $0.hasHead }),
            let response = state.withLock({ $0.task?.response }) as? HTTPURLResponse
        else { return nil }
        let head = ResponseHead(response)
        received(head)
        guard request.method != .head, head.contentLength != 0 else { return nil }
        return RequestError(
            .badServerResponse, stage: .transport,
            "The server redirects without a usable Location, and URLSession keeps the body of such an answer to itself. "
                + "Use CurlTransport to read it.")
    }

    /// What of these bytes is the body's.
    private func own(_ data: Data) -> Data {
        let left = state.withLock { state in state.ownLength.map { max(0, $0 - state.received) } }
        return left.map { data.prefix(Int(clamping: $0)) } ?? data
    }

    /// Ends where the announced length is all that says where the body does: libcurl waits for the connection's end.
    private func endIfWhole() {
        let isWhole = state.withLock { state in
            state.ownLength.map { state.received >= $0 } ?? false
        }
        guard isWhole else { return }
        machine.withLock { $0.completed(nil) }
        pump()
        surroundings.control.async { [self] in state.withLock { $0.task }?.cancel() }
    }
}

// MARK: - Telling the receiver

extension URLSessionTransfer {
    /// Tells everything that is to be told, unless another thread is doing that.
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
            case .storedBytes: tellStored()
            case .end(let error): end(error, receiver)
            }
        }
    }

    private func tellStored() {
        do throws(RequestError) {
            let data = try buffer.next()
            data.withUnsafeBytes { tell($0, fromBuffer: $0.count) }
        } catch {
            machine.withLock { $0.delivered(0, demand: .more) }
            abort(error)
        }
    }

    private func tell(_ bytes: UnsafeRawBufferPointer, fromBuffer: Int) {
        let receiver = state.withLock { $0.receiver }
        let demand = receiver?.didReceive(bytes: bytes) ?? .stop
        let isWaiting = machine.withLock { machine in
            machine.delivered(fromBuffer, demand: demand)
            return machine.isWaitingForReceiver
        }
        watch.setPaused(isWaiting)
        if demand == .stop {
            surroundings.control.async { [self] in state.withLock { $0.task }?.cancel() }
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
            failed: { [weak self] error in self?.state.withLock { $0.bodyFailure = error } })
    }
}
