package import ErrandHTTP

/// A receiver that passes on to another receiver the calls that it does not implement itself.
///
/// The calls with bytes and with the end are always its own.
package protocol ForwardingReceiver: TransferReceiver {
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
}
