public import ErrandCore
public import ErrandSystem

extension RequestTask {
    /// The record of this task up to now; after the end, of the whole task.
    ///
    ///     let record = task.record
    ///     let line = try JSONEncoder().encode(record)
    ///
    /// It needs no listener. It contains no headers, no bodies and no query.
    public var record: Record { Record(self) }

    /// What happened to one request: result, attempts, times, sizes and the decision of the cache.
    ///
    /// Its JSON has the names of the properties; durations are numbers of nanoseconds, dates are text in ISO 8601 with
    /// milliseconds. Values that are `nil` are left out. Members may be added.
    public struct Record: Sendable {
        /// Whether the task has ended, and how.
        public enum State: String, Sendable, Hashable, Codable {
            /// The task has not ended.
            case running
            /// It ended with a response.
            case succeeded
            /// It ended with an error.
            case failed
            /// It was cancelled.
            case cancelled
        }

        /// The identifier of the task.
        public var id: UUID
        /// The endpoint's type name, such as `GetUser`.
        public var endpoint: String
        /// The endpoint's tag.
        public var tag: Int
        /// Whether the task has ended, and how.
        public var state: State
        /// The time at which the task was started, on the system's clock, in milliseconds.
        public var startedAt: Date
        /// The time since the start: up to the end, or up to now.
        public var duration: Duration
        /// The method.
        public var method: String
        /// The URL without user info, query and fragment: after redirects if there was a response, of a running task as
        /// the endpoint states it; `nil` if it is invalid.
        public var url: String?
        /// The status of the response; also of one that was rejected.
        public var status: Int?
        /// The HTTP version of the response; `nil` if it is not known.
        public var httpVersion: String?
        /// The peer's address as `IP:port`; `nil` if it is not known.
        public var remoteAddress: String?
        /// The source of the response, as `Response.Source` names it: the network or the store; `nil` without one.
        public var source: String?
        /// Why the store had no usable response, as `CacheMissReason` names it; `nil` if it had one, or was not asked.
        public var cacheMiss: String?
        /// The number of attempts; 0 if nothing was sent.
        public var attempts: Int
        /// The times and sizes of each transfer that has ended: of attempts, redirects and repetitions with refreshed
        /// credentials.
        ///
        /// Of a failed task, those of its last attempt.
        public var transfers: [AttemptTimings]
        /// The number of bytes of the request's body that the current or last attempt has sent.
        public var bytesSent: Int64
        /// The number of bytes of the response's body that were received, after content decoding.
        public var bytesReceived: Int64
        /// The error of a task that failed or was cancelled, with the errors of its earlier attempts; of one that
        /// succeeded, the error of the network in whose place a stored response is the result.
        public var error: RequestError?

        init(_ task: RequestTask) {
            let ended = task.ended
            let progress = task.currentProgress
            (id, endpoint, tag) = (task.id, task.endpoint, task.tag)
            let elapsed = (ended?.at ?? task.uptime) - task.startedAt
            duration = max(.zero, elapsed)
            let began = task.clock.now - (task.uptime - task.startedAt) / .seconds(1)
            startedAt = Date(
                timeIntervalSince1970: (began.timeIntervalSince1970 * 1000).rounded() / 1000)
            method = task.description.method.rawValue
            url = (try? HTTPURL(parsingEndpoint: task.description.url.text))?.redacted
            cacheMiss = task.cacheMiss?.rawValue
            attempts = if case .inFlight(let attempt) = task.phase { attempt } else { 0 }
            (bytesSent, bytesReceived) = (progress.bytesSent, progress.bytesReceived)
            (state, transfers) = (.running, [])
            // A batch, a chain or a graph has no request of its own.
            if task.members != nil { url = nil }
            if let outcome = ended?.outcome, outcome.hasNoResponse {
                state = .succeeded
                return
            }
            switch ended?.outcome.result {
            case .success(let response):
                (state, attempts) = (.succeeded, response.attempts)
                (source, error) = (response.source.rawValue, response.loadError)
                add(response)
            case .failure(let failure):
                state = failure.isCancellation ? .cancelled : .failed
                (attempts, error) = (failure.attempts, failure)
                if let sent = failure.url { url = sent.string }
                if let sent = failure.method { method = sent.rawValue }
                if let response = failure.response { add(response) }
                if transfers.isEmpty, let timings = failure.timings { transfers = [timings] }
            case nil: break
            }
        }

        private mutating func add(_ response: Response) {
            url = response.url.redacted
            status = response.statusCode
            httpVersion = response.httpVersion?.rawValue
            remoteAddress = response.remoteAddress
            transfers = response.timings
        }
    }
}

extension RequestTask.Record: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, endpoint, tag, state, startedAt, duration, method, url, status, httpVersion
        case remoteAddress, source, cacheMiss, attempts, transfers, bytesSent, bytesReceived, error
    }

    private static let dates = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Reads a record.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        endpoint = try values.decode(String.self, forKey: .endpoint)
        tag = try values.decode(Int.self, forKey: .tag)
        state = try values.decode(State.self, forKey: .state)
        startedAt = try Self.dates.parse(try values.decode(String.self, forKey: .startedAt))
        duration = .nanoseconds(try values.decode(Int64.self, forKey: .duration))
        method = try values.decode(String.self, forKey: .method)
        url = try values.decodeIfPresent(String.self, forKey: .url)
        status = try values.decodeIfPresent(Int.self, forKey: .status)
        httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion)
        remoteAddress = try values.decodeIfPresent(String.self, forKey: .remoteAddress)
        source = try values.decodeIfPresent(String.self, forKey: .source)
        cacheMiss = try values.decodeIfPresent(String.self, forKey: .cacheMiss)
        attempts = try values.decode(Int.self, forKey: .attempts)
        transfers = try values.decode([AttemptTimings].self, forKey: .transfers)
        bytesSent = try values.decode(Int64.self, forKey: .bytesSent)
        bytesReceived = try values.decode(Int64.self, forKey: .bytesReceived)
        error = try values.decodeIfPresent(RequestError.self, forKey: .error)
    }

    /// Writes the record.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(endpoint, forKey: .endpoint)
        try values.encode(tag, forKey: .tag)
        try values.encode(state, forKey: .state)
        try values.encode(startedAt.formatted(Self.dates), forKey: .startedAt)
        try values.encode(duration.wholeNanoseconds, forKey: .duration)
        try values.encode(method, forKey: .method)
        try values.encodeIfPresent(url, forKey: .url)
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(httpVersion, forKey: .httpVersion)
        try values.encodeIfPresent(remoteAddress, forKey: .remoteAddress)
        try values.encodeIfPresent(source, forKey: .source)
        try values.encodeIfPresent(cacheMiss, forKey: .cacheMiss)
        try values.encode(attempts, forKey: .attempts)
        try values.encode(transfers, forKey: .transfers)
        try values.encode(bytesSent, forKey: .bytesSent)
        try values.encode(bytesReceived, forKey: .bytesReceived)
        try values.encodeIfPresent(error, forKey: .error)
    }
}
