public import ErrandCore
public import Foundation

/// Collects what a transfer brings, lets a test wait for it, and notes every breach of the contract of
/// ``TransferReceiver``.
public final class RecordingReceiver: TransferReceiver {
    /// What a receiver hears.
    public enum Event: Sendable {
        /// An interim answer.
        case informational(ResponseHead)
        /// The final head.
        case head(ResponseHead)
        /// So many bytes.
        case bytes(Int)
        /// So many bytes of the request's body are sent.
        case sent(Int64)
        /// The end.
        case end(TransferEnd)
    }

    /// What came so far.
    public struct Record: Sendable {
        /// Interim heads.
        public var informational: [ResponseHead] = []
        /// The head; the last one, if there were several against the contract.
        public var head: ResponseHead?
        /// The body, if it is kept.
        public var body = Data()
        /// How many bytes of body came.
        public var received: Int64 = 0
        /// How many calls they came in.
        public var chunks = 0
        /// How many bytes of the request's body were sent.
        public var sent: Int64 = 0
        /// The end.
        public var end: TransferEnd?
        /// How often an end was told: once, if all is well.
        public var ends = 0
        /// What the transport did against the contract.
        public var violations: [String] = []
        fileprivate var isInCall = false
    }

    /// Decides after each chunk, from what came so far.
    public typealias Demanding = @Sendable (Record) -> Demand

    private let state = Watched(Record())
    private let keepsBody: Bool
    private let demand: Demanding
    private let observer: (@Sendable (Event) -> Void)?

    /// Makes a receiver.
    ///
    /// - Parameters:
    ///   - keepsBody: Whether the bytes are kept, or only counted. Default true.
    ///   - demand: Decides after each chunk. Default is to take everything.
    ///   - observer: Told of every event within the transport's call, for example to cancel from there.
    public init(
        keepsBody: Bool = true, demand: @escaping Demanding = { _ in .more },
        observer: (@Sendable (Event) -> Void)? = nil
    ) {
        self.keepsBody = keepsBody
        self.observer = observer
        self.demand = demand
    }

    /// What came so far.
    public var record: Record { state.change { $0 } }

    /// Waits until what came meets the condition.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    @discardableResult
    public func until(
        _ condition: @escaping @Sendable (Record) -> Bool
    ) async throws -> Record {
        try await state.wait { condition($0) ? $0 : nil }
    }

    /// Waits for the end, and returns everything that came.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func ended() async throws -> Record { try await until { $0.end != nil } }

    /// Waits for the head.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func headCame() async throws -> ResponseHead {
        try await state.wait { $0.head }
    }

    // MARK: - TransferReceiver

    /// Records an interim answer.
    public func didReceive(informational head: ResponseHead) {
        hear(.informational(head)) { record in
            if record.head != nil { record.violations.append("interim answer behind the head") }
            record.informational.append(head)
        }
    }

    /// Records the head.
    public func didReceive(head: ResponseHead) {
        hear(.head(head)) { record in
            if record.head != nil { record.violations.append("second head") }
            record.head = head
        }
    }

    /// Records bytes and answers with the demand.
    public func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        let data = keepsBody ? Data(bytes) : Data()
        hear(.bytes(bytes.count)) { record in
            if record.head == nil { record.violations.append("bytes before the head") }
            if bytes.isEmpty { record.violations.append("empty chunk") }
            record.body.append(data)
            record.received += Int64(bytes.count)
            record.chunks += 1
        }
        return demand(record)
    }

    /// Records progress.
    public func didSend(bodyBytes: Int64) {
        hear(.sent(bodyBytes)) { record in
            if bodyBytes < record.sent { record.violations.append("progress went backwards") }
            record.sent = bodyBytes
        }
    }

    /// Records the end.
    public func didEnd(_ end: TransferEnd) {
        hear(.end(end)) { record in
            record.ends += 1
            if end.error == nil, record.head == nil {
                record.violations.append("success without a head")
            }
            record.end = end
        }
    }

    private func hear(_ event: Event, _ body: (inout Record) -> Void) {
        state.change { record in
            if record.end != nil { record.violations.append("call behind the end: \(event)") }
            if record.isInCall { record.violations.append("two calls at once") }
            record.isInCall = true
            // The end is published last, so that who waits for it sees everything.
            if case .end = event {} else { body(&record) }
        }
        observer?(event)
        state.change { record in
            record.isInCall = false
            if case .end = event { body(&record) }
        }
    }
}
