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

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        guard let turn = try Self.turn(of: exchange) else { return try await next(exchange) }
        let sent = try await turn.adorned()
        let first = try await turn.send(sent, next)
        guard first.status == .unauthorized else {
            turn.entry.authenticator.observe(first, to: sent)
            return first
        }
        return try await turn.again(after: first, to: sent, next)
    }

    /// Who puts credentials on the request; `nil` where nobody may.
    @inline(never)
    private static func turn(of exchange: Exchange) throws(RequestError) -> Turn? {
        let entries = exchange.configuration.authenticators
        try check(entries)
        guard !exchange.hasLeftOrigin, !exchange.request.headers.contains(.authorization),
            let host = exchange.request.host,
            let entry = entries.first(where: { $0.hosts.matches(host) }), !entry.gate.isUnderRefresh
        else { return nil }
        let scope = entry.authenticator.scope(of: exchange.request.url)
        // Before the credentials are taken: a renewal in between costs a replay, the other order could lose one.
        return Turn(
            exchange: exchange, entry: entry, scope: scope, round: entry.gate.round(of: scope))
    }

    private static func check(_ entries: [HostAuthenticator]) throws(RequestError) {
        guard let entry = entries.first(where: { !$0.hosts.isValid }) else { return }
        try entry.hosts.check(in: "an authenticator")
    }
}

/// One request and who puts credentials on it; behind one reference, for what is suspended with it.
private final class Turn: Sendable {
    let exchange: Exchange
    let entry: HostAuthenticator
    private let scope: String
    private let round: Int

    init(exchange: Exchange, entry: HostAuthenticator, scope: String, round: Int) {
        self.exchange = exchange
        self.entry = entry
        self.scope = scope
        self.round = round
    }

    /// The request with credentials.
    @inline(never)
    func adorned() async throws(RequestError) -> TransportRequest {
        let scope = exchange.scope
        do {
            return try await scope.run { [self] in
                var copy = exchange.request
                try await entry.authenticator.apply(to: &copy)
                return copy
            }
        } catch {
            if scope.isCancelled, error is CancellationError { throw .cancelled }
            throw Self.failure("No credentials could be had; nothing was sent.", error)
        }
    }

    func send(_ request: TransportRequest, _ next: Next) async throws(RequestError) -> Response {
        do {
            return concealed(
                try await next(exchange.changed { $0.request = request }), request)
        } catch {
            throw concealed(error, request)
        }
    }

    @inline(never)
    private func concealed(_ error: RequestError, _ request: TransportRequest) -> RequestError {
        guard let response = error.response else { return error }
        var error = error
        error.response = concealed(response, request)
        return error
    }

    /// A key in the query stays out of what users and caches see.
    @inline(never)
    private func concealed(_ response: Response, _ request: TransportRequest) -> Response {
        guard response.url == request.url else { return response }
        var response = response
        response.url = exchange.request.url
        return response
    }

    /// Renews the credentials that were refused, once for everybody, and asks again with new ones.
    @inline(never)
    func again(
        after first: Response, to sent: TransportRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        exchange.context.enter(.waiting)
        exchange.context.emit(.credentialsRefused(host: exchange.request.host ?? ""))
        switch await entry.gate.outcome(
            scope: scope, refusedInRound: round, cancelledWith: exchange.scope,
            refresh: { [entry] in await Self.refresh(entry.authenticator, after: first, to: sent) })
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
        // The next request has the new credentials; this one cannot be sent again.
        guard sent.body?.isSpent != true else { return first }
        let replay = try await adorned()
        var second = try await send(replay, next)
        second.timings = first.timings + second.timings
        if second.status != .unauthorized { entry.authenticator.observe(second, to: replay) }
        return second
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
