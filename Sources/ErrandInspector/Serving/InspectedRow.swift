import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport
import HTTPTypes

/// A row of the page's table, as JSON; without secrets.
struct InspectedRow: Sendable, Encodable {
    var id: Int
    var task: String
    var endpoint: String
    var tag: Int
    var method: String
    var url: String
    /// `active`, `waiting`, `done`, `failed` or `cancelled`.
    var state: String
    /// What the request waits for, as a sentence; `nil` if it does not wait.
    var reason: String?
    var status: Int?
    var error: String?
    /// `network`, `cacheFresh`, `cacheStale` and others; `nil` without a response.
    var source: String?
    /// The content type of the response, without parameters.
    var type: String?
    /// The number of bytes of the response body.
    var size: Int64?
    /// The start, in milliseconds since 1970.
    var started: Double
    /// The duration so far, in milliseconds.
    var duration: Double
    var attempts: Int
    /// The names of the rules that changed a transfer.
    var rules: [String]
    var replayOf: Int?
    var phases: [WaterfallPhase]

    init(
        _ request: InspectedRequest, now: Duration, obstacle: ConcurrencyLimiterState.Obstacle?,
        redaction: RedactionRules
    ) {
        id = request.id
        task = request.taskID.uuidString
        endpoint = request.endpoint
        tag = request.tag
        let last = request.transfers.last
        method = request.method?.rawValue ?? last?.messages.request.method.rawValue ?? "GET"
        let full = request.transfers.first?.messages.request.url.string ?? request.response?.url
        url = full.map(redaction.url) ?? request.shortURL ?? ""
        let head = request.response?.head ?? last?.messages.head
        let body = request.response?.body ?? last?.messages.body
        type = head?.headers[.contentType].map { String($0.prefix(upToByte: ";")) }
        if head != nil { size = body?.count }
        status = head?.status.code
        started = request.date.timeIntervalSince1970 * 1000
        duration = max(0, ((request.end ?? now) - request.start) / .milliseconds(1))
        attempts = request.attempts
        rules = request.transfers.flatMap(\.rules).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
        replayOf = request.replayOf
        phases = request.waterfall
        switch request.outcome {
        case .response(let code, let source):
            state = "done"
            status = code == 0 ? status : code
            self.source = source.rawValue
        case .failure(let failure, let code):
            state = "failed"
            error = failure.code
            status = code ?? status
        case .cancelled: state = "cancelled"
        case nil:
            reason = request.waitReason(now: now, obstacle: obstacle)
            state = reason == nil ? "active" : "waiting"
        }
    }
}

extension InspectedRequest {
    /// Why the request waits, as a sentence; `nil` if it does not wait.
    func waitReason(now: Duration, obstacle: ConcurrencyLimiterState.Obstacle?) -> String? {
        func left(_ delay: Duration) -> String {
            let rest = activityStart + delay - now
            return rest > .zero ? "; \(InspectedEvent.text(rest)) left" : ""
        }
        switch activity {
        case .queued:
            switch obstacle {
            case .total(let count): return "All \(count) permits are taken (limits.total)"
            case .host(let host, let count):
                return "All \(count) permits of \(host) are taken (limits.perHost)"
            case .tag(let tag, let count):
                return "All \(count) permits of tag \(tag) are taken (limits.perTag)"
            case .others: return "A more urgent or earlier request is admitted first"
            case nil: return "Waits for a concurrency permit"
            }
        case .rateLimited(let delay): return "Rate limit of the host" + left(delay)
        case .delayed(let delay): return "Waits before the next attempt" + left(delay)
        case .offline: return "There is no network"
        case .joined: return "An identical request is in progress"
        case .refreshing: return "Waits for new credentials"
        case .throttled: return "A rule delays the transfer"
        case .held: return "A rule holds the transfer until you continue it"
        case .suspended: return "The task is suspended"
        case .starting, .transferring, .processing, .ended: return nil
        }
    }
}

/// All that the page shows of one request, as JSON; without secrets.
struct InspectedDetail: Sendable, Encodable {
    /// An event as text.
    struct Event: Sendable, Encodable {
        var at: Double
        var group: String
        var text: String
    }

    /// A transfer, in the form of an HTTP archive.
    struct Transfer: Sendable, Encodable {
        var attempt: Int
        var start: Double
        var isRunning: Bool
        var isSimulated: Bool
        var rules: [String]
        var entry: HAR.Entry
    }

    var row: InspectedRow
    var cache: String
    var error: InspectedError?
    var priority: Int
    var events: [Event]
    var omittedEvents: Int
    /// Why there are no events; `nil` if they are recorded.
    var eventsNote: String?
    var transfers: [Transfer]
    /// The response that comes from the store or from an identical request.
    var response: HAR.Response?
    /// The number of messages of the request's WebSocket; `nil` for other requests.
    var messageCount: Int?
    /// Whether the request can be sent again: its request and body are in memory.
    var canReplay: Bool

    init(_ request: InspectedRequest, _ row: InspectedRow, _ writer: MessageWriter) {
        self.row = row
        cache = Self.text(request.cache)
        if case .failure(let failure, _) = request.outcome { error = failure }
        priority = request.priority.rawValue
        events = request.events.map {
            Event(
                at: ($0.time - request.start) / .milliseconds(1), group: $0.group, text: $0.text)
        }
        omittedEvents = request.omittedEvents
        if !request.observesEvents {
            eventsNote =
                "No events: the request started while no page was open. Then the inspector records messages, times "
                + "and results only, so that it costs little."
        }
        transfers = request.transfers.map { transfer in
            var messages = transfer.messages
            // The page asks for them.
            messages.conversation = nil
            var entry = writer.entry(messages)
            if let stored = transfer.messages.streamedBody, stored.problem != nil {
                entry.request.postData?.text = nil
                entry.request.postData?.comment = stored.problem
                entry.request.bodySize = stored.count
            }
            return Transfer(
                attempt: transfer.attempt,
                start: (transfer.start - request.start) / .milliseconds(1),
                isRunning: transfer.end == nil, isSimulated: transfer.isSimulated,
                rules: transfer.rules, entry: entry)
        }
        if let stored = request.response {
            response = writer.response(stored.head, stored.body)
        }
        messageCount = request.transfers.last?.messages.conversation?.nextNumber
        canReplay = request.transfers.first.map(Replay.isPossible) ?? false
    }

    private static func text(_ use: InspectedRequest.CacheUse?) -> String {
        switch use {
        case nil: "The cache was not used."
        case .hit(let age, .cacheStale):
            "A stale stored response was used; it is \(InspectedEvent.text(age)) old."
        case .hit(let age, _):
            "A fresh stored response was used; it is \(InspectedEvent.text(age)) old."
        case .miss(let reason):
            "The network was used, because \(InspectedEvent.sentence(reason))."
        case .stored(let bytes): "The response was stored; it has \(bytes) bytes."
        case .kept: "The network failed, and the stored response is the result."
        }
    }
}
