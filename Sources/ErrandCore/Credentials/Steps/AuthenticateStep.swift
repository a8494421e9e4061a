// Performance annotations: decisions 10 and 17.

import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Adds credentials to each request, and sends it once more after a 401 with refreshed credentials.
///
/// It runs inside `RedirectStep`, so that each redirect gets credentials for its own URL, which
/// Digest signs. After a redirect to another origin no credentials are added.
package final class AuthenticateStep: OptionalStep {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        Self.concerns(pipelineRequest)
    }

    private static func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        !pipelineRequest.task.configuration.servedHosts.isEmpty
            && pipelineRequest.task.description.uses.contains(.authenticators)
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard let authenticated = try Self.authenticated(pipelineRequest) else {
            return try await next(pipelineRequest)
        }
        let sent = try await authenticated.authorized()
        let first: Response
        do {
            first = try await authenticated.send(sent, next)
        } catch {
            guard let response = error.responseWithLostBody, response.status == .unauthorized else {
                throw error
            }
            return try await authenticated.resend(after: response, to: sent, next, loss: error)
        }
        guard first.status == .unauthorized else {
            authenticated.entry.authenticator.observe(first, to: sent)
            return first
        }
        return try await authenticated.resend(after: first, to: sent, next)
    }

    /// Identifies the credentials that the step will add to a request; `nil` if it adds none.
    static func identity(
        of pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> String? {
        guard concerns(pipelineRequest),
            let authenticated = try authenticated(pipelineRequest)
        else { return nil }
        return try await authenticated.identity()
    }

    /// The request with its authenticator; `nil` if none serves it.
    @inline(never)
    private static func authenticated(
        _ pipelineRequest: PipelineRequest
    ) throws(RequestError) -> AuthenticatedRequest? {
        let entries = pipelineRequest.configuration.servedHosts
        try check(entries)
        guard !pipelineRequest.hasLeftOrigin,
            !pipelineRequest.request.headers.contains(.authorization),
            let host = pipelineRequest.request.host,
            let entry = entries.first(where: { $0.pattern.matches(host) })
        else { return nil }
        switch CredentialOperation.kind(for: entry.refresher) {
        case nil: break
        case .refreshing: return nil
        case .providing:
            throw CredentialOperation.recursion(pipelineRequest.task.description.endpoint)
        }
        let scope = entry.authenticator.scope(of: pipelineRequest.request.url)
        // The round is read before the credentials. A refresh in between is then not missed: at
        // worst, the request is sent once more.
        return AuthenticatedRequest(
            pipelineRequest: pipelineRequest, entry: entry, scope: scope,
            round: entry.refresher.round(of: scope))
    }

    private static func check(_ entries: [ServedHosts]) throws(RequestError) {
        for entry in entries {
            try entry.pattern.check(in: "authenticators")
            guard let limit = entry.authenticator.refreshTimeout, limit <= .zero else { continue }
            throw RequestError(
                .invalidConfiguration, stage: .adapt,
                "The refreshTimeout of the authenticator for \(entry.pattern) is \(limit). Set more than zero, or "
                    + "nil for no limit.")
        }
    }
}

/// One request and its authenticator; a single reference keeps async frames small.
private final class AuthenticatedRequest: Sendable {
    let pipelineRequest: PipelineRequest
    let entry: ServedHosts
    private let scope: String
    private let round: Int

    init(pipelineRequest: PipelineRequest, entry: ServedHosts, scope: String, round: Int) {
        self.pipelineRequest = pipelineRequest
        self.entry = entry
        self.scope = scope
        self.round = round
    }

    /// The request with credentials.
    @inline(never)
    func authorized() async throws(RequestError) -> TransportRequest {
        var request = try await calling { [self] in
            var copy = pipelineRequest.request
            try await entry.authenticator.apply(to: &copy)
            if let credentials = pipelineRequest.cache.credentials {
                credentials.sent(authenticator: try await identity(of: copy))
            }
            return copy
        }
        try checkOrigin(of: request)
        try HeaderBuilder.checkHeaders(
            of: &request, changedFrom: pipelineRequest.request, by: "An authenticator")
        return request
    }

