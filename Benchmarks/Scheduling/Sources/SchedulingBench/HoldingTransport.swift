import ErrandCore
import ErrandTransport
import Synchronization

/// A transport that holds every transfer until `open`, and responds at once afterwards.
final class HoldingTransport: Transport {
    private struct State {
        var isOpen = false
        var held: [HeldTransfer] = []
    }

    let name = "holding"
    private let state = Mutex(State())

    func check(_ request: TransportRequest) throws(RequestError) {}

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let transfer = HeldTransfer(receiver)
        let isOpen = state.withLock { state in
            if !state.isOpen { state.held.append(transfer) }
            return state.isOpen
        }
        if isOpen { transfer.respond() }
        return transfer
    }

    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for transfer in held { transfer.respond() }
    }

    func shutDown() { open() }
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
