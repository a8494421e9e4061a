#if Logging
    import ErrandCore
    import Logging

    /// The log level and the text for an event other than the end, which ``RequestSummary`` describes.
    struct LogMessage: Equatable {
        var level: Logger.Level
        var text: String

        private init(_ level: Logger.Level, _ text: String) {
            self.level = level
            self.text = text
        }

        /// `nil` for an event that is not logged.
        init?(_ kind: RequestEvent.Kind) {
            switch kind {
            // The endpoint never caches.
            case .cacheMiss(.invalidCacheTime), .ended: return nil
            case .webSocket(let event): self = Self.ofWebSocket(event)
            default: self = Self.ofTask(kind) ?? Self.ofCache(kind) ?? Self.ofAttempt(kind)
            }
        }

        /// Without payloads, at every level.
        private static func ofWebSocket(_ event: WebSocketEvent) -> LogMessage {
            switch event {
            case .opened(let subprotocol, let extensions):
                return LogMessage(
                    .info,
                    "opened a WebSocket" + (subprotocol.map { ", subprotocol \($0)" } ?? "")
                        + (extensions.map { ", extensions \($0)" } ?? ""))
            case .message(let message):
                let kind = message.isText ? "text" : "binary"
                let text =
                    message.count == 1
                    ? "\(message.direction.rawValue) a \(kind) message"
                    : "\(message.direction.rawValue) \(message.count) \(kind) messages"
                return LogMessage(
                    .debug,
                    "\(text), \(RequestSummary.text(bytes: message.bytes)) "
                        + "(\(RequestSummary.text(bytes: message.bytesOnWire)) in frames)")
            case .roundTrip(let time):
                return LogMessage(.debug, "WebSocket round trip \(RequestSummary.text(time))")
            case .closed(let close):
                // The reason is a text of the server.
                let reason = close.reason.isEmpty ? "" : ": \(close.reason.debugDescription)"
                return LogMessage(
                    .info,
                    "closed the WebSocket with \(close.code)"
                        + (close.isClean ? "" : ", without close frames of both sides") + reason)
            }
        }

        private static func ofTask(_ kind: RequestEvent.Kind) -> LogMessage? {
            switch kind {
            case .started: LogMessage(.debug, "started")
            case .adapted(let method, let url): LogMessage(.debug, "prepared \(method) \(url)")
            case .joined: LogMessage(.debug, "joined a running request")
            case .queued: LogMessage(.debug, "queued")
            case .suspended: LogMessage(.debug, "suspended")
            case .continued: LogMessage(.debug, "continued")
            case .cancelled: LogMessage(.debug, "cancellation requested")
            default: nil
            }
        }

        private static func ofCache(_ kind: RequestEvent.Kind) -> LogMessage? {
            switch kind {
            case .cacheHit(let age, let source):
                LogMessage(.debug, "served from the cache (\(source.rawValue)), age \(age)")
            case .cacheMiss(let reason): LogMessage(.debug, "cache miss: \(reason.rawValue)")
            case .cacheStored(let bytes): LogMessage(.debug, "stored \(bytes) bytes in the cache")
            case .cacheNotStored(let reason): LogMessage(.debug, "not stored: \(reason.rawValue)")
            case .cacheEvicted(let entries):
                LogMessage(.debug, "the cache has removed \(entries) entries to make room")
            case .storedResponseKept(let error):
                LogMessage(.notice, "the stored response remains: \(error)")
            case .cacheWriteFailed(let error):
                LogMessage(.warning, "could not store the response: \(error)")
            case .storeProblem(let error): LogMessage(.warning, "\(error)")
            default: nil
            }
        }

        private static func ofAttempt(_ kind: RequestEvent.Kind) -> LogMessage {
            switch kind {
            case .attemptStarted(let number): LogMessage(.debug, "attempt \(number) started")
            case .headReceived(let attempt, let status):
                LogMessage(.debug, "attempt \(attempt) received status \(status.code)")
            case .redirected(let url, let status):
                LogMessage(.debug, "redirected to \(url) (status \(status.code))")
            case .attemptEnded(let number, let timings, let error):
                LogMessage(
                    .debug,
                    "attempt \(number) ended, \(timings.bytesReceived) bytes"
                        + (error.map { ": \($0.code)" } ?? ""))
            case .retrying(let pause, let error):
                LogMessage(
                    .notice,
                    "retries in \(RequestSummary.text(pause)) after \(HTTPAttribute.type(of: error))"
                )
            case .circuitChanged(let host, let state):
                LogMessage(.notice, "circuit breaker of \(host) is \(state.rawValue)")
            case .resumed(let offset): LogMessage(.debug, "resumed at byte \(offset)")
            case .validated(let error):
                LogMessage(.debug, error.map { "invalid: \($0.code)" } ?? "passed validation")
            case .pinMismatch(let mismatch): LogMessage(.warning, mismatch.description)
            case .publicSuffixesIncomplete:
                LogMessage(
                    .notice,
                    "libpsl is not installed: cookies are limited by the built-in public suffixes, "
                        + "which are incomplete")
            default: LogMessage(.trace, "\(kind)")
            }
        }
    }
#endif