    /// The identity of the credentials before they are sent.
    func identity() async throws(RequestError) -> String? {
        try await calling { [self] in try await identity(of: nil) }
    }

    /// - Parameter sent: The request with credentials; `nil` applies them to a copy if necessary.
    private func identity(of sent: TransportRequest?) async throws -> String? {
        let request = pipelineRequest.request
        if let own = try await entry.authenticator.cacheIdentity(for: request.url) {
            return "=" + own
        }
        var copy = sent ?? request
        if sent == nil { try await entry.authenticator.apply(to: &copy) }
        return AddedCredentials.difference(of: copy, from: request)
    }

    /// Calls the authenticator in a Swift task that the request's scope cancels.
    private func calling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(RequestError) -> Value {
        let scope = pipelineRequest.scope
        let operation = CredentialOperation(entry.refresher)
        defer { operation.end() }
        do {
            return try await scope.run {
                try await CredentialOperation.$current.withValue(operation) { try await body() }
            }
        } catch {
            if scope.isCancelled, error is CancellationError { throw .cancelled }
            throw Self.failure(
                "The authenticator failed to provide credentials; nothing was sent.", error)
        }
    }

    /// Throws if the authenticator changed the origin, to which its credentials belong.
    private func checkOrigin(of request: TransportRequest) throws(RequestError) {
        guard !request.url.hasOrigin(of: pipelineRequest.request.url) else { return }
        throw RequestError(
            .invalidURL, stage: .adapt,
            "The authenticator for \(entry.pattern) changed the URL's scheme, host or port, to which its credentials "
                + "belong; nothing was sent. "
                + (request.url.problem
                    ?? "Change them in a request processor or in Configuration.prepare."))
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
    ///
    /// - Parameter loss: The error that ended the body of the refusal, which matters only if the request is not sent
    ///   again.
    @inline(never)
    func resend(
        after first: Response, to sent: TransportRequest, _ next: Next, loss: RequestError? = nil
    ) async throws(RequestError) -> Response {
        pipelineRequest.task.emit(.credentialsRefused(host: pipelineRequest.request.host ?? ""))
        switch try await refreshed(after: first, to: sent) {
        case .nothing:
            pipelineRequest.task.emit(.credentialsNotRenewed(nil))
            if let loss { throw loss }
            return first
        case .failed(var error):
            if error.isCancellation {
                // Says what the total limit has interrupted.
                error.underlying = CredentialOperation.interrupted
                throw error
            }
            pipelineRequest.task.emit(.credentialsNotRenewed(error))
            error.response = first
            throw error
        case .renewed: pipelineRequest.task.emit(.credentialsRenewed)
        }
        // A consumed body cannot be sent again; later requests use the new credentials.
        guard sent.body?.isConsumed != true else {
            if let loss { throw loss }
            return first
        }
        let replay = try await authorized()
        var second = try await send(replay, next)
        second.timings = first.timings + second.timings
        if second.status != .unauthorized { entry.authenticator.observe(second, to: replay) }
        return second
    }

    /// Waits for the refresh, without the permit: requests of the refresh may need it.
    @inline(never)
    private func refreshed(
        after first: Response, to sent: TransportRequest
    ) async throws(RequestError) -> RefreshOutcome {
        let refusal = CredentialRefresher.Refusal(
            scope: scope, round: round, clock: pipelineRequest.task.clock,
            refresh: { [entry] in await Self.refresh(entry.authenticator, after: first, to: sent) })
        var outcome = RefreshOutcome.nothing
        try await pipelineRequest.pausing(true) { () throws(RequestError) in
            outcome = await entry.refresher.outcome(
                of: refusal, cancelledWith: pipelineRequest.scope)
        }
        return outcome
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
