import ErrandHTTP
import Synchronization

/// A transfer that is paused by its receiver, by a bandwidth limit, or by both.
///
/// It passes calls between the receiver and the transfer of another transport.
final class LimitedTransfer: Transfer, ForwardingReceiver {
    private struct State {
        var inner: (any Transfer)?
        var isCancelled = false
        var hasEnded = false
        /// Whether a resumption came before `inner` was known.
        var isResumed = false
        /// Whether the receiver is called with bytes now.
        var isDelivering = false
        /// Whether the receiver has resumed during that call.
        var resumedDuringDelivery = false
        var isPausedByReceiver = false
        /// Whether the transfer waits for the limit.
        var isLimited = false
        /// The time at which the last wait has ended.
        var waitEnd: Duration?

        /// The transfer to resume, if nothing pauses it any longer.
        mutating func resumption() -> (any Transfer)? {
            guard !isPausedByReceiver, !isLimited, !isDelivering else { return nil }
            if inner == nil { isResumed = true }
            return inner
        }
    }

    let receiver: any TransferReceiver
    private let limit: BandwidthLimit
    private let state = Mutex(State())

    init(_ receiver: any TransferReceiver, _ limit: BandwidthLimit) {
        self.receiver = receiver
        self.limit = limit
    }

    /// Takes the transfer of the other transport, which may have ended already.
    func begin(_ inner: any Transfer) {
        let (isCancelled, isResumed) = state.withLock { state in
            if !state.hasEnded { state.inner = inner }
            return (state.isCancelled, state.isResumed)
        }
        if isCancelled { inner.cancel() }
        if isResumed { inner.resumeReceiving() }
    }

    // MARK: - From the receiver

    func cancel() {
        let inner = state.withLock { state in
            state.isCancelled = true
            return state.inner
        }
        inner?.cancel()
    }

    func resumeReceiving() {
        let inner = state.withLock { state in
            if state.isDelivering { state.resumedDuringDelivery = true }
            guard state.isPausedByReceiver else { return nil as (any Transfer)? }
            state.isPausedByReceiver = false
            return state.resumption()
        }
        inner?.resumeReceiving()
    }

    // MARK: - From the limit

    /// The wait for the limit has ended.
    func continueReceiving() {
        let now = limit.uptime
        let inner = state.withLock { state in
            state.isLimited = false
            state.waitEnd = now
            return state.resumption()
        }
        inner?.resumeReceiving()
    }

    // MARK: - From the transport

    var waitingTime: Duration? {
        let (waits, end) = state.withLock { ($0.isLimited, $0.waitEnd) }
        guard !waits, let time = receiver.waitingTime else { return nil }
        return end.map { min(time, limit.uptime - $0) } ?? time
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        state.withLock { state in
            state.isDelivering = true
            state.resumedDuringDelivery = false
        }
        let demand = receiver.didReceive(bytes: bytes)
        guard demand != .stop else { return .stop }
        // Before the wait begins: it may end on another thread at any time after that.
        state.withLock { $0.isLimited = true }
        let waits = limit.count(bytes.count, of: self)
        return state.withLock { state in
            state.isDelivering = false
            if !waits { state.isLimited = false }
            state.isPausedByReceiver = demand == .pause && !state.resumedDuringDelivery
            return state.isLimited || state.isPausedByReceiver ? .pause : .more
        }
    }

    func didEnd(_ end: TransferEnd) {
        // The transfer and the other one refer to each other until the end.
        state.withLock { state in
            state.hasEnded = true
            state.inner = nil
        }
        limit.forget(self)
        receiver.didEnd(end)
    }
}
