#if Observability
    public import ErrandCore
    public import Logging

    /// Writes what happens to requests to a swift-log logger.
    ///
    ///     configuration.eventListeners = [LoggingListener(Logger(label: "app.network"))]
    ///
    /// Built with the package trait `Observability` only, so that nobody else resolves swift-log. Lines hold the
    /// endpoint, the task, the address without its query, statuses, times and sizes: no headers, no bodies, no
    /// arguments. The end of a request is logged at `info`, a failure at `warning`, a cancellation at `debug`, like
    /// everything between.
    public struct LoggingListener: RequestEventListener {
        private let logger: Logger

        /// Makes a listener that writes to a logger, at the logger's own level.
        public init(_ logger: Logger) { self.logger = logger }

        /// Writes one line for the event, where the logger's level asks for it.
        public func handle(_ event: RequestEvent) {
            let line = LogLine(event.kind)
            logger.log(
                level: line.level, "\(event.endpoint) \(line.text)",
                metadata: [
                    "task": "\(event.taskID)", "tag": "\(event.tag)", "uptime": "\(event.uptime)",
                ])
        }
    }
#endif
