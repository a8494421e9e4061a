#if Logging
    import Logging
    import Synchronization

    /// The lines that loggers have written.
    final class LogRecorder: Sendable {
        struct Line: Sendable {
            var level: Logger.Level
            var text: String
            var metadata: [String: String]
        }

        private let state = Mutex<[Line]>([])

        var lines: [Line] { state.withLock { $0 } }

        /// The lines from a level on, as level and text.
        func texts(from level: Logger.Level = .trace) -> [String] {
            lines.filter { $0.level >= level }.map { "\($0.level) \($0.text)" }
        }

        func logger(_ level: Logger.Level = .trace) -> Logger {
            var logger = Logger(label: "test") { _ in Handler(recorder: self) }
            logger.logLevel = level
            return logger
        }

        private struct Handler: LogHandler {
            let recorder: LogRecorder
            var logLevel = Logger.Level.trace
            var metadata: Logger.Metadata = [:]

            init(recorder: LogRecorder) { self.recorder = recorder }

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let line = Line(
                    level: event.level, text: "\(event.message)",
                    metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
                recorder.state.withLock { $0.append(line) }
            }
        }
    }
#endif
