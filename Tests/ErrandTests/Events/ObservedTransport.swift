import ErrandTesting
import ErrandTransport
import Synchronization

/// A transport that counts how the transfers of another one are paused and resumed, for the requests of one path.
final class ObservedTransport: Transport {
    struct Counts: Sendable {
        var pauses = 0
        var resumptions = 0
        var isPaused = false
        /// The number of chunks between a `.pause` and the call of `resumeReceiving()`.
        var chunksWhilePaused = 0
    }

    private let inner: any Transport
    private let path: String
    private let state = Mutex(Counts())
    /// Records the calls for the transfers.
    let receiver = RecordingReceiver(keepsBody: false)
    /// Opens after the first `.pause`, or after the end if there was none.
    let pausedOrEnded = Gate()

    init(_ inner: any Transport, path: String) {
        self.inner = inner
        self.path = path
    }

    var name: String { inner.name }
    var counts: Counts { state.withLock { $0 } }

    func check(_ request: TransportRequest) throws(RequestError) { try inner.check(request) }
    func shutDown() { inner.shutDown() }

    func untilPaused() async { while !counts.isPaused { await Task.yield() } }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        guard request.url.path == path else { return inner.start(request, receiver: receiver) }
        state.withLock { $0.isPaused = false }
        return ObservedTransfer(
            inner.start(request, receiver: ObservedReceiver(receiver, self)), self)
    }

    /// Counts a chunk.
    ///
    /// - Parameter earlier: The counts before the receiver had the chunk. If the transfer was resumed since
    ///   then, a demand to pause has no effect.
    fileprivate func delivered(_ demand: Demand, since earlier: Counts) {
        state.withLock { state in
            if earlier.isPaused { state.chunksWhilePaused += 1 }
            guard demand == .pause else { return }
            state.isPaused = state.resumptions == earlier.resumptions
            state.pauses += 1
        }
        if demand == .pause { pausedOrEnded.open() }
    }

    fileprivate func willResume() {
        state.withLock { state in
            state.isPaused = false
            state.resumptions += 1
        }
    }
}

private final class ObservedTransfer: Transfer {
    private let inner: any Transfer
    private let transport: ObservedTransport

    init(_ inner: any Transfer, _ transport: ObservedTransport) {
        self.inner = inner
        self.transport = transport
    }

    func cancel() { inner.cancel() }

    func resumeReceiving() {
        transport.willResume()
        inner.resumeReceiving()
    }
}

private final class ObservedReceiver: TransferReceiver {
    private let inner: any TransferReceiver
    private let transport: ObservedTransport

    init(_ inner: any TransferReceiver, _ transport: ObservedTransport) {
        self.inner = inner
        self.transport = transport
    }

    func didReceive(head: ResponseHead) {
        inner.didReceive(head: head)
        transport.receiver.didReceive(head: head)
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        let earlier = transport.counts
        let demand = inner.didReceive(bytes: bytes)
        _ = transport.receiver.didReceive(bytes: bytes)
        transport.delivered(demand, since: earlier)
        return demand
    }

    func didSend(bodyBytes: Int64) { inner.didSend(bodyBytes: bodyBytes) }

    func didEnd(_ end: TransferEnd) {
        transport.receiver.didEnd(end)
        transport.pausedOrEnded.open()
        inner.didEnd(end)
    }
}
