public import ErrandCore
import ErrandSystem
import HTTPTypes

extension ResponseStream {
    /// The server-sent events of the body (HTML standard, §9.2); reconnects by itself after a safe request.
    ///
    ///     for try await event in try await Notifications().stream().serverSentEvents {
    ///         print(event.type, event.data)
    ///     }
    ///
    /// See ``serverSentEvents(reconnects:maximumEventBytes:)``.
    public var serverSentEvents: ServerSentEvents { serverSentEvents() }

    /// The server-sent events of the body (HTML standard, §9.2).
    ///
    /// The content type must be `text/event-stream`, unless the endpoint sets
    /// ``RequestDescription/Acceptance/contentTypes``; otherwise the first read fails with
    /// ``RequestError/Code/unacceptableContentType``.
    ///
    /// A sequence that reconnects has no end until the server responds with 204, refuses, the loop is left, or
    /// ``Timeouts/total``, which counts from the start of the first request, has passed. After the end of the body, or its
    /// interruption, it waits for the reconnection time, which the server sets with `retry` (default 3 s, at least 500 ms,
    /// at most 1 h), and sends the request again with `Last-Event-ID`. After attempts without an event, the delays of
    /// the endpoint's ``RetryPolicy`` are added. The new request takes the whole path of a request: its retries,
    /// credentials, cookies and limits; it has a task of its own, and its connection errors and the
    /// statuses of ``RetryPolicy/retryableStatusCodes`` lead to another attempt. Any other refusal is an error.
    ///
    /// The new request has `Accept: text/event-stream` and `Cache-Control: no-store`, unless the endpoint sets these
    /// fields. The first one was sent before this sequence was chosen: it has them with
    /// ``Startable/serverSentEvents(reconnects:maximumEventBytes:on:onStart:)``, and if the
    /// ``RequestDescription/Acceptance/contentTypes`` are `text/event-stream` alone.
    ///
    /// - Parameters:
    ///   - reconnects: Whether to reconnect. Default ``Reconnects/automatic``.
    ///   - maximumEventBytes: The maximum size of the data of an event (default 1 MiB); more is the error
    ///     ``RequestError/Code/bodyTooLarge``.
    public func serverSentEvents(
        reconnects: Reconnects = .automatic, maximumEventBytes: Int = 1 << 20
    ) -> ServerSentEvents {
        ServerSentEvents(
            source: source, reconnects: reconnects, maximumEventBytes: maximumEventBytes)
    }

    /// Whether a sequence of server-sent events connects again.
    public enum Reconnects: Sendable, Hashable {
        /// The sequence ends with the body; an interruption is an error.
        case never
        /// If the request can be repeated without harm: its method is safe (RFC 9110 §9.2.1), and it has no body.
        ///
        /// Other requests, such as the `POST` of a chat, are not repeated.
        case automatic
        /// Like ``automatic``, but at most this many times in a row after a connection that failed without an event.
        ///
        /// A connection whose body has ended regularly is no failure, and starts the count again. 0 is ``never``.
        case limited(Int)
    }

    /// The server-sent events of a body; see ``ResponseStream/serverSentEvents(reconnects:maximumEventBytes:)``.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        let source: StreamSource
        let reconnects: Reconnects
        let maximumEventBytes: Int

        /// Creates the one iterator.
        public func makeAsyncIterator() -> Iterator {
            Iterator(events: EventSource(source, reconnects, maximumEventBytes))
        }

        /// Reads events.
        public struct Iterator: AsyncIteratorProtocol {
            let events: EventSource

            /// The next event; `nil` at the end.
            public mutating func next() async throws(RequestError) -> ServerSentEvent? {
                try await events.next()
            }

            /// The next event; `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> ServerSentEvent? {
                if let event = events.nextInChunk() { return event }
                return try await events.next()
            }
        }
    }
}

