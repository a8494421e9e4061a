package import ErrandSystem

/// A transfer that the reader of its body can continue on its own thread.
package protocol ReadableTransfer: Transfer {
    /// Continues receiving after ``Demand/pause``; may read from the connection and call the receiver
    /// before it returns, on the calling thread.
    ///
    /// Not called by the receiver within one of its methods.
    func receiveOnCaller()
}

/// A receiver that passes the bytes of a body to a reader on another thread.
package protocol StreamReceiver: TransferReceiver {
    /// Called in place of ``TransferReceiver/didReceive(bytes:)`` with memory that the receiver keeps
    /// instead of copying it.
    func didReceive(chunk: Data) -> Demand

    /// Called before one or several calls with bytes that were read together; ``endRead()`` follows on
    /// the same thread.
    ///
    /// The transfer can be continued with ``ReadableTransfer/receiveOnCaller()``.
    func beginRead()

    /// Called after the calls that ``beginRead()`` announced; wakes the reader.
    ///
    /// - Returns: ``Demand/pause`` if the reader continues the transfer when it has used the bytes.
    func endRead() -> Demand
}
