import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport

// The only file that knows the kinds of events: their effect on a request, and their texts.

extension InspectedRequest {
    /// Applies an event.
    mutating func read(_ event: RequestEvent) {
        // They have a view of their own.
        guard !event.kind.isMessage else { return }
        let time = event.uptime
        if let activity = Self.activity(after: event.kind, self) { enter(activity, at: time) }
        switch event.kind {
        case .adapted(let method, let url): (self.method, shortURL) = (method, url.string)
        case .cacheHit(let age, let source): cache = .hit(age: age, source: source)
        case .cacheMiss(.invalidCacheTime): break
        case .cacheMiss(let reason): cache = .miss(reason)
        case .cacheStored(let bytes): cache = .stored(bytes: bytes)
        case .storedResponseKept: cache = .kept
        default: break
        }
        keep(InspectedEvent(time: time, kind: Self.withoutResponse(event.kind)))
    }

    private mutating func keep(_ event: InspectedEvent) {
        guard events.count < Self.maximumEvents || event.isEnd else {
            omittedEvents += 1
            return
        }
        events.append(event)
    }

    /// What a request does after an event; `nil` if the event does not change it.
    private static func activity(
        after kind: RequestEvent.Kind, _ request: InspectedRequest
    ) -> Activity? {
        switch kind {
        case .queued: .queued
        case .joined: .joined
        case .waitingForConnectivity: .offline
        case .rateLimited(let delay): .rateLimited(delay)
        case .retrying(let delay, _): .delayed(delay)
        case .credentialsRefused: .refreshing
        case .suspended: .suspended
        case .continued:
            request.suspendedActivity == .transferring ? .transferring : .processing
        case .transferStarted: .transferring
        case .dequeued, .attemptStarted, .credentialsRenewed, .credentialsNotRenewed:
            .processing
        case .transferEnded, .attemptEnded, .cacheHit: .processing
        default: nil
        }
    }

    /// The event without responses, whose bodies would stay in memory.
    private static func withoutResponse(_ kind: RequestEvent.Kind) -> RequestEvent.Kind {
        func small(_ error: RequestError) -> RequestError {
            RequestError(error.code, stage: error.stage, error.message)
        }
        switch kind {
        case .storedResponseKept(let error): return .storedResponseKept(small(error))
        case .cacheWriteFailed(let error): return .cacheWriteFailed(small(error))
        case .storeProblem(let error): return .storeProblem(small(error))
        case .transferEnded(let attempt, let timings, let error?):
            return .transferEnded(attempt: attempt, timings, small(error))
        case .attemptEnded(let attempt, let timings, let error?):
            return .attemptEnded(attempt, timings, small(error))
        case .credentialsNotRenewed(let error?): return .credentialsNotRenewed(small(error))
        case .retrying(let delay, let error): return .retrying(after: delay, small(error))
        case .validated(let error?): return .validated(small(error))
        case .ended(let error?): return .ended(small(error))
        default: return kind
        }
    }
}

extension InspectedEvent {
    var isEnd: Bool { if case .ended = kind { true } else { false } }

    /// The group by which the page colors the event.
    var group: String {
        switch kind {
        case .cacheHit, .cacheMiss, .cacheStored, .storedResponseKept, .cacheWriteFailed,
            .storeProblem:
            "cache"
        case .queued, .dequeued, .rateLimited, .waitingForConnectivity, .joined, .suspended,
            .continued, .retrying:
            "wait"
        case .ended(let error): error == nil ? "end" : "error"
        case .validated(.some), .transferEnded(_, _, .some), .attemptEnded(_, _, .some),
            .circuitChanged, .retryBudgetSpent, .retryDeclined, .credentialsNotRenewed(.some):
            "error"
        case .transferStarted, .transferEnded, .headReceived, .phase, .requestBodySent,
            .bodyReceived, .informational, .webSocket:
            "network"
        default: "task"
        }
    }

    /// The event as a sentence.
    var text: String {
        Self.task(kind) ?? Self.store(kind) ?? Self.network(kind) ?? Self.webSocket(kind)
            ?? "\(kind)"
    }

    private static func task(_ kind: RequestEvent.Kind) -> String? {
        switch kind {
        case .started: "Started"
        case .adapted(let method, let url): "Built: \(method.rawValue) \(url)"
        case .joined: "Waits for an identical request in progress"
        case .suspended: "Suspended"
        case .continued: "Resumed"
        case .cancelled: "Cancellation requested"
        case .waitingForConnectivity: "Waits for a network"
        case .queued: "Waits for a concurrency permit"
        case .dequeued(let wait):
            wait < .milliseconds(1)
                ? "Got a concurrency permit at once"
                : "Got a concurrency permit after \(text(wait))"
        case .rateLimited(let delay): "Waits \(text(delay)) for the rate limit of the host"
        case .retrying(let delay, let error):
            "Tries again in \(text(delay)), because: \(error.message)"
        case .retryBudgetSpent: "No further attempt: the retry budget of the host is exhausted"
        case .retryDeclined(let reason): "No further attempt: \(reason)"
        case .circuitChanged(let host, let state):
            "The circuit breaker of \(host) is \(state.rawValue)"
        case .validated(nil): "Passed validation"
        case .validated(let error?): "Failed validation: \(error.message)"
        case .ended(nil): "Ended"
        case .ended(let error?): "Failed: \(error.message)"
        default: nil
        }
    }

