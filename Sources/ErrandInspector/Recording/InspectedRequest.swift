import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport
import HTTPTypes

/// The properties of a request that are known at its start.
struct InspectedStart: Sendable {
    /// The identifier of the task.
    var taskID: UUID
    /// The endpoint's type name.
    var endpoint: String
    /// The endpoint's tag.
    var tag: Int
    /// The method of the endpoint.
    var method: HTTPMethod
    /// The URL as the endpoint states it, often a path.
    var url: String
    /// The priority at the start.
    var priority: RequestPriority
    /// The date of the start.
    var date: Date
    /// The time of the start, on the agent's clock.
    var time: Duration
    /// The request of which this one is a changed copy.
    var replayOf: Int?
    /// Whether events are recorded, because a page was open.
    var observesEvents: Bool
}

/// What the inspector knows about one request; pure.
///
/// ``read(_:)`` in EventReading.swift reads the events.
struct InspectedRequest: Sendable {
    /// The number of the request, in the order of the starts.
    let id: Int
    private let origin: InspectedStart

    /// The method; `nil` until the request is built.
    var method: HTTPMethod?
    /// The URL without query; `nil` until the request is built.
    var shortURL: String?
    /// What the request does now.
    var activity = Activity.starting
    /// The time at which ``activity`` began.
    var activityStart: Duration
    /// What the request did before it was suspended.
    var suspendedActivity: Activity?
    /// The decision about the cache; `nil` if the cache was not used.
    var cache: CacheUse?
    /// The events, at most ``maximumEvents``; none if no page was open at the start.
    var events: [InspectedEvent] = []
    /// The number of events that were not kept.
    var omittedEvents = 0
    /// The transfers: of attempts, redirects, and with refreshed credentials.
    var transfers: [InspectedTransfer] = []
    /// The result of the request; `nil` until it ends.
    var outcome: Outcome?
    /// The time of the end.
    var end: Duration?
    /// The response that the request delivered, if it does not come from the last transfer.
    var response: RecordedResponse?

    var taskID: UUID { origin.taskID }
    var endpoint: String { origin.endpoint }
    var tag: Int { origin.tag }
    var priority: RequestPriority { origin.priority }
    var date: Date { origin.date }
    var start: Duration { origin.time }
    var replayOf: Int? { origin.replayOf }
    /// Whether events are recorded.
    var observesEvents: Bool { origin.observesEvents }

    /// The maximum number of events of one request.
    static let maximumEvents = 400

    init(_ id: Int, _ start: InspectedStart) {
        self.id = id
        origin = start
        activityStart = start.time
    }

    /// What a request does, or waits for.
    enum Activity: Sendable, Equatable {
        /// The request is being built.
        case starting
        /// Waits for a concurrency permit.
        case queued
        /// Waits for the rate limit of its host.
        case rateLimited(Duration)
        /// Waits for a network.
        case offline
        /// Waits for the response of an identical request.
        case joined
        /// Waits before the next attempt.
        case delayed(Duration)
        /// Waits for new credentials.
        case refreshing
        /// A rule delays the transfer.
        case throttled
        /// A rule holds the transfer until the page continues it.
        case held
        /// Sends the request, or receives the response.
        case transferring
        /// Validates and processes the response.
        case processing
        /// Suspended by its task.
        case suspended
        case ended
    }

    /// The use of the cache.
    enum CacheUse: Sendable, Equatable {
        case hit(age: Duration, source: Response.Source)
        case miss(CacheMissReason)
        case stored(bytes: Int)
        /// The network failed, and a stored response is the result.
        case kept
    }

    /// The result of a request.
    enum Outcome: Sendable, Equatable {
        case response(status: Int, source: Response.Source)
        case failure(InspectedError, status: Int?)
        case cancelled
    }

    /// A response that was not received by a transfer.
    struct RecordedResponse: Sendable {
        var head: ResponseHead
        var body: RecordedBody
        var url: String
    }

    mutating func enter(_ activity: Activity, at time: Duration) {
        guard activity != self.activity else { return }
        if activity == .suspended { suspendedActivity = self.activity }
        self.activity = activity
        activityStart = time
    }

    /// The number of the latest attempt.
    var attempts: Int { transfers.last?.attempt ?? 0 }
}