/// Reads events, and opens further connections as ``ReconnectionState`` decides.
final class EventSource {
    private var source: StreamSource
    private var stream: ParsedStream<ServerSentEvent.Parser>
    private var reconnection: ReconnectionState
    /// Ends the wait between two connections.
    private let entry: ReconnectingStreams<RequestTask>.Entry
    private let maximumEventBytes: Int
    /// The total time limit, and its end on the agent's clock; `nil` without a limit.
    private let limit: (total: Duration, end: Duration)?
    private var reconnectionTime: Duration?
    private var hasEnded = false
    private var hasCheckedType = false

    init(
        _ source: StreamSource, _ reconnects: ResponseStream.Reconnects, _ maximumEventBytes: Int
    ) {
        self.source = source
        entry = source.agent.reconnectingStreams.add(source.task)
        self.maximumEventBytes = maximumEventBytes
        let description = source.description
        limit = RequestAgent.limit(of: source.task).map {
            ($0, source.task.startedAt + $0.clamped)
        }
        reconnection = ReconnectionState(
            limit: Self.limit(reconnects, description),
            policy: description.retryPolicy ?? source.task.configuration.retryPolicy)
        let parser = ServerSentEvent.Parser(
            maximumEventBytes: maximumEventBytes,
            lastEventID: description[header: .custom("Last-Event-ID")] ?? "")
        stream = ParsedStream(source, parser)
    }

    /// The next event of the chunk that was read last; without suspension.
    func nextInChunk() -> ServerSentEvent? { stream.nextInChunk() }

    nonisolated(nonsending) func next() async throws(RequestError) -> ServerSentEvent? {
        while !hasEnded {
            do throws(RequestError) {
                if !hasCheckedType {
                    try Self.checkType(of: source)
                    hasCheckedType = true
                }
                if let event = try await stream.next() {
                    reconnection.received()
                    return event
                }
                try await reconnect(after: source.response.status == 204 ? .noContent : .complete)
            } catch {
                try await recover(from: error)
            }
        }
        return nil
    }

    private nonisolated(nonsending) func recover(
        from error: RequestError
    ) async throws(RequestError) {
        do throws(RequestError) {
            try await reconnect(after: .failed(error))
        } catch {
            hasEnded = true
            throw error
        }
    }

    /// Opens connections until one has events; returns at the end of the sequence, too.
    private nonisolated(nonsending) func reconnect(
        after first: ReconnectionState.Ending
    ) async throws(RequestError) {
        var ending = first
        while true {
            reconnectionTime = stream.parser.reconnectionTime ?? reconnectionTime
            let action = reconnection.ended(
                ending, reconnectionTime: reconnectionTime,
                retryAfter: Self.retryAfter(ending, now: source.agent.clock.now),
                random: Double.random(in: 0..<1))
            switch action {
            case .finish: return hasEnded = true
            case .fail(let error): throw error.timeout == .total ? overdue ?? error : error
            case .reconnect(let delay): try await sleep(for: delay)
            }
            do throws(RequestError) {
                try await open()
                guard source.response.status == 204 else { return }
                // Its task ends before the sequence does.
                _ = try await stream.next()
                ending = .noContent
            } catch {
                ending = .failed(error)
            }
        }
    }

    private nonisolated(nonsending) func sleep(
        for delay: Duration
    ) async throws(RequestError) {
        let hasSlept = await entry.sleep(
            for: min(delay, remaining ?? delay), on: source.agent.clock)
        // If the agent has cancelled its tasks or was shut down, the next task states that.
        if !hasSlept, !entry.scope.isCancelled { throw source.named(.cancelled) }
        if let remaining, remaining <= .zero, let overdue { throw overdue }
    }

    /// The time until the end of the total limit; `nil` without a limit.
    private var remaining: Duration? { limit.map { $0.end - source.agent.clock.uptime } }

    /// The error of a sequence that has exceeded its total limit; `nil` without a limit.
    private var overdue: RequestError? {
        limit.map { limit in
            source.named(
                RequestError(
                    .timedOut, stage: .transport,
                    "The event stream, with its reconnections, took longer than its total limit of \(limit.total). "
                        + "Increase timeouts.total, or set nil for a stream without an end.",
                    timeout: .total))
        }
    }

