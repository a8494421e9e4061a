package import ErrandHTTP
import ErrandSystem

/// A receiver that passes on to another receiver the calls that it does not implement itself.
///
/// The calls with bytes and with the end are always its own.
package protocol ForwardingReceiver: ConnectionOwner {
    /// The receiver that the calls are passed on to.
    var receiver: any TransferReceiver { get }
}

extension ForwardingReceiver {
    package var waitingTime: Duration? { receiver.waitingTime }

    package func didReceive(informational head: ResponseHead) {
        receiver.didReceive(informational: head)
    }

    package func didReceive(head: ResponseHead) { receiver.didReceive(head: head) }

    package func willSend(over connection: Response.Connection, isReused: Bool) {
        receiver.willSend(over: connection, isReused: isReused)
    }

    package func didSend(bodyBytes: Int64) { receiver.didSend(bodyBytes: bodyBytes) }

    package func didNotice(_ mismatch: PinMismatch) { receiver.didNotice(mismatch) }

    private var owner: (any ConnectionOwner)? { receiver as? any ConnectionOwner }

    package var acceptsConnection: Bool { owner?.acceptsConnection ?? false }
    package var extendedProtocol: String? { owner?.extendedProtocol }

    package func didSwitchProtocols(_ head: ResponseHead) -> any BodySource {
        // Without an owner, no connection is accepted.
        owner?.didSwitchProtocols(head) ?? DataBodySource(Data())
    }

    package func addObserver(_ observer: any WebSocketObserver) { owner?.addObserver(observer) }

    package func didReceiveEnd() { owner?.didReceiveEnd() }
}
