import ErrandHTTP
import ErrandSystem
import Synchronization

/// A transfer that is paused by its receiver, by a bandwidth limit, or by both.
///
/// It passes calls between the receiver and the transfer of another transport, and holds bytes until the limit allows
/// them. The receiver is called serially: by one thread at a time, which makes all calls that are due.
final class LimitedTransfer: Transfer, ForwardingReceiver {
    private struct State {
        var inner: (any Transfer)?
        var isCancelled = false
        /// The bytes that wait for the limit or for the receiver, in their order.
        var held: [Held] = []
        /// The number of the last held bytes.
        var lastNumber: UInt64 = 0
        /// The time at which the last wait has ended.
        var waitEnd: Duration?
        var isPausedByReceiver = false
        /// Whether the receiver has resumed during a call with bytes.
        var isResumedDuringCall = false
        /// Whether the receiver needs no more bytes.
        var isStopped = false
        /// Whether the inner transfer pauses.
        var isInnerPaused = false
        /// The last number of sent bytes that the receiver does not know yet.
        var sent: Int64?
        /// The error that replaces that of the end.
        var failure: RequestError?
        var end: TransferEnd?
        var hasEnded = false
        /// Whether a thread makes the calls.
        var isCalling = false

        /// Whether the inner transfer must pause.
        ///
        /// It continues while one piece is held, so that its own limit, if it has one, runs meanwhile.
        var mustPause: Bool { isPausedByReceiver || held.count > 1 }

        /// Discards the bytes, and returns their waits.
        mutating func discard() -> [UInt64] {
            defer { held = [] }
            return held.compactMap(\.wait)
        }
    }

    private struct Held {
        let number: UInt64
        let bytes: Data
        /// The wait for the limit; `nil` if it is over.
        var wait: UInt64?
        var isDue = false
    }

    private enum Step {
        case bytes(Data)
        case sent(Int64)
        case end(TransferEnd)
        case resume(any Transfer)
    }

    let receiver: any TransferReceiver
    private let limit: BandwidthLane
    private let state = Mutex(State())

    init(_ receiver: any TransferReceiver, _ limit: BandwidthLane) {
        self.receiver = receiver
        self.limit = limit
    }

    /// Takes the transfer of the other transport, which may have ended already.
    func begin(_ inner: any Transfer) {
        let isCancelled = state.withLock { state in
            if state.end == nil, !state.hasEnded { state.inner = inner }
            return state.isCancelled || state.isStopped
        }
        if isCancelled { inner.cancel() }
        makeCalls()
    }

    // MARK: - From the receiver

    func cancel() {
        let (inner, waits) = state.withLock { state in
            state.isCancelled = true
            // The inner transfer has ended, but the receiver does not know yet.
            if state.end != nil { state.end?.error = .cancelled }
            return (state.inner, state.discard())
        }
        for wait in waits { limit.forget(wait) }
        inner?.cancel()
        makeCalls()
    }

    func resumeReceiving() {
        state.withLock { state in
            state.isResumedDuringCall = true
            state.isPausedByReceiver = false
        }
        makeCalls()
    }

    // MARK: - Calls

    /// Makes the calls that are due, unless another thread makes them.
    private func makeCalls() {
        guard state.withLock({ !exchange(&$0.isCalling, with: true) }) else { return }
        continueCalls()
    }

    private func continueCalls() {
        while let step = state.withLock({ next(&$0) }) {
            switch step {
            case .bytes(let bytes): bytes.withUnsafeBytes { pass($0) }
            case .sent(let count): receiver.didSend(bodyBytes: count)
            case .end(let end): receiver.didEnd(end)
            case .resume(let inner): inner.resumeReceiving()
            }
        }
    }

    /// The next call; `nil` ends the calls of this thread.
    private func next(_ state: inout State) -> Step? {
        if let sent = state.sent.take(), !state.hasEnded { return .sent(sent) }
        if let first = state.held.first, first.isDue, !state.isPausedByReceiver {
            state.held.removeFirst()
            return .bytes(first.bytes)
        }
        if state.held.isEmpty, !state.hasEnded, let end = state.end.take() {
            state.hasEnded = true
            return .end(end)
        }
        if !state.mustPause, state.isInnerPaused, let inner = state.inner {
            state.isInnerPaused = false
            return .resume(inner)
        }
        state.isCalling = false
        return nil
    }

