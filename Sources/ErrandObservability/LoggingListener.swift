#if Observability
    public import ErrandCore
    public import Logging

    /// Writes request events to a swift-log logger.
    ///
    ///     configuration.eventListeners = [LoggingListener(Logger(label: "app.network"))]
    ///
    /// It requires the package trait `Observability`; without the trait, swift-log is not resolved. A line
    /// contains the endpoint, the task, the URL without its query, statuses, times and sizes, but no headers, bodies
    /// or arguments. Success is logged at `info`, a failure at `warning`, a retry at `notice`, and most other events,
    /// including a cancellation, at `debug`.
    public struct LoggingListener: RequestEventListener {
        private let logger: Logger

        /// Creates a listener for a logger.
        ///
        /// The logger's own level selects which lines are written.
        public init(_ logger: Logger) { self.logger = logger }

        /// Writes one line for the event, if the logger's level includes it.
        public func handle(_ event: RequestEvent) {
            let line = LogMessage(event.kind)
            logger.log(
                level: line.level, "\(event.endpoint) \(line.text)",
                metadata: [
                    "task": "\(event.taskID)", "tag": "\(event.tag)", "uptime": "\(event.uptime)",
                ])
        }
    }
#endif
