import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport
import Synchronization

/// Records the requests of an agent, in bounded memory.
///
/// It is a listener of the agent's configuration. Each request has a capture, which costs little; only while a page is
/// open, requests also emit events for it. A request has its record in its metadata, so that an event needs no table.
final class InspectorRecorder: Sendable {
    /// The bounds of a recording.
    struct Limits: Sendable {
        var requests = 2000
        var bodyBytes = 1 << 20
        var memory = 32 << 20
        /// The messages of one WebSocket.
        var messages = 1000
    }

    private struct State {
        var records: BoundedHistory<InspectedRecord>
        var budget: BodyBudget
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    let limits: Limits
    let rules: TransferRuleEngine
    let clock: any RequestClock
    private let state: Mutex<State>
    /// Incremented by each change of a record.
    private let latest = Atomic<Int>(1)
    private let connectionLog = Mutex(ConnectionLog())
    private let hasWaiters = Atomic(false)
    /// The time, in nanoseconds, until which a page counts as open; 0 if none is.
    private let openUntil = Atomic<Int64>(0)

    init(limits: Limits, clock: any RequestClock) {
        self.limits = limits
        self.clock = clock
        rules = TransferRuleEngine(clock: clock)
        state = Mutex(
            State(
                records: BoundedHistory(limit: limits.requests),
                budget: BodyBudget(limit: limits.memory)))
    }

    /// The number of the latest change.
    var revision: Int { latest.load(ordering: .sequentiallyConsistent) }

    /// The recorded requests, the oldest first.
    var records: [InspectedRecord] { state.withLock { $0.records.values } }

    /// The connections of the agent's transport.
    var connections: ConnectionLog { connectionLog.withLock { $0 } }

    /// The number of the first request that is kept.
    var firstID: Int { state.withLock { $0.records.firstID } }

    /// The number of bytes of recorded bodies.
    var bodyBytes: Int { state.withLock { $0.budget.used } }

    func record(_ id: Int) -> InspectedRecord? { state.withLock { $0.records[id] } }

    /// Forgets all requests and all closed connections.
    func clear() {
        connectionLog.withLock { $0.removeClosed() }
        let removed = state.withLock { state in
            let removed = state.records.values
            state.records.removeAll()
            state.budget = BodyBudget(limit: limits.memory)
            return removed
        }
        // Released outside the lock.
        withExtendedLifetime(removed) {}
        latest.add(1, ordering: .sequentiallyConsistent)
        wake()
    }

    // MARK: - Pages

    /// The time after its last call for which a page counts as open.
    ///
    /// A page waits ten seconds for changes, and browsers delay the timers of hidden pages.
    static let pageTime = Duration.seconds(30)

    /// Notes a call of a page: requests that start within ``pageTime`` have events.
    func pageCalled() {
        openUntil.store(
            (clock.uptime + Self.pageTime).wholeNanoseconds, ordering: .sequentiallyConsistent)
    }

    /// Whether a page was open a short time ago.
    private func isPageOpen(at time: Duration) -> Bool {
        let end = openUntil.load(ordering: .relaxed)
        guard end != 0 else { return false }
        if time < .nanoseconds(end) { return true }
        _ = openUntil.compareExchange(
            expected: end, desired: 0, ordering: .sequentiallyConsistent)
        return false
    }

    // MARK: - Changes

    /// Adds a transfer to a record, and returns its number.
    func add(_ transfer: @autoclosure () -> InspectedTransfer, to record: InspectedRecord) -> Int {
        defer { changed() }
        return record.add(transfer(), latest)
    }

    /// Changes a transfer.
    @discardableResult
    func change<Result: Sendable>(
        _ record: InspectedRecord, _ transfer: Int, _ change: (inout InspectedTransfer) -> Result
    ) -> Result {
        defer { changed() }
        return record.change(transfer, latest, change)
    }

    /// Records the end of a request.
    fileprivate func finish(
        _ record: InspectedRecord, _ result: Result<Response, RequestError>,
        _ cacheMiss: CacheMissReason?
    ) {
        let bytes = record.finish(
            result, cacheMiss, at: clock.uptime, bodyLimit: limits.bodyBytes, latest)
        account(bytes, of: record.id)
        changed()
    }

    /// Reports a record as changed, because its task is.
    func touch(_ record: InspectedRecord) {
        record.touch(latest)
        changed()
    }

    /// Notes the bodies that a request has got, and releases the oldest ones above the limit.
    func account(_ bytes: Int, of id: Int) {
        guard bytes > 0 else { return }
        let dropped = state.withLock { state in
            state.records[id] == nil
                ? [] : state.budget.add(bytes, of: id).compactMap { state.records[$0] }
        }
        for record in dropped { record.dropBodies(latest) }
    }

    private func changed() {
        if hasWaiters.load(ordering: .sequentiallyConsistent) { wake() }
    }