    private static func store(_ kind: RequestEvent.Kind) -> String? {
        switch kind {
        case .cacheHit(let age, let source):
            source == .cacheStale
                ? "Cache: a stale response, \(text(age)) old, was used"
                : "Cache: a fresh response, \(text(age)) old, was used"
        case .cacheMiss(let reason): "Cache: \(sentence(reason))"
        case .cacheStored(let bytes): "Cache: the response was stored, \(bytes) bytes"
        case .storedResponseKept(let error):
            "Cache: the stored response is the result, because: \(error.message)"
        case .cacheWriteFailed(let error):
            "Cache: the response was not stored: \(error.message)"
        case .storeProblem(let error): "Store: \(error.message)"
        default: nil
        }
    }

    private static func network(_ kind: RequestEvent.Kind) -> String? {
        switch kind {
        case .attemptStarted(let attempt): "Attempt \(attempt) started"
        case .attemptEnded(let attempt, _, nil): "Attempt \(attempt) ended"
        case .attemptEnded(let attempt, _, let error?):
            "Attempt \(attempt) failed: \(error.message)"
        case .transferStarted(_, let url): "Transfer to \(url) started"
        case .transferEnded(_, let timings, nil):
            "Transfer ended, \(timings.bytesReceived) bytes"
                + (timings.reusedConnection == true ? ", on a connection in use" : "")
        case .transferEnded(_, _, let error?): "Transfer failed: \(error.message)"
        case .headReceived(_, let status): "Received status \(status.code)"
        case .informational(_, let status): "Received the interim status \(status.code)"
        case .phase(_, let phase, let time): "\(sentence(phase)) after \(text(time))"
        case .requestBodySent(_, let bytes): "Sent the request body, \(bytes) bytes"
        case .bodyReceived(_, let bytes): "Received the response body, \(bytes) bytes"
        case .redirected(let url, let status): "Status \(status.code) redirects to \(url)"
        case .resumed(let offset): "The download resumes at byte \(offset)"
        case .credentialsRefused(let host): "\(host) refused the credentials"
        case .credentialsRenewed: "The credentials were refreshed"
        case .credentialsNotRenewed(nil): "There is no way to refresh the credentials"
        case .credentialsNotRenewed(let error?):
            "The credentials were not refreshed: \(error.message)"
        case .pinMismatch(let mismatch): mismatch.description
        default: nil
        }
    }

    private static func webSocket(_ kind: RequestEvent.Kind) -> String? {
        guard case .webSocket(let event) = kind else { return nil }
        switch event {
        case .opened(let subprotocol, let extensions):
            let parts = [
                subprotocol.map { "subprotocol \($0)" }, extensions.map { "extensions \($0)" },
            ]
            return (["The WebSocket is open"] + parts.compactMap(\.self)).joined(separator: ", ")
        case .message(let message): return "\(message.direction.rawValue) \(message.bytes) bytes"
        case .roundTrip(let time): return "Round trip of PING and PONG: \(text(time))"
        case .closed(let close):
            return "The WebSocket was closed with \(close.code)"
                + (close.isClean ? "" : ", without close frames of both sides")
        }
    }

    private static func sentence(_ phase: RequestEvent.Phase) -> String {
        switch phase {
        case .nameLookedUp: "Host name resolved"
        case .connected: "Connected"
        case .secured: "TLS handshake complete"
        case .firstByte: "First byte received"
        }
    }

    /// A reason for the use of the network, as a sentence.
    static func sentence(_ reason: CacheMissReason) -> String {
        switch reason {
        case .invalidCacheTime: "caching is off for this endpoint"
        case .noEntry: "there is no stored response"
        case .expired: "the stored response is older than its lifetime"
        case .versionMismatch: "the stored response has another cache version"
        case .identityMismatch: "the stored response belongs to another user"
        case .appVersionMismatch: "another version of the app stored the response"
        case .invalidData: "the stored response is damaged"
        case .rejectedByValidator: "the validator rejects the stored response"
        case .storeFailed: "the store cannot be read"
        }
    }

    /// A duration with a unit.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds < 1 { return "\(Int((milliseconds * 1000).rounded())) µs" }
        if milliseconds < 1000 { return "\(Int(milliseconds.rounded())) ms" }
        let seconds = milliseconds / 1000
        if seconds < 120 {
            let tenths = Int((seconds * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        if seconds < 7200 { return "\(Int(seconds / 60)) min" }
        return seconds < 172_800 ? "\(Int(seconds / 3600)) h" : "\(Int(seconds / 86400)) days"
    }
}

extension RecordedBody {
    /// The body of a response: bytes, or the size of a file.
    init(of body: Response.Body) {
        switch body {
        case .data(let data): self.init(data)
        case .file(let file):
            self.init(
                count: FileAccess.size(of: file) ?? 0,
                problem: "The body was written to the file \(file.lastPathComponent).")
        }
    }
}
