package import ErrandHTTP
package import ErrandSystem
package import ErrandTransport
import Synchronization

/// A transfer that has ended, with its messages.
package struct RecordedTransfer: Sendable {
    /// The request, as the transport received it.
    package var request: TransportRequest
    /// The bytes of the request's body, if it is a stream; other bodies are read from the request.
    package var streamedBody: RecordedBody?
    /// The number of bytes of the request's body that were sent.
    package var bytesSent: Int64 = 0
    /// The time at which the transfer started.
    package var started: Date
    /// The head of the final response; `nil` if the transfer ended before it.
    package var head: ResponseHead?
    /// The heads of the first interim responses.
    package var interim: [ResponseHead] = []
    /// The connection on which the request was last sent; `nil` if the transport does not report it.
    package var connection: Response.Connection?
    /// The body of the response, after content decoding.
    package var body = RecordedBody()
    /// The messages of a WebSocket; `nil` for other transfers.
    package var conversation: RecordedConversation?
    /// The end, without values while the transfer runs.
    package var end: TransferEnd {
        get { sharedEnd?.value ?? TransferEnd() }
        set { sharedEnd = Shared(newValue) }
    }
    /// The end as a reference, because it is large; `nil` while the transfer runs.
    package var sharedEnd: Shared<TransferEnd>?

    /// The number of interim responses that are recorded; a server may send any number.
    static let maximumInterim = 100

    package init(request: TransportRequest, started: Date) {
        self.request = request
        self.started = started
    }
}

/// Passes transfers to another transport, and hands each ended one to a closure.
///
/// Bodies are kept up to a limit. Back-pressure, cancellation and errors are those of the other transport.
package final class RecordingTransport: ConnectionReporting {
    private let inner: any Transport
    private let limit: Int
    private let memory: RecordingMemory
    private let record: @Sendable (RecordedTransfer) -> Void

    package var name: String { inner.name }
    /// The reports of the other transport; none if it does not report connections.
    package let connectionReports: ConnectionReports

    /// - Parameters:
    ///   - limit: The largest body whose bytes are kept.
    ///   - memory: The memory of all bodies; the closure releases the bytes of a transfer.
    ///   - record: Called once for each transfer, before its receiver gets the end.
    package init(
        _ inner: any Transport, limit: Int, memory: RecordingMemory,
        record: @escaping @Sendable (RecordedTransfer) -> Void
    ) {
        self.inner = inner
        connectionReports = ConnectionReports.of(inner)
        self.limit = limit
        self.memory = memory
        self.record = record
    }

    package func check(_ request: TransportRequest) throws(RequestError) {
        try inner.check(request)
    }

    package func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> any Transfer {
        let observer = Observer(
            RecordedTransfer(request: request, started: Date()), receiver, limit, memory, record)
        var sent = request
        if case .stream(let length, let make)? = sent.body?.storage {
            sent.body?.storage = .stream(length: length) {
                AnyChunks(CopiedChunks(chunks: try make(), observer: observer))
            }
        }
        return inner.start(sent, receiver: observer)
    }

    package func shutDown() { inner.shutDown() }

    /// Notes what a transfer delivers, and passes it on.
    fileprivate final class Observer: ForwardingReceiver, WebSocketObserver {
        private let transfer: Mutex<RecordedTransfer>
        let receiver: any TransferReceiver
        private let limit: Int
        private let memory: RecordingMemory
        private let record: @Sendable (RecordedTransfer) -> Void

        init(
            _ transfer: RecordedTransfer, _ receiver: any TransferReceiver, _ limit: Int,
            _ memory: RecordingMemory, _ record: @escaping @Sendable (RecordedTransfer) -> Void
        ) {
            self.transfer = Mutex(transfer)
            self.receiver = receiver
            self.limit = limit
            self.memory = memory
            self.record = record
        }

        func didReceive(informational head: ResponseHead) {
            transfer.withLock { transfer in
                if transfer.interim.count < RecordedTransfer.maximumInterim {
                    transfer.interim.append(head)
                }
            }
            receiver.didReceive(informational: head)
        }

        func didReceive(head: ResponseHead) {
            transfer.withLock { $0.head = head }
            receiver.didReceive(head: head)
        }

        func didSwitchProtocols(_ head: ResponseHead) -> any BodySource {
            transfer.withLock { transfer in
                transfer.head = head
                transfer.conversation = RecordedConversation(
                    RecordedConversation.Limits(bytes: limit))
            }
            guard let owner = receiver as? any ConnectionOwner else {
                return DataBodySource(Data())
            }
            owner.addObserver(self)
            return owner.didSwitchProtocols(head)
        }

        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
            // Of a WebSocket, the messages are kept.
            guard transfer.withLock({ $0.conversation == nil }) else {
                return receiver.didReceive(bytes: bytes)
            }
            // The buffer is valid until the end of this call only, which the lock does not outlive.
            nonisolated(unsafe) let bytes = bytes
            transfer.withLock { $0.body.append(bytes, limit: limit, in: memory) }
            return receiver.didReceive(bytes: bytes)
        }

        func willSend(over connection: Response.Connection, isReused: Bool) {
            transfer.withLock { $0.connection = connection }
            receiver.willSend(over: connection, isReused: isReused)
        }

        func didSend(bodyBytes: Int64) {
            transfer.withLock { $0.bytesSent = bodyBytes }
            receiver.didSend(bodyBytes: bodyBytes)
        }

        func didEnd(_ end: TransferEnd) {
            let ended = transfer.withLock { transfer in
                transfer.end = end
                defer { transfer.body = RecordedBody() }
                defer { transfer.streamedBody = nil }
                defer { transfer.conversation = nil }
                return transfer
            }
            record(ended)
            receiver.didEnd(end)
        }

        /// A new copy of the request's body begins.
        func restartBody() {
            transfer.withLock { transfer in
                transfer.streamedBody?.restart(in: memory)
                transfer.streamedBody = RecordedBody()
            }
        }

        let observesWebSocket = true

        func observe(_ event: WebSocketEvent) {
            transfer.withLock { $0.conversation?.add(event, at: Date(), in: memory) }
        }

        func sends(_ chunk: Data) {
            transfer.withLock { transfer in
                chunk.withUnsafeBytes {
                    transfer.streamedBody?.append($0, limit: limit, in: memory)
                }
            }
        }
    }

    /// The chunks of a request's body, noted before they are sent.
    private struct CopiedChunks: AsyncSequence, Sendable {
        let chunks: AnyChunks
        let observer: Observer

        func makeAsyncIterator() -> Iterator {
            observer.restartBody()
            return Iterator(next: chunks.makeIterator(), observer: observer)
        }

        struct Iterator: AsyncIteratorProtocol {
            let next: AnyChunks.NextChunk
            let observer: Observer

            mutating func next() async throws -> Data? {
                guard let chunk = try await next() else { return nil }
                observer.sends(chunk)
                return chunk
            }
        }
    }
}
