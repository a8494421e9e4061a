import Foundation
import HTTPTypes

/// Puts credentials on each hop that may have them, and answers a 401 with renewed ones, once.
///
/// Inside of redirects, so that a hop's credentials are made for its own address (Digest signs it) and what
/// follows redirects never sees them; a hop that has left the first address's origin gets none.
package struct AuthenticateStep: Step {
    package func concerns(_ exchange: Exchange) -> Bool {
        !exchange.context.configuration.authenticators.isEmpty
    }

    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let entries = exchange.configuration.authenticators
        try Self.check(entries)
        let original = exchange.request
        guard !exchange.hasLeftOrigin, !original.headers.contains(.authorization),
            let host = original.url.host,
            let entry = entries.first(where: { $0.hosts.matches(host) }), !entry.gate.isUnderRefresh
        else { return try await next(exchange) }

        let authenticator = entry.authenticator
        let scope = authenticator.scope(of: original.url)
        // Before the credentials are taken: a renewal in between costs a replay, the other order could lose one.
        let round = entry.gate.round(of: scope)
        let sent = try await Self.apply(authenticator, to: original, exchange.scope)
        let first = try await Self.send(sent, instead: original, of: exchange, by: next)
        guard first.status == .unauthorized else {
            authenticator.observe(first, to: sent)
            return first
        }
        exchange.context.emit(.credentialsRefused(host: host))
        switch await entry.gate.outcome(
            scope: scope, refusedInRound: round, cancelledWith: exchange.scope,
            refresh: { await Self.refresh(authenticator, after: first, to: sent) })
        {
        case .nothing:
            exchange.context.emit(.credentialsNotRenewed(nil))
            return first
        case .failed(var error):
            if error.isCancellation { throw error }
            exchange.context.emit(.credentialsNotRenewed(error))
            error.response = first
            throw error
        case .renewed: exchange.context.emit(.credentialsRenewed)
        }
        let replay = try await Self.apply(authenticator, to: original, exchange.scope)
        var second = try await Self.send(replay, instead: original, of: exchange, by: next)
        second.timings = first.timings + second.timings
        if second.status != .unauthorized { authenticator.observe(second, to: replay) }
        return second
    }

    private static func check(_ entries: [HostAuthenticator]) throws(RequestError) {
        guard let entry = entries.first(where: { !$0.hosts.isValid }) else { return }
        throw RequestError(
            .invalidConfiguration, stage: .adapt,
            "The host pattern \(entry.hosts) of an authenticator matches nothing; write a host, or a star and a domain: *.example.com."
        )
    }

    private static func apply(
        _ authenticator: any Authenticator, to request: TransportRequest, _ scope: CancellationScope
    ) async throws(RequestError) -> TransportRequest {
        do {
            return try await scope.run {
                var copy = request
                try await authenticator.apply(to: &copy)
                return copy
            }
        } catch {
            if scope.isCancelled, error is CancellationError { throw .cancelled }
            throw failure("No credentials could be had; nothing was sent.", error)
        }
    }

    private static func send(
        _ request: TransportRequest, instead original: TransportRequest, of exchange: Exchange,
        by next: Next
    ) async throws(RequestError) -> Response {
        var exchange = exchange
        exchange.request = request
        var response = try await next(exchange)
        // A key in the query stays out of what users and caches see.
        if response.url == request.url { response.url = original.url }
        return response
    }

    private static func refresh(
        _ authenticator: any Authenticator, after response: Response, to request: TransportRequest
    ) async -> RefreshOutcome {
        do {
            return try await authenticator.refresh(after: response, to: request)
                ? .renewed : .nothing
        } catch {
            return .failed(
                failure("The server refused the credentials and they could not be renewed.", error))
        }
    }

    private static func failure(_ message: String, _ error: any Error) -> RequestError {
        if let error = error as? RequestError, error.code == .authenticationFailed { return error }
        return RequestError(
            .authenticationFailed, stage: .adapt, "\(message) The thrown error is underlying.",
            underlying: error)
    }
}
