#if Observability
    import ErrandCore
    import Logging

    /// What is said of one event, and how loudly: a pure function.
    struct LogLine: Equatable {
        var level: Logger.Level
        var text: String

        private init(_ level: Logger.Level, _ text: String) {
            self.level = level
            self.text = text
        }

        init(_ kind: RequestEvent.Kind) {
            self = Self.ofTask(kind) ?? Self.ofCache(kind) ?? Self.ofAttempt(kind)
        }

        private static func ofTask(_ kind: RequestEvent.Kind) -> LogLine? {
            switch kind {
            case .started: LogLine(.debug, "started")
            case .adapted(let method, let url): LogLine(.debug, "will \(method) \(url)")
            case .joined: LogLine(.debug, "joined a request under way")
            case .queued: LogLine(.debug, "waits for a place")
            case .suspended: LogLine(.debug, "suspended")
            case .continued: LogLine(.debug, "goes on")
            case .cancelled: LogLine(.debug, "told to stop")
            case .ended(nil): LogLine(.info, "succeeded")
            case .ended(let error?) where error.isCancellation: LogLine(.debug, "cancelled")
            case .ended(let error?): LogLine(.warning, "failed: \(error)")
            default: nil
            }
        }

        private static func ofCache(_ kind: RequestEvent.Kind) -> LogLine? {
            switch kind {
            case .cacheHit(let age, let source): LogLine(.debug, "\(source.rawValue), \(age) old")
            case .cacheMiss(let reason): LogLine(.debug, "not from the cache: \(reason.rawValue)")
            case .cacheStored(let bytes): LogLine(.debug, "stored \(bytes) bytes")
            case .cacheWriteFailed(let error): LogLine(.warning, "not stored: \(error)")
            default: nil
            }
        }

        private static func ofAttempt(_ kind: RequestEvent.Kind) -> LogLine {
            switch kind {
            case .attemptStarted(let number): LogLine(.debug, "attempt \(number)")
            case .headReceived(let attempt, let status):
                LogLine(.debug, "attempt \(attempt) answered \(status.code)")
            case .redirected(let url, let status):
                LogLine(.debug, "redirected by \(status.code) to \(url)")
            case .attemptEnded(let number, let timings, let error):
                LogLine(
                    .debug,
                    "attempt \(number) ended, \(timings.bytesReceived) bytes"
                        + (error.map { ": \($0.code)" } ?? ""))
            case .retrying(let pause, let error):
                LogLine(.notice, "tries again in \(pause) because of \(error.code)")
            case .resumed(let offset): LogLine(.debug, "resumed at byte \(offset)")
            case .validated(let error):
                LogLine(.debug, error.map { "rejected: \($0.code)" } ?? "passed validation")
            case .pinMismatch(let mismatch): LogLine(.warning, mismatch.description)
            default: LogLine(.trace, "\(kind)")
            }
        }
    }
#endif