    /// Sends the request again, from the last event.
    private nonisolated(nonsending) func open() async throws(RequestError) {
        var description = source.description
        let id = stream.parser.lastEventID
        description[header: .custom("Last-Event-ID")] = id.isEmpty ? nil : id
        description.acceptEvents()
        if let remaining {
            var timeouts = description.timeouts ?? source.agent.configuration.timeouts
            timeouts.total = remaining
            description.timeouts = timeouts
        }
        // A stored response would repeat its events.
        (description.ignoresCache, description.cacheSeconds) = (true, 0)
        description.cache.policy = .cacheElseLoad
        let run = RequestRun(task: source.agent.enlist(description), agent: source.agent)
        if entry.scope.isCancelled { run.task.cancel() }
        let opened = try await run.agent.open(run.task)
        source = StreamSource(opened, run)
        stream = ParsedStream(
            source,
            ServerSentEvent.Parser(maximumEventBytes: maximumEventBytes, lastEventID: id))
        hasCheckedType = false
    }

    private static func limit(
        _ reconnects: ResponseStream.Reconnects, _ description: RequestDescription
    ) -> Int? {
        let method = description.customRequest?.method ?? description.method
        let hasBody = description.customRequest.map { $0.body != nil } ?? (description.body != nil)
        guard method.isSafe, !hasBody else { return 0 }
        return switch reconnects {
        case .never: 0
        case .automatic: nil
        case .limited(let count): max(0, count)
        }
    }

    private static func retryAfter(_ ending: ReconnectionState.Ending, now: Date) -> Duration? {
        guard case .failed(let error) = ending, error.code == .unacceptableStatus else {
            return nil
        }
        return RetryAfter.duration(error.response?.headers[.retryAfter], now: now)
    }

    /// Refuses another content type than `text/event-stream`, unless the endpoint chooses the types.
    private static func checkType(of source: StreamSource) throws(RequestError) {
        guard source.response.status != 204,
            source.description.acceptance.contentTypes == nil
        else { return }
        let type = source.response.headers[.contentType] ?? ""
        guard !ContentTypePatterns(["text/event-stream"]).match(type) else { return }
        throw source.named(
            RequestError(
                .unacceptableContentType, stage: .validate,
                "The response's content type is \(type.isEmpty ? "missing" : "\(type.prefix(80))"), not "
                    + "text/event-stream. If it contains server-sent events nevertheless, set "
                    + "acceptance.contentTypes; [\"*/*\"] accepts every type."))
    }
}

extension ServerSentEvent.Parser: StreamParser {
    // An event that the end of the body interrupts is discarded.
    mutating func end() throws(RequestError) -> ServerSentEvent? { nil }
}

extension RequestDescription {
    /// Whether the endpoint accepts event streams, and nothing else.
    var acceptsOnlyEvents: Bool {
        guard let types = acceptance.contentTypes else { return false }
        return types.map { $0.lowercasedASCII() } == ["text/event-stream"]
    }

    /// Adds the fields of a request for an event stream that the endpoint does not set (HTML standard, §9.2.2).
    mutating func acceptEvents() {
        for (name, value): (HTTPField.Name, String) in [
            (.accept, "text/event-stream"), (.cacheControl, "no-store"),
        ]
        where self[header: name] == nil { self[header: name] = value }
    }

    /// A header field of the endpoint, also of a custom request; `nil` if there is none.
    fileprivate subscript(header name: HTTPField.Name) -> String? {
        get {
            guard let customRequest else { return headers[name] }
            let values = customRequest.headers.filter { HTTPField.Name($0.name) == name }
            return values.isEmpty ? nil : values.map(\.value).joined(separator: ", ")
        }
        set {
            guard var custom = customRequest else { return headers[name] = newValue }
            custom.headers.removeAll { HTTPField.Name($0.name) == name }
            if let newValue { custom.headers.append((name.rawName, newValue)) }
            customRequest = custom
        }
    }
}
