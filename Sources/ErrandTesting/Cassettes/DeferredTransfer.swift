import ErrandTransport
import Synchronization

/// A transfer that begins later, or ends before.
final class DeferredTransfer: Transfer {
    private enum State {
        case waiting(onCancel: (@Sendable () -> Void)?)
        case begun(any Transfer)
        case cancelled
    }

    private let state = Mutex(State.waiting(onCancel: nil))
    private let receiver: any TransferReceiver

    init(_ receiver: any TransferReceiver) { self.receiver = receiver }

    func onCancel(_ cancel: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if case .waiting = state { state = .waiting(onCancel: cancel) }
            if case .cancelled = state { return true }
            return false
        }
        if isCancelled { cancel() }
    }

    /// Begins the transfer, unless it was cancelled.
    func begin(_ start: (any TransferReceiver) -> any Transfer) {
        // The lock is held during the start, so that a cancellation finds the transfer.
        state.withLock { state in
            if case .waiting = state { state = .begun(start(receiver)) }
        }
    }

    func cancel() {
        let action: @Sendable () -> Void = state.withLock { state in
            switch state {
            case .cancelled: return {}
            case .begun(let transfer): return { transfer.cancel() }
            case .waiting(let onCancel):
                state = .cancelled
                return { [receiver] in
                    onCancel?()
                    receiver.didEnd(TransferEnd(error: .cancelled))
                }
            }
        }
        action()
    }

    func resumeReceiving() {
        let transfer: (any Transfer)? = state.withLock { state in
            if case .begun(let transfer) = state { return transfer }
            return nil
        }
        transfer?.resumeReceiving()
    }
}
