import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandTransport
import Foundation
import Synchronization

/// Records the requests of an agent, in bounded memory.
///
/// It is a listener of the agent's configuration. A request has its record in its metadata, so that an event needs no
/// table.
final class InspectorRecorder: Sendable {
    /// The bounds of a recording.
    struct Limits: Sendable {
        var requests = 2000
        var bodyBytes = 1 << 20
        var memory = 32 << 20
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
    private let hasWaiters = Atomic(false)

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

    /// The number of the first request that is kept.
    var firstID: Int { state.withLock { $0.records.firstID } }

    /// The number of bytes of recorded bodies.
    var bodyBytes: Int { state.withLock { $0.budget.used } }

    func record(_ id: Int) -> InspectedRecord? { state.withLock { $0.records[id] } }

    /// Forgets all requests.
    func clear() {
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

    /// Changes a record and its revision.
    func change<Result: Sendable>(
        _ record: InspectedRecord, _ change: (inout InspectedRequest) -> Result
    ) -> Result {
        let result = record.change(latest, change)
        if hasWaiters.load(ordering: .sequentiallyConsistent) { wake() }
        return result
    }

    /// Notes the bodies that a request has got, and releases the oldest ones above the limit.
    private func account(_ bytes: Int, of id: Int) {
        guard bytes > 0 else { return }
        let dropped = state.withLock { state in
            state.records[id] == nil
                ? [] : state.budget.add(bytes, of: id).compactMap { state.records[$0] }
        }
        for record in dropped { change(record) { $0.dropBodies() } }
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

/// The record of one request.
final class InspectedRecord: Sendable {
    let id: Int
    private let state: Mutex<(request: InspectedRequest, revision: Int)>

    init(_ request: InspectedRequest) {
        id = request.id
        state = Mutex((request, 0))
    }

    /// A copy.
    var request: InspectedRequest { state.withLock { $0.request } }

    /// A copy and its revision, if it changed after another revision.
    func change(after revision: Int) -> (request: InspectedRequest, revision: Int)? {
        state.withLock { $0.revision > revision ? $0 : nil }
    }

    /// Changes the request.
    ///
    /// The counter is read under the lock, so that a reader that has read the counter before sees the change, or a later
    /// revision of this record.
    fileprivate func change<Result: Sendable>(
        _ counter: borrowing Atomic<Int>, _ change: (inout InspectedRequest) -> Result
    ) -> Result {
        state.withLock { state in
            let result = change(&state.request)
            state.revision = counter.add(1, ordering: .sequentiallyConsistent).newValue
            return result
        }
    }
}

/// The record of a request in its metadata.
private enum InspectedRecordKey: RequestMetadata.Key {
    typealias Value = InspectedRecord
}

/// The number of the request that a request repeats.
enum ReplayKey: RequestMetadata.Key {
    typealias Value = Int
}

extension InspectorRecorder: RequestInstrument {
    func willStart(_ description: inout RequestDescription) {
        let (now, date) = (clock.uptime, Date())
        let (endpoint, tag) = (description.endpoint, description.tag)
        let (priority, replayOf) = (description.priority, description.metadata[ReplayKey.self])
        let (record, removed) = state.withLock { state in
            let record = InspectedRecord(
                InspectedRequest(
                    id: state.records.nextID, endpoint: endpoint, tag: tag, priority: priority,
                    date: date, start: now, replayOf: replayOf))
            let removed = state.records.add(record)
            if removed != nil { state.budget.removeAll(before: state.records.firstID) }
            return (record, removed)
        }
        withExtendedLifetime(removed) {}
        description.metadata[InspectedRecordKey.self] = record
    }

    func handle(_ event: RequestEvent) {
        guard let record = event.metadata[InspectedRecordKey.self] else { return }
        let limit = limits.bodyBytes
        let bytes = change(record) { request -> Int in
            request.read(event)
            guard case .ended = event.kind else { return 0 }
            request.response?.body.limit(to: limit)
            return request.response?.body.bytes.count ?? 0
        }
        account(bytes, of: record.id)
    }

    func willSend(
        _ request: inout TransportRequest, attempt: Int, of description: RequestDescription,
        _ configuration: Configuration, over transport: any Transport
    ) -> TransferObserver? {
        guard let record = description.metadata[InspectedRecordKey.self] else { return nil }
        var messages = RecordedTransfer(request: request, started: Date())
        if case .data(let data) = request.body?.storage, data.count > limits.bodyBytes {
            messages.streamedBody = .tooLarge(data.count, limits.bodyBytes)
            messages.request.body = .data(Data(), contentType: request.body?.contentType)
        }
        let transfer = InspectedTransfer(
            attempt: max(1, attempt), start: clock.uptime, messages: messages)
        let index = change(record) { request in
            request.transfers.append(transfer)
            request.enter(.transferring, at: transfer.start)
            return request.transfers.count - 1
        }
        return { [weak self] response, end in
            self?.ended(record, index, response, end)
        }
    }

    private func ended(
        _ record: InspectedRecord, _ index: Int, _ response: Response?, _ end: TransferEnd
    ) {
        let (now, limit) = (clock.uptime, limits.bodyBytes)
        let bytes = change(record) { request -> Int in
            guard request.transfers.indices.contains(index) else { return 0 }
            var transfer = request.transfers[index]
            transfer.end = now
            transfer.messages.end = TransferEnd(
                error: end.error.map { RequestError($0.code, stage: $0.stage, $0.message) },
                timings: end.timings, trailers: end.trailers)
            if let response {
                transfer.messages.head = ResponseHead(
                    status: response.status, headers: response.headers,
                    httpVersion: response.httpVersion, remoteAddress: response.remoteAddress)
                transfer.messages.body =
                    response.isStreamed
                    ? RecordedBody(
                        count: end.timings.bytesReceived,
                        problem: "The body was read while it arrived.") : RecordedBody(of: response)
                transfer.messages.body.limit(to: limit)
            }
            request.transfers[index] = transfer
            request.enter(.processing, at: now)
            return transfer.bodyBytes
        }
        account(bytes, of: record.id)
    }

    func intervention(
        in request: TransportRequest, of description: RequestDescription
    ) -> TransferIntervention? {
        guard rules.isActive, let record = description.metadata[InspectedRecordKey.self] else {
            return nil
        }
        return rules.intervention(in: request, of: description, id: record.id) {
            [weak self] change in
            self?.change(record) { request in
                guard !request.transfers.isEmpty else { return }
                change(&request)
            }
        }
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
