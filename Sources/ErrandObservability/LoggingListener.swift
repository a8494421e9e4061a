#if Logging
    public import ErrandCore
    public import ErrandRecording
    package import ErrandTransport
    public import Logging
    import Synchronization

    /// Writes one line for each request to a swift-log logger.
    ///
    ///     configuration.eventListeners = [LoggingListener(Logger(label: "app.network"))]
    ///
    /// It requires the package trait `Logging`; without the trait, swift-log is not resolved. At the end of a request
    /// it writes a line such as
    ///
    ///     GetIssue GET api.example.com/repos/…/issues/4 → 200 in 43 ms, 1302 B, network, attempt 2
    ///
    /// at `info`, of a failure at `warning`, of a cancellation at `debug`. Retries are logged at `notice`, other events
    /// at `debug`. The logger's own level selects which lines are written. These lines contain no headers, no bodies, and
    /// no values of the query, except those of the visible names.
    ///
    /// At `trace` it also writes a line for each request that is sent and for each response, with their headers and
    /// bodies in the metadata: `http.request.header.accept` and so on, `http.response.header.etag` and so on,
    /// `errand.request.body` and `errand.response.body`. `RedactionRules` replaces secrets in them, and in `url.full` of
    /// these lines. Of a text, the first bytes are written, with the number of bytes that are left out; of
    /// other bodies, of files and of streams, the content type and the number of bytes. The text of a body above 1 MiB is
    /// left out.
    ///
    /// The metadata has the names of OpenTelemetry: `http.request.method`, `url.full`, `server.address`, `server.port`,
    /// `http.response.status_code`, `http.response.body.size`, `error.type`, `http.request.resend_count` (absent if
    /// nothing was sent again), and `errand.endpoint`, `errand.task`, `errand.tag`, `errand.source`.
    public struct LoggingListener: RequestEventListener {
        private let core: Core

        /// Creates a listener for a logger.
        ///
        /// - Parameters:
        ///   - logger: The logger; its level selects the lines.
        ///   - visibleQueryNames: The names of query parameters whose values are logged, percent-encoded as in the URL.
        ///     Default none: `url.full` has `REDACTED` in place of each value.
        ///   - redaction: Which values of headers, URLs and bodies are replaced at `trace`. Default
        ///     `RedactionRules.standard`.
        ///   - maximumBodyBytes: The largest part of a text body that is written at `trace`. Default 4,096 bytes; 0 writes
        ///     none.
        public init(
            _ logger: Logger, visibleQueryNames: Set<String> = [],
            redaction: RedactionRules = .standard, maximumBodyBytes: Int = 4096
        ) {
            core = Core(
                logger, SanitizedURL(visibleQueryNames: visibleQueryNames),
                MessageLog(bodies: BodyText(redaction: redaction, limit: maximumBodyBytes)))
        }

        /// Writes the lines about an event whose level the logger includes.
        public func handle(_ event: RequestEvent) {
            guard let record = event.metadata.state(of: core, as: Record.self) else { return }
            let summary = record.summary.withLock { summary in
                summary.add(event)
                return summary
            }
            if case .ended = event.kind {
                core.log(summary, event)
            } else if let message = LogMessage(event.kind) {
                core.log(message, event)
            }
        }

        /// The summary of one request.
        private final class Record: Sendable {
            let summary = Mutex(RequestSummary())
            private let core: Core

            init(_ core: Core) {
                self.core = core
                core.records.add(1, ordering: .relaxed)
            }

            deinit { core.records.subtract(1, ordering: .relaxed) }
        }

        private final class Core: Sendable {
            private static let levelOfFailure = Logger.Level.warning

            let logger: Logger
            let urls: SanitizedURL
            let messages: MessageLog
            /// The number of summaries in memory.
            let records = Atomic<Int>(0)

            init(_ logger: Logger, _ urls: SanitizedURL, _ messages: MessageLog) {
                self.logger = logger
                self.urls = urls
                self.messages = messages
            }

            func log(_ message: LogMessage, _ event: RequestEvent) {
                logger.log(
                    level: message.level, "\(event.endpoint) \(message.text)",
                    metadata: Self.identity(of: event))
            }

            func log(_ summary: RequestSummary, _ event: RequestEvent) {
                let level: Logger.Level =
                    switch summary.result {
                    case .response: .info
                    case .failure: Self.levelOfFailure
                    case .cancellation, nil: .debug
                    }
                logger.log(
                    level: level, "\(summary.line(event.endpoint))",
                    metadata: summary.attributes(of: event, urls).mapValues { "\($0)" })
            }

            private static func identity(of event: RequestEvent) -> Logger.Metadata {
                [
                    HTTPAttribute.endpoint: "\(event.endpoint)",
                    HTTPAttribute.task: "\(event.taskID)", HTTPAttribute.tag: "\(event.tag)",
                ]
            }
        }
    }

    extension LoggingListener: RequestInstrument {
        package func willStart(_ description: inout RequestDescription) {
            description.metadata.attach(Record(core), of: core)
        }

        package func willSend(
            _ request: inout TransportRequest, attempt: Int, of description: RequestDescription,
            _ configuration: Configuration, over transport: any Transport
        ) -> TransferObserver? {
            let record = description.metadata.state(of: core, as: Record.self)
            let (method, url) = (request.method, request.url)
            record?.summary.withLock { $0.send(method, url, attempt: attempt) }
            guard core.logger.logLevel <= .trace else { return nil }
            let endpoint = description.endpoint
            let messages = core.messages.adding(request.options.secretNames)
            messages.log(request, attempt: attempt, endpoint: endpoint, to: core.logger)
            return { [core] response, end in
                messages.log(response, end, endpoint: endpoint, to: core.logger)
            }
        }

        /// The number of requests whose summaries are in memory.
        package var openRecords: Int { core.records.load(ordering: .relaxed) }
    }
#else
    /// Writes request events to a swift-log logger; requires the package trait `Logging`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait Logging in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"Logging\"])"
    )
    public struct LoggingListener {}
#endif
