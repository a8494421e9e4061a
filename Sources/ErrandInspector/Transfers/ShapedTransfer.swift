import ErrandHTTP
import ErrandSystem
import ErrandTransport
import Synchronization

/// A transfer whose response a rule delays, ends early, or makes.
///
/// It passes calls between the receiver and the transfer of a transport. The receiver is called with bytes on several threads,
/// one after the other.
final class ShapedTransfer: Transfer, ForwardingReceiver {
    private struct State {
        var delivery: ResponseDelivery
        var inner: (any Transfer)?
        /// Whether ``inner`` has been set; it is `nil` again after the end.
        var hasBegun = false
        var timer: Task<Void, Never>?
    }

    let receiver: any TransferReceiver
    private let pace: TransferPace?
    private let clock: any RequestClock
    private let state: Mutex<State>

    init(
        _ receiver: any TransferReceiver, _ delivery: ResponseDelivery, pace: TransferPace?,
        clock: any RequestClock
    ) {
        self.receiver = receiver
        self.pace = pace
        self.clock = clock
        state = Mutex(State(delivery: delivery))
    }

    /// Takes the transfer of the transport, which may have ended already.
    func begin(_ inner: any Transfer) {
        let isCancelled = state.withLock { state in
            if !state.hasBegun { state.inner = inner }
            state.hasBegun = true
            return state.delivery.needsNoMoreBytes
        }
        if isCancelled { inner.cancel() }
        run()
    }

    // MARK: - From the receiver

    func cancel() {
        let inner = state.withLock { state in
            state.delivery.cancel()
            return state.inner
        }
        inner?.cancel()
        run()
    }

    func resumeReceiving() {
        state.withLock { $0.delivery.resume() }
        run()
    }

    // MARK: - From the transport

    var waitingTime: Duration? {
        let time = receiver.waitingTime
        return state.withLock { $0.delivery.waitingTime(time, at: clock.uptime) }
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        guard state.withLock({ $0.delivery.beginReceiving(bytes) }) else { return .stop }
        run()
        return state.withLock { $0.delivery.endReceiving() }
    }

    func didEnd(_ end: TransferEnd) {
        state.withLock { state in
            // The transfer and the other one refer to each other until the end.
            state.hasBegun = true
            state.inner = nil
            state.delivery.transportEnded(end, at: clock.uptime)
        }
        run()
    }

    // MARK: - Delivery

    /// Delivers bytes and the end, as far as they are due.
    private func run() {
        while true {
            let (step, inner) = state.withLock { state in
                let step = state.delivery.next(
                    chunkSize: pace?.chunkSize ?? .max, at: clock.uptime,
                    hasTransfer: state.inner != nil)
                return (step, state.inner)
            }
            switch step {
            case .none: return
            case .bytes(let bytes): deliver(bytes)
            case .resume: inner?.resumeReceiving()
            case .end(let end):
                state.withLock { $0.timer.take() }?.cancel()
                receiver.didEnd(end)
            }
        }
    }

    private func deliver(_ bytes: Data) {
        let demand = bytes.withUnsafeBytes { receiver.didReceive(bytes: $0) }
        let wait = pace?.received(bytes.count) ?? .zero
        let (number, inner) = state.withLock { state -> (Int?, (any Transfer)?) in
            state.delivery.delivered(bytes.count, demand, wait: wait)
            return (
                state.delivery.isWaiting ? state.delivery.wait : nil,
                state.delivery.needsNoMoreBytes ? state.inner : nil
            )
        }
        inner?.cancel()
        if let number { waitForPace(wait, number) }
    }

    private func waitForPace(_ duration: Duration, _ number: Int) {
        let timer = Task { [self] in
            guard (try? await clock.sleep(for: duration)) != nil else { return }
            state.withLock { $0.delivery.waitEnded(number, at: clock.uptime) }
            run()
        }
        let isWaiting = state.withLock { state in
            guard state.delivery.isWaiting, state.delivery.wait == number else { return false }
            state.timer = timer
            return true
        }
        if !isWaiting { timer.cancel() }
    }
}
