import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandTransport
import Foundation
import HTTPTypes

/// What the inspector knows about one request; pure.
///
/// ``read(_:)`` in EventReading.swift reads the events.
struct InspectedRequest: Sendable {
    /// The number of the request, in the order of the starts.
    let id: Int
    /// The endpoint's type name.
    let endpoint: String
    /// The endpoint's tag.
    let tag: Int
    /// The priority at the start.
    let priority: RequestPriority
    /// The date of the start.
    let date: Date
    /// The time of the start, on the agent's clock.
    let start: Duration
    /// The request of which this one is a changed copy.
    let replayOf: Int?

    /// The identifier of the task; `nil` until its first event.
    var taskID: UUID?
    /// The method; `nil` until the request is built.
    var method: HTTPMethod?
    /// The URL without query; `nil` until the request is built.
    var shortURL: String?
    /// What the request does now.
    var activity = Activity.starting
    /// The time at which ``activity`` began.
    var activityStart: Duration
    /// The decision about the cache; `nil` if the cache was not used.
    var cache: CacheUse?
    /// The events, at most ``maximumEvents``.
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

    /// The maximum number of events of one request.
    static let maximumEvents = 400

    init(
        id: Int, endpoint: String, tag: Int, priority: RequestPriority, date: Date, start: Duration,
        replayOf: Int? = nil
    ) {
        self.id = id
        self.endpoint = endpoint
        self.tag = tag
        self.priority = priority
        self.date = date
        self.start = start
        self.replayOf = replayOf
        activityStart = start
        events.reserveCapacity(16)
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
        guard outcome == nil, activity != self.activity else { return }
        self.activity = activity
        activityStart = time
    }

    /// The number of the latest attempt.
    var attempts: Int { transfers.last?.attempt ?? 0 }

    /// The number of bytes of all bodies in memory.
    var bodyBytes: Int {
        transfers.reduce(response?.body.bytes.count ?? 0) { $0 + $1.bodyBytes }
    }

    /// Releases the bytes of all bodies.
    mutating func dropBodies() {
        for index in transfers.indices { transfers[index].dropBodies() }
        if let body = response?.body, !body.bytes.isEmpty {
            response?.body = RecordedBody(count: body.count, problem: InspectedTransfer.dropped)
        }
    }
}

/// One transfer of a request.
struct InspectedTransfer: Sendable {
    /// The attempt, from 1.
    var attempt: Int
    /// The time of the start, on the agent's clock.
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

    /// An interval in which a rule delayed or held a transfer.
    struct Delay: Sendable, Equatable {
        var start: Duration
        var end: Duration?
        var isHeld: Bool
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