    /// Passes bytes to the receiver; called by the thread that makes the calls.
    private func pass(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { $0.isResumedDuringCall = false }
        let demand = receiver.didReceive(bytes: bytes)
        let (inner, waits) = state.withLock { state -> ((any Transfer)?, [UInt64]) in
            state.isPausedByReceiver = demand == .pause && !state.isResumedDuringCall
            guard demand == .stop else { return (nil, []) }
            state.isStopped = true
            return (state.inner, state.discard())
        }
        for wait in waits { limit.forget(wait) }
        inner?.cancel()
    }

    /// The wait of held bytes has ended.
    private func waitEnded(_ number: UInt64) {
        let now = limit.clock.uptime
        state.withLock { state in
            state.waitEnd = now
            guard let index = state.held.firstIndex(where: { $0.number == number }) else { return }
            (state.held[index].wait, state.held[index].isDue) = (nil, true)
        }
        makeCalls()
    }

    // MARK: - From the transport

    var waitingTime: Duration? {
        let (waits, end) = state.withLock { (!$0.held.isEmpty, $0.waitEnd) }
        guard !waits, let time = receiver.waitingTime else { return nil }
        return end.map { min(time, limit.clock.uptime - $0) } ?? time
    }

    func didSend(bodyBytes: Int64) {
        state.withLock { $0.sent = bodyBytes }
        makeCalls()
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        do throws(RequestError) {
            try limit.check()
        } catch {
            state.withLock { $0.failure = error }
            return .stop
        }
        let mayPass = state.withLock { $0.held.isEmpty && !$0.isPausedByReceiver && !$0.isCalling }
        if mayPass, limit.bytesPerSecond == nil { return passAtOnce(bytes) }
        let number = state.withLock { state in
            state.lastNumber += 1
            state.held.append(Held(number: state.lastNumber, bytes: Data(bytes)))
            return state.lastNumber
        }
        // The closure retains this transfer until the receiver has the bytes.
        let wait = limit.count(bytes.count) { self.waitEnded(number) }
        let isHeld = state.withLock { state in
            guard let index = state.held.firstIndex(where: { $0.number == number }) else {
                return false
            }
            if !state.held[index].isDue {
                (state.held[index].wait, state.held[index].isDue) = (wait, wait == nil)
            }
            return true
        }
        // A cancellation on another thread has discarded the bytes before it could know the wait.
        if !isHeld, let wait { limit.forget(wait) }
        makeCalls()
        return demand()
    }

    private func passAtOnce(_ bytes: UnsafeRawBufferPointer) -> Demand {
        guard state.withLock({ !exchange(&$0.isCalling, with: true) }) else {
            // Another thread reports sent bytes, and passes these.
            state.withLock { state in
                state.lastNumber += 1
                state.held.append(
                    Held(number: state.lastNumber, bytes: Data(bytes), isDue: true))
            }
            makeCalls()
            return demand()
        }
        pass(bytes)
        continueCalls()
        return demand()
    }

    /// The demand after bytes were taken.
    private func demand() -> Demand {
        state.withLock { state in
            if state.isStopped || state.isCancelled { return .stop }
            guard state.mustPause else { return .more }
            state.isInnerPaused = true
            return .pause
        }
    }

    func didEnd(_ end: TransferEnd) {
        let waits = state.withLock { state -> [UInt64] in
            // The transfer and the other one refer to each other until the end.
            state.inner = nil
            state.isInnerPaused = false
            state.end = end
            if let failure = state.failure { state.end?.error = failure }
            let isAtOnce =
                state.isCancelled || state.isStopped || state.failure != nil
                || end.error?.isCancellation == true || end.error?.code == .agentShutDown
            return isAtOnce ? state.discard() : []
        }
        for wait in waits { limit.forget(wait) }
        makeCalls()
    }
}
