import ErrandHTTP
import HTTPTypes

extension KindForm {
    /// The kind.
    func kind() throws -> RequestEvent.Kind {
        if let kind = try ofTask() { return kind }
        if let kind = try ofCache() { return kind }
        if let kind = try ofWait() { return kind }
        if let kind = try ofTransfer() { return kind }
        if let event = try ofWebSocket() { return .webSocket(event) }
        if let kind = try ofAttempt() { return kind }
        throw UnknownValue()
    }

    private func ofTask() throws -> RequestEvent.Kind? {
        switch type {
        case "started": .started
        case "adapted":
            .adapted(
                method: HTTPMethod(rawValue: try require(method, "method")),
                url: try require(url.flatMap { try? HTTPURL(parsing: $0) }, "url"))
        case "joined": .joined
        case "suspended": .suspended
        case "continued": .continued
        case "cancelled": .cancelled
        case "resumed": .resumed(offset: try size())
        case "validated": .validated(error)
        case "ended": .ended(error)
        default: nil
        }
    }

    private func ofCache() throws -> RequestEvent.Kind? {
        switch type {
        case "cacheHit": .cacheHit(age: try time(), source: try named(source, "source"))
        case "cacheMiss": .cacheMiss(try named(reason, "reason"))
        case "storedResponseKept": .storedResponseKept(try require(error, "error"))
        case "cacheStored": .cacheStored(bytes: Int(clamping: try size()))
        case "cacheWriteFailed": .cacheWriteFailed(try require(error, "error"))
        case "cacheNotStored": .cacheNotStored(try named(reason, "reason"))
        case "cacheEvicted": .cacheEvicted(entries: try require(entries, "entries"))
        case "storeProblem": .storeProblem(try require(error, "error"))
        default: nil
        }
    }

    private func ofWait() throws -> RequestEvent.Kind? {
        switch type {
        case "waitingForConnectivity": .waitingForConnectivity
        case "queued": .queued
        case "dequeued": .dequeued(after: try time())
        case "rateLimited": .rateLimited(for: try time())
        case "circuitChanged":
            .circuitChanged(host: try require(host, "host"), try named(state, "state"))
        case "credentialsRefused": .credentialsRefused(host: try require(host, "host"))
        case "credentialsRenewed": .credentialsRenewed
        case "credentialsNotRenewed": .credentialsNotRenewed(error)
        case "publicSuffixesIncomplete": .publicSuffixesIncomplete
        default: nil
        }
    }

    private func ofTransfer() throws -> RequestEvent.Kind? {
        switch type {
        case "transferStarted":
            .transferStarted(
                attempt: try number(),
                url: try require(url.flatMap { try? HTTPURL(parsing: $0) }, "url"))
        case "connectionOpened": .connectionOpened(attempt: try number(), try link())
        case "connectionReused": .connectionReused(attempt: try number(), try link())
        case "chunkSent": .chunkSent(attempt: try number(), bytes: try size())
        case "chunkReceived": .chunkReceived(attempt: try number(), bytes: try size())
        case "progress": .progress(try require(progress, "progress").value)
        case "requestBodySent": .requestBodySent(attempt: try number(), bytes: try size())
        case "bodyReceived": .bodyReceived(attempt: try number(), bytes: try size())
        case "informational": .informational(attempt: try number(), try code())
        case "headReceived": .headReceived(attempt: try number(), try code())
        case "phase": .phase(attempt: try number(), try named(phase, "phase"), after: try time())
        case "transferEnded":
            .transferEnded(attempt: try number(), try require(timings, "timings"), error)
        case "pinMismatch": .pinMismatch(try require(mismatch, "mismatch"))
        default: nil
        }
    }

    private func ofWebSocket() throws -> WebSocketEvent? {
        guard type == "webSocket" else { return nil }
        return switch try require(event, "event") {
        case "opened": .opened(subprotocol: subprotocol, extensions: extensions)
        case "message":
            .message(
                WebSocketEvent.Message(
                    try named(direction, "direction"), isText: try require(isText, "isText"),
                    count: try require(count, "count"), bytes: try size(),
                    bytesOnWire: try require(bytesOnWire, "bytesOnWire")))
        case "roundTrip": .roundTrip(try time())
        case "closed": .closed(try require(close, "close"))
        default: throw UnknownValue()
        }
    }

    private func ofAttempt() throws -> RequestEvent.Kind? {
        switch type {
        case "attemptStarted": .attemptStarted(try number())
        case "attemptEnded":
            .attemptEnded(try number(), try require(timings, "timings"), error)
        case "redirected":
            .redirected(
                to: try require(url.flatMap { try? HTTPURL(parsing: $0) }, "url"), try code())
        case "retrying": .retrying(after: try time(), try require(error, "error"))
        case "retryBudgetSpent": .retryBudgetSpent
        case "retryDeclined": .retryDeclined(try named(reason, "reason"))
        default: nil
        }
    }
}
