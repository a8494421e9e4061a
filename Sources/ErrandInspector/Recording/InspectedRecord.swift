import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport
import Synchronization

/// The record of one request: what its capture has kept, and its events if a page was open at its start.
///
/// The request costs little, because ``request`` is made when the page asks.
final class InspectedRecord: Sendable {
    /// The result of a request.
    private struct End: Sendable {
        var time: Duration
        var outcome: InspectedRequest.Outcome
        var cache: InspectedRequest.CacheUse?
        var response: InspectedRequest.RecordedResponse?
    }

    /// The effect of the events; a reference, because few requests have it.
    private final class Observed {
        var request: InspectedRequest

        init(_ request: InspectedRequest) { self.request = request }
    }

    private struct State {
        var revision = 0
        var transfers: [InspectedTransfer] = []
        // References, because most requests have none of these for most of their time.
        var end: Shared<End>?
        var observed: Observed?
    }

    let id: Int
    let start: InspectedStart
    private let state = Mutex(State())

    init(_ id: Int, _ start: InspectedStart, _ counter: borrowing Atomic<Int>) {
        self.id = id
        self.start = start
        state.withLock { state in
            Self.touch(&state, counter)
            if start.observesEvents { state.observed = Observed(InspectedRequest(id, start)) }
        }
    }

    /// A copy of all that is known.
    var request: InspectedRequest { state.withLock { request($0) } }

    /// A copy and its revision, if it changed after another revision.
    func change(after revision: Int) -> (request: InspectedRequest, revision: Int)? {
        state.withLock { $0.revision > revision ? (request($0), $0.revision) : nil }
    }

    private func request(_ state: borrowing State) -> InspectedRequest {
        var request = state.observed?.request ?? InspectedRequest(id, start)
        request.transfers = state.transfers
        for index in request.transfers.indices {
            let offset = request.transfers[index].start - start.time
            request.transfers[index].messages.started = start.date + offset / .seconds(1)
        }
        if !start.observesEvents { request.guessActivity(start) }
        if let delay = request.transfers.last?.delays.last, delay.end == nil {
            request.activity = delay.isHeld ? .held : .throttled
            request.activityStart = delay.start
        }
        guard let end = state.end?.value else { return request }
        (request.outcome, request.end, request.response) = (end.outcome, end.time, end.response)
        (request.activity, request.activityStart) = (.ended, end.time)
        request.cache = request.cache ?? end.cache
        return request
    }

    // MARK: - Changes

    /// Sets the revision after a change.
    ///
    /// The counter is read under the lock, so that a reader that has read the counter before sees the change, or a later
    /// revision of this record.
    func touch(_ counter: borrowing Atomic<Int>) { state.withLock { Self.touch(&$0, counter) } }

    private static func touch(_ state: inout State, _ counter: borrowing Atomic<Int>) {
        state.revision = counter.add(1, ordering: .sequentiallyConsistent).newValue
    }

    /// Applies an event.
    func read(_ event: RequestEvent, _ counter: borrowing Atomic<Int>) {
        state.withLock { state in
            guard let observed = state.observed else { return }
            observed.request.read(event)
            Self.touch(&state, counter)
        }
    }

    /// Adds a transfer, and returns its number.
    func add(
        _ transfer: @autoclosure () -> InspectedTransfer, _ counter: borrowing Atomic<Int>
    ) -> Int {
        state.withLock { state in
            state.transfers.append(transfer())
            Self.touch(&state, counter)
            return state.transfers.count - 1
        }
    }

    /// Changes a transfer.
    func change<Result: Sendable>(
        _ transfer: Int, _ counter: borrowing Atomic<Int>,
        _ change: (inout InspectedTransfer) -> Result
    ) -> Result {
        state.withLock { state in
            defer { Self.touch(&state, counter) }
            return change(&state.transfers[transfer])
        }
    }

    /// Records the end; returns the number of bytes of a body that no transfer has.
    func finish(
        _ result: Result<Response, RequestError>, _ cacheMiss: CacheMissReason?, at time: Duration,
        bodyLimit: Int, _ counter: borrowing Atomic<Int>
    ) -> Int {
        state.withLock { state in
            var end = End(time: time, outcome: InspectedRequest.Outcome(result))
            if let cacheMiss, cacheMiss != .invalidCacheTime { end.cache = .miss(cacheMiss) }
            if case .success(let response) = result {
                if response.isFromCache {
                    end.cache =
                        response.loadError == nil
                        ? .hit(age: response.age, source: response.source) : .kept
                }
                if state.transfers.isEmpty || response.isFromCache {
                    end.response = InspectedRequest.RecordedResponse(
                        response, bodyLimit: bodyLimit)
                }
            }
            state.end = Shared(end)
            Self.touch(&state, counter)
            return end.response?.body.bytes.count ?? 0
        }
    }

    /// Releases the bytes of all bodies.
    func dropBodies(_ counter: borrowing Atomic<Int>) {
        state.withLock { state in
            for index in state.transfers.indices { state.transfers[index].dropBodies() }
            state.end = state.end.map { $0.changed { $0.response?.dropBody() } }
            Self.touch(&state, counter)
        }
    }
}

extension InspectedRequest {
    /// Derives what a request without events does from its transfers.
    fileprivate mutating func guessActivity(_ start: InspectedStart) {
        guard let last = transfers.last else {
            method = start.method
            shortURL = (try? HTTPURL(parsing: start.url))?.redacted
            return
        }
        enter(last.end == nil ? .transferring : .processing, at: last.end ?? last.start)
    }
}

extension InspectedRequest.Outcome {
    fileprivate init(_ result: Result<Response, RequestError>) {
        switch result {
        case .success(let response):
            self = .response(status: response.status.code, source: response.source)
        case .failure(let error) where error.isCancellation: self = .cancelled
        case .failure(let error):
            self = .failure(InspectedError(error), status: error.response?.status.code)
        }
    }
}

extension InspectedRequest.RecordedResponse {
    fileprivate init(_ response: Response, bodyLimit: Int) {
        head = ResponseHead(
            status: response.status, headers: response.headers, httpVersion: response.httpVersion)
        body = RecordedBody(of: response.body)
        body.limit(to: bodyLimit)
        url = response.url.string
    }

    fileprivate mutating func dropBody() {
        guard !body.bytes.isEmpty else { return }
        body = RecordedBody(count: body.count, problem: InspectedTransfer.dropped)
    }
}
