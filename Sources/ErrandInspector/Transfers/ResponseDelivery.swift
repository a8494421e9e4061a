import ErrandHTTP
import ErrandSystem
import ErrandTransport

/// The state of a response whose bytes are delivered in small chunks, with pauses between them; pure.
///
/// Bytes that have arrived wait here. The transport pauses until they are delivered.
struct ResponseDelivery {
    /// The next call.
    enum Step {
        case none
        /// Delivers bytes; ``delivered(_:_:wait:)`` follows.
        case bytes(Data)
        /// Resumes the transfer of the transport.
        case resume
        case end(TransferEnd)
    }

    /// The bytes that have arrived and are not delivered.
    private var buffer = Data()
    private var end: TransferEnd?
    /// The time at which the transfer of the transport has ended.
    private var endTime = Duration.zero
    /// The number of bytes until the fault of a rule.
    private var bytesUntilFault: Int?
    private let fault: RequestError?
    /// Whether the receiver is called with bytes now.
    private var isDelivering = false
    private var isPaused = false
    /// Whether the receiver has resumed during a call.
    private var isResumedDuringCall = false
    private var isCancelled = false
    private var isFaulted = false
    /// Whether the transport calls with bytes now.
    private var isReceiving = false
    private var isTransportPaused = false
    private var hasEnded = false
    /// Whether the next bytes, or the end, wait for the speed limit.
    private(set) var isWaiting = false
    /// The number of the current or last wait.
    private(set) var wait = 0
    /// The time at which the last wait has ended.
    private var waitEnd: Duration?

    init(fault: RequestError? = nil, afterBytes: Int? = nil) {
        self.fault = fault
        bytesUntilFault = fault == nil ? nil : afterBytes
    }

    /// Whether the transfer of the transport is to be cancelled, if it has not ended.
    var needsNoMoreBytes: Bool { isCancelled || isFaulted }

    /// The time for which the receiver has been waiting; `nil` while bytes wait here, or are delivered.
    func waitingTime(_ time: Duration?, at now: Duration) -> Duration? {
        guard !isWaiting, !isDelivering, buffer.isEmpty, let time else { return nil }
        return waitEnd.map { min(time, now - $0) } ?? time
    }

    // MARK: - From the transport

    /// Takes bytes; false if none are needed any more.
    mutating func beginReceiving(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !needsNoMoreBytes else { return false }
        buffer.append(contentsOf: bytes)
        isReceiving = true
        return true
    }

    mutating func endReceiving() -> Demand {
        isReceiving = false
        if needsNoMoreBytes { return .stop }
        if buffer.isEmpty, !isDelivering, !isPaused, !isWaiting { return .more }
        isTransportPaused = true
        return .pause
    }

    mutating func transportEnded(_ end: TransferEnd, at now: Duration) {
        self.end = end
        endTime = now
    }

    // MARK: - From the receiver

    mutating func resume() {
        if isDelivering { isResumedDuringCall = true }
        isPaused = false
    }

    mutating func cancel() {
        isCancelled = true
        buffer = Data()
    }

    // MARK: - Steps

    /// The next step; the caller performs it, and asks again.
    mutating func next(chunkSize: Int, at now: Duration, hasTransfer: Bool) -> Step {
        guard !isDelivering, !hasEnded else { return .none }
        if var end, isEndDue(end) {
            hasEnded = true
            if isFaulted { end.error = fault }
            if isCancelled { end.error = end.error ?? .cancelled }
            // The time for which the last bytes have waited here.
            end.timings.finished = end.timings.finished.map { $0 + (now - endTime) }
            return .end(end)
        }
        guard !needsNoMoreBytes, !isPaused, !isWaiting else { return .none }
        guard buffer.isEmpty else {
            let count = min(buffer.count, chunkSize, bytesUntilFault ?? .max)
            let bytes = buffer.prefix(count)
            buffer = buffer.dropFirst(count)
            isDelivering = true
            isResumedDuringCall = false
            return .bytes(bytes)
        }
        guard isTransportPaused, !isReceiving, hasTransfer else { return .none }
        isTransportPaused = false
        return .resume
    }

    /// Whether the end is delivered now: after all bytes, or at once if they are not needed.
    private func isEndDue(_ end: TransferEnd) -> Bool {
        if needsNoMoreBytes || end.error?.isCancellation == true { return true }
        if end.error?.code == .agentShutDown { return true }
        return buffer.isEmpty && !isPaused && !isWaiting
    }

    /// Notes that the receiver has got bytes.
    ///
    /// - Parameter wait: The time until the next bytes.
    mutating func delivered(_ count: Int, _ demand: Demand, wait: Duration) {
        isDelivering = false
        isPaused = demand == .pause && !isResumedDuringCall
        if demand == .stop { cancel() }
        bytesUntilFault = bytesUntilFault.map { $0 - count }
        if bytesUntilFault == 0 {
            isFaulted = true
            buffer = Data()
        }
        guard wait > .zero, !needsNoMoreBytes else { return }
        isWaiting = true
        self.wait += 1
    }

    /// Ends a wait, unless it is an earlier one.
    mutating func waitEnded(_ number: Int, at now: Duration) {
        guard number == wait, isWaiting else { return }
        isWaiting = false
        waitEnd = now
    }
}