/// One transfer of a request.
struct InspectedTransfer: Sendable {
    /// The attempt, from 1.
    var attempt: Int
    /// The time of the start, on the agent's clock; the date in ``messages`` is set when the page asks.
    var start: Duration
    /// The time of the end; `nil` while it runs.
    var end: Duration?
    /// The messages; those of the response are empty until the end.
    var messages: RecordedTransfer
    /// The names of the rules that changed the transfer.
    var rules: [String] = []
    /// The intervals in which rules delayed or held the transfer.
    var delays: [Delay] = []
    /// Whether a rule made the response or the error.
    var isSimulated = false

    /// The bytes of the messages that count in the memory of all bodies.
    private var accounted = 0

    /// An interval in which a rule delayed or held a transfer.
    struct Delay: Sendable, Equatable {
        var start: Duration
        var end: Duration?
        var isHeld: Bool
    }

    init(_ request: TransportRequest, attempt: Int, start: Duration, bodyLimit: Int) {
        self.attempt = attempt
        self.start = start
        messages = RecordedTransfer(request: request, started: .distantPast)
        setRequest(request, bodyLimit: bodyLimit)
    }

    /// Sets the request, without a body that exceeds the limit.
    mutating func setRequest(_ request: TransportRequest, bodyLimit: Int) {
        messages.request = request
        guard let body = request.body, case .data(let data) = body.storage, data.count > bodyLimit
        else { return }
        messages.streamedBody = .tooLarge(data.count, bodyLimit)
        messages.request.body = .data(Data(), contentType: body.contentType)
    }

    /// Records the end.
    mutating func finish(
        _ head: ResponseHead?, _ body: Response.Body?, _ error: RequestError?,
        _ end: Shared<TransferEnd>, at time: Duration, bodyLimit: Int
    ) {
        self.end = time
        messages.head = head
        messages.sharedEnd = end
        if error != nil || end.value.error != nil {
            // Without the response, whose body would stay in memory.
            messages.end.error = error.map { RequestError($0.code, stage: $0.stage, $0.message) }
        }
        guard head != nil else { return }
        messages.body =
            body.map { RecordedBody(of: $0) }
            ?? RecordedBody(
                count: end.value.timings.bytesReceived,
                problem: "The body was read while it arrived.")
        messages.body.limit(to: bodyLimit)
    }

    /// Adds an event of a WebSocket; returns the bytes by which its messages have grown, in steps.
    mutating func add(
        _ event: WebSocketEvent, at date: Date, _ limits: RecordedConversation.Limits
    ) -> Int {
        var conversation = messages.conversation ?? RecordedConversation(limits)
        messages.conversation = nil
        conversation.add(event, at: date)
        messages.conversation = conversation
        guard conversation.bytes > accounted else { return 0 }
        let growth = max(conversation.bytes - accounted, 64 << 10)
        accounted += growth
        return growth
    }

    static let dropped =
        "The body was removed, because the inspector's memory is limited (Options.maximumMemory)."

    /// The number of bytes of the bodies in memory.
    var bodyBytes: Int {
        guard case .data(let data) = messages.request.body?.storage else {
            return messages.body.bytes.count
        }
        return messages.body.bytes.count + data.count
    }

    mutating func dropBodies() {
        messages.conversation?.removeAll()
        accounted = 0
        if case .data(let data) = messages.request.body?.storage, !data.isEmpty {
            messages.streamedBody = RecordedBody(count: Int64(data.count), problem: Self.dropped)
            let type = messages.request.body?.contentType
            messages.request.body = .data(Data(), contentType: type)
        }
        if !messages.body.bytes.isEmpty {
            messages.body = RecordedBody(count: messages.body.count, problem: Self.dropped)
        }
    }
}

/// An event of a request.
struct InspectedEvent: Sendable {
    /// The time, on the agent's clock.
    var time: Duration
    /// The event; its errors contain no response.
    var kind: RequestEvent.Kind
}

/// The parts of an error that the page shows.
struct InspectedError: Sendable, Equatable, Encodable {
    var code: String
    var stage: String
    var message: String

    init(_ error: RequestError) {
        code = error.code.description
        stage = "\(error.stage)"
        message = error.message
    }
}
