import ErrandCore
package import ErrandTransport
import Synchronization

/// A transport that holds every transfer until `open`, and responds at once afterwards.
package final class HoldingTransport: Transport {
    private struct State {
        var isOpen = false
        var held: [HeldTransfer] = []
        var wanted = Int.max
        var waiter: CheckedContinuation<Void, Never>?
    }

    package let name = "holding"
    private let state = Mutex(State())

    package init() {}

    /// Waits until it holds so many transfers.
    package func untilHeld(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.held.count < count else { return true }
                (state.wanted, state.waiter) = (count, continuation)
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    package func check(_ request: TransportRequest) throws(RequestError) {}

    package func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer
    {
        let transfer = HeldTransfer(receiver)
        let (isOpen, waiter) = state.withLock { state in
            guard !state.isOpen else { return (true, CheckedContinuation<Void, Never>?.none) }
            state.held.append(transfer)
            guard state.held.count >= state.wanted else { return (false, nil) }
            return (false, state.waiter.take())
        }
        waiter?.resume()
        if isOpen { transfer.respond() }
        return transfer
    }

    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for transfer in held { transfer.respond() }
    }

    package func shutDown() { open() }
}

/// A transfer that ends once, by a response or by cancellation.
final class HeldTransfer: Transfer {
    private let receiver: Mutex<(any TransferReceiver)?>

    init(_ receiver: any TransferReceiver) { self.receiver = Mutex(receiver) }

    func respond() {
        guard let receiver = take() else { return }
        receiver.didReceive(head: ResponseHead(status: .noContent, contentLength: 0))
        receiver.didEnd(TransferEnd())
    }

    func cancel() { take()?.didEnd(TransferEnd(error: .cancelled)) }

    func resumeReceiving() {}

    private func take() -> (any TransferReceiver)? {
        receiver.withLock { receiver in
            defer { receiver = nil }
            return receiver
        }
    }
}
