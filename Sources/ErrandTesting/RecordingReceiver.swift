import ErrandCore
public import ErrandSystem
public import ErrandTransport

/// A receiver that records a transfer's calls and every violation of the ``TransferReceiver`` contract.
public final class RecordingReceiver: TransferReceiver {
    /// A call of the receiver.
    public enum Event: Sendable {
        /// The head of an interim response.
        case informational(ResponseHead)
        /// The head of the final response.
        case head(ResponseHead)
        /// Bytes of the response body, with their count.
        case bytes(Int)
        /// The number of bytes of the request body that were sent so far.
        case sent(Int64)
        /// The end of the transfer.
        case end(TransferEnd)
    }

    /// The calls so far.
    public struct Record: Sendable {
        /// The heads of interim responses.
        public var informational: [ResponseHead] = []
        /// The head of the final response.
        ///
        /// If the transport violated the contract with several, the last one.
        public var head: ResponseHead?
        /// The response body; empty if it is not kept.
        public var body = Data()
        /// The number of received body bytes.
        public var received: Int64 = 0
        /// The number of calls that delivered body bytes.
        public var chunks = 0
        /// The number of bytes of the request body that were sent.
        public var sent: Int64 = 0
        /// The connections on which the request was sent, the last one last; empty if the transport does not report them.
        public var connections: [Response.Connection] = []
        /// The end of the transfer; `nil` before it.
        public var end: TransferEnd?
        /// The number of end calls; 1 after a correct transfer.
        public var ends = 0
        /// The transport's violations of the contract.
        public var violations: [String] = []
        fileprivate var isInCall = false
    }

    /// Returns the demand after each chunk, from the calls so far.
    public typealias Demanding = @Sendable (Record) -> Demand

    private let state = Watched(Record())
    private let keepsBody: Bool
    private let demand: Demanding
    private let observer: (@Sendable (Event) -> Void)?

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - keepsBody: Whether body bytes are kept, or only counted. Default true.
    ///   - demand: Returns the demand after each chunk. Default: always `.more`.
    ///   - observer: Called for every event inside the transport's call, for example to cancel there.
    public init(
        keepsBody: Bool = true, demand: @escaping Demanding = { _ in .more },
        observer: (@Sendable (Event) -> Void)? = nil
    ) {
        self.keepsBody = keepsBody
        self.observer = observer
        self.demand = demand
    }

    /// The calls so far.
    public var record: Record { state.change { $0 } }

    /// Waits until the record meets the condition, and returns it.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    @discardableResult
    public func until(
        _ condition: @escaping @Sendable (Record) -> Bool
    ) async throws -> Record {
        try await state.wait { condition($0) ? $0 : nil }
    }

    /// Waits for the end of the transfer, and returns the record.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func ended() async throws -> Record { try await until { $0.end != nil } }

    /// Waits for the head of the final response, and returns it.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func headCame() async throws -> ResponseHead {
        try await state.wait { $0.head }
    }

    // MARK: - TransferReceiver

    /// Records an interim response.
    public func didReceive(informational head: ResponseHead) {
        handle(.informational(head)) { record in
            if record.head != nil {
                record.violations.append("interim response after the head")
            }
            record.informational.append(head)
        }
    }

    /// Records the head.
    public func didReceive(head: ResponseHead) {
        handle(.head(head)) { record in
            if record.head != nil { record.violations.append("second head") }
            record.head = head
        }
    }

    /// Records bytes and returns the demand.
    public func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        let data = keepsBody ? Data(bytes) : Data()
        handle(.bytes(bytes.count)) { record in
            if record.head == nil { record.violations.append("bytes before the head") }
            if bytes.isEmpty { record.violations.append("empty chunk") }
            record.body.append(data)
            record.received += Int64(bytes.count)
            record.chunks += 1
        }
        return demand(record)
    }

    /// Records a connection.
    public func willSend(over connection: Response.Connection, isReused: Bool) {
        state.change { record in
            if record.end != nil { record.violations.append("connection after the end") }
            record.connections.append(connection)
        }
    }

    /// Records progress.
    public func didSend(bodyBytes: Int64) {
        handle(.sent(bodyBytes)) { record in
            if bodyBytes < record.sent { record.violations.append("progress went backwards") }
            record.sent = bodyBytes
        }
    }

    /// Records the end.
    public func didEnd(_ end: TransferEnd) {
        handle(.end(end)) { record in
            record.ends += 1
            if end.error == nil, record.head == nil {
                record.violations.append("success without a head")
            }
            record.end = end
        }
    }

    private func handle(_ event: Event, _ body: (inout Record) -> Void) {
        state.change { record in
            if record.end != nil { record.violations.append("call after the end: \(event)") }
            if record.isInCall { record.violations.append("two calls at once") }
            record.isInCall = true
            // The end is recorded after the observer returns, so that a waiter for the end sees its effects.
            if case .end = event {} else { body(&record) }
        }
        observer?(event)
        state.change { record in
            record.isInCall = false
            if case .end = event { body(&record) }
        }
    }
}