    private func wake() {
        let waiters = state.withLock { state in
            hasWaiters.store(false, ordering: .sequentiallyConsistent)
            return exchange(&state.waiters, with: [:])
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for a change after a revision, at most until the Swift task is cancelled.
    func change(after revision: Int) async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    hasWaiters.store(true, ordering: .sequentiallyConsistent)
                    guard self.revision <= revision, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume()
        }
    }
}

/// The records of a request in its metadata, by their recorders: an agent may have several inspectors.
private enum InspectedRecordsKey: RequestMetadata.Key {
    typealias Value = [ObjectIdentifier: InspectedRecord]
}

/// The number of the request that a request repeats.
enum ReplayKey: RequestMetadata.Key {
    typealias Value = Int
}

extension InspectorRecorder: CapturingListener {
    func willStart(
        _ description: inout RequestDescription, as taskID: UUID
    ) -> any RequestCapture {
        let now = clock.uptime
        let metadata = description.metadata
        let start = InspectedStart(
            taskID: taskID, endpoint: description.endpoint, tag: description.tag,
            method: description.method, url: description.url.text,
            priority: description.sending.priority,
            date: clock.now, time: now,
            replayOf: metadata.isEmpty ? nil : metadata[ReplayKey.self],
            observesEvents: isPageOpen(at: now))
        let (record, removed) = state.withLock { state in
            let record = InspectedRecord(state.records.nextID, start, latest)
            let removed = state.records.add(record)
            if removed != nil { state.budget.removeAll(before: state.records.firstID) }
            return (record, removed)
        }
        withExtendedLifetime(removed) {}
        changed()
        if start.observesEvents {
            var records = metadata[InspectedRecordsKey.self] ?? [:]
            records[ObjectIdentifier(self)] = record
            description.metadata[InspectedRecordsKey.self] = records
        }
        return InspectorCapture(recorder: self, record: record)
    }

    func handle(_ event: RequestEvent) {
        guard let record = event.metadata[InspectedRecordsKey.self]?[ObjectIdentifier(self)] else {
            return
        }
        record.read(event, latest)
        changed()
    }

    func handleConnection(_ event: ConnectionEvent) {
        connectionLog.withLock { $0.read(event) }
    }
}

/// Records one request.
final class InspectorCapture: RequestCapture {
    let recorder: InspectorRecorder
    let record: InspectedRecord

    init(recorder: InspectorRecorder, record: InspectedRecord) {
        self.recorder = recorder
        self.record = record
    }

    var observesEvents: Bool { record.start.observesEvents }

    var intervenes: Bool { recorder.rules.isActive }

    func intervention(
        in request: TransportRequest, attempt: Int
    ) -> TransferIntervention? { recorder.rules.intervention(in: request, attempt: attempt, self) }

    func transferStarted(_ request: TransportRequest, attempt: Int) -> Int {
        let limit = recorder.limits.bodyBytes
        if let number = RuledTransfer.of(recorder)?.number {
            recorder.change(record, number) { $0.setRequest(request, bodyLimit: limit) }
            return number
        }
        let now = recorder.clock.uptime
        return recorder.add(
            InspectedTransfer(request, attempt: attempt, start: now, bodyLimit: limit),
            to: record)
    }

    func transport(of transfer: Int, over transport: any Transport) -> (any Transport)? {
        RuledTransfer.of(recorder)?.transport(over: transport)
    }

    func transferUses(_ connection: Response.Connection, _ transfer: Int) {
        recorder.change(record, transfer) { $0.messages.connection = connection }
    }

    func webSocket(_ event: WebSocketEvent, _ transfer: Int) {
        let (date, limits) = (recorder.clock.now, recorder.limits)
        let bytes = recorder.change(record, transfer) { transfer in
            transfer.add(
                event, at: date,
                RecordedConversation.Limits(
                    messages: limits.messages, bytes: limits.bodyBytes))
        }
        recorder.account(bytes, of: record.id)
    }

    func transferEnded(
        _ transfer: Int, _ head: ResponseHead?, _ body: Response.Body?, _ error: RequestError?,
        _ end: Shared<TransferEnd>
    ) {
        let (now, limit) = (recorder.clock.uptime, recorder.limits.bodyBytes)
        let bytes = recorder.change(record, transfer) { transfer in
            transfer.finish(head, body, error, end, at: now, bodyLimit: limit)
            return transfer.bodyBytes
        }
        recorder.account(bytes, of: record.id)
    }

    func requestEnded(_ result: Result<Response, RequestError>, _ cacheMiss: CacheMissReason?) {
        recorder.rules.requestEnded(record.id)
        recorder.finish(record, result, cacheMiss)
    }
}

extension RecordedBody {
    /// Releases the bytes of a body that exceeds the limit.
    mutating func limit(to limit: Int) {
        guard bytes.count > limit else { return }
        self = .tooLarge(bytes.count, limit)
    }

    static func tooLarge(_ count: Int, _ limit: Int) -> RecordedBody {
        RecordedBody(
            count: Int64(count),
            problem: "The body of \(count) bytes exceeds the limit of \(limit) bytes.")
    }
}
