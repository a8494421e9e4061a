// Performance annotations: decisions 10 and 17.

import ErrandTransport
import Foundation
import HTTPTypes

/// Adds credentials to each request, and sends it once more after a 401 with refreshed credentials.
///
/// It runs inside `RedirectStep`, so that each redirect gets credentials for its own URL, which
/// Digest signs. After a redirect to another origin no credentials are added.
package struct AuthenticateStep: Step {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        !pipelineRequest.context.configuration.authenticators.isEmpty
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard let authenticated = try Self.authenticated(pipelineRequest) else {
            return try await next(pipelineRequest)
        }
        let sent = try await authenticated.authorized()
        let first = try await authenticated.send(sent, next)
        guard first.status == .unauthorized else {
            authenticated.entry.authenticator.observe(first, to: sent)
            return first
        }
        return try await authenticated.resend(after: first, to: sent, next)
    }

    /// The request with its authenticator; `nil` if none serves it.
    @inline(never)
    private static func authenticated(
        _ pipelineRequest: PipelineRequest
    ) throws(RequestError) -> AuthenticatedRequest? {
        let entries = pipelineRequest.configuration.authenticators
        try check(entries)
        guard !pipelineRequest.hasLeftOrigin,
            !pipelineRequest.request.headers.contains(.authorization),
            let host = pipelineRequest.request.host,
            let entry = entries.first(where: { $0.hosts.matches(host) }),
            !entry.refresher.isUnderRefresh
        else { return nil }
        let scope = entry.authenticator.scope(of: pipelineRequest.request.url)
        // The round is read before the credentials. A refresh in between is then not missed: at
        // worst, the request is sent once more.
        return AuthenticatedRequest(
            pipelineRequest: pipelineRequest, entry: entry, scope: scope,
            round: entry.refresher.round(of: scope))
    }

    private static func check(_ entries: [HostAuthenticator]) throws(RequestError) {
        guard let entry = entries.first(where: { !$0.hosts.isValid }) else { return }
        try entry.hosts.check(in: "an authenticator")
    }
}

/// One request and its authenticator; a single reference keeps async frames small.
private final class AuthenticatedRequest: Sendable {
    let pipelineRequest: PipelineRequest
    let entry: HostAuthenticator
    private let scope: String
    private let round: Int

    init(pipelineRequest: PipelineRequest, entry: HostAuthenticator, scope: String, round: Int) {
        self.pipelineRequest = pipelineRequest
        self.entry = entry
        self.scope = scope
        self.round = round
    }

    /// The request with credentials.
    @inline(never)
    func authorized() async throws(RequestError) -> TransportRequest {
        let scope = pipelineRequest.scope
        do {
            return try await scope.run { [self] in
                var copy = pipelineRequest.request
                try await entry.authenticator.apply(to: &copy)
                return copy
            }
        } catch {
            if scope.isCancelled, error is CancellationError { throw .cancelled }
            throw Self.failure(
                "The authenticator failed to provide credentials; nothing was sent.", error)
        }
    }

    func send(_ request: TransportRequest, _ next: Next) async throws(RequestError) -> Response {
        do {
            return stripped(
                try await next(pipelineRequest.changed { $0.request = request }), request)
        } catch {
            throw stripped(error, request)
        }
    }

    @inline(never)
    private func stripped(_ error: RequestError, _ request: TransportRequest) -> RequestError {
        guard let response = error.response else { return error }
        var error = error
        error.response = stripped(response, request)
        return error
    }

    /// Restores the URL without credentials in the response, for example without a key in the query.
    @inline(never)
    private func stripped(_ response: Response, _ request: TransportRequest) -> Response {
        guard response.url == request.url else { return response }
        var response = response
        response.url = pipelineRequest.request.url
        return response
    }

    /// Waits for the refresh of the refused credentials, and sends the request again.
    @inline(never)
    func resend(
        after first: Response, to sent: TransportRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        pipelineRequest.context.enter(.waiting)
        pipelineRequest.context.emit(.credentialsRefused(host: pipelineRequest.request.host ?? ""))
        switch await entry.refresher.outcome(
            scope: scope, refusedInRound: round, cancelledWith: pipelineRequest.scope,
            refresh: { [entry] in await Self.refresh(entry.authenticator, after: first, to: sent) })
        {
        case .nothing:
            pipelineRequest.context.emit(.credentialsNotRenewed(nil))
            return first
        case .failed(var error):
            if error.isCancellation { throw error }
            pipelineRequest.context.emit(.credentialsNotRenewed(error))
            error.response = first
            throw error
        case .renewed: pipelineRequest.context.emit(.credentialsRenewed)
        }
        // A consumed body cannot be sent again; later requests use the new credentials.
        guard sent.body?.isConsumed != true else { return first }
        let replay = try await authorized()
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
                failure("The server refused the credentials, and refreshing them failed.", error))
        }
    }

    private static func failure(_ message: String, _ error: any Error) -> RequestError {
        if let error = error as? RequestError, error.code == .authenticationFailed { return error }
        return RequestError(
            .authenticationFailed, stage: .adapt, "\(message) See the underlying error.",
            underlying: error)
    }
}
