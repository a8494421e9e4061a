import ErrandSystem
import ErrandTransport
import HTTPTypes
import Synchronization

/// Handles a request that is identical to one in progress, according to the duplicate policy.
///
/// Requests with the policy `.allow` are neither tracked nor joined.
package final class CoalesceStep: OptionalStep {
    private let sharedTransfers: SharedTransferTable
    private let queue = Mutex<SerialRequestQueue<CoalescingKey>?>(nil)
    private let streams = StreamDuplicates()

    init(sharedTransfers: SharedTransferTable) { self.sharedTransfers = sharedTransfers }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        pipelineRequest.task.description.sending.duplicates != .allow
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let policy = pipelineRequest.description.sending.duplicates
        guard let key = CoalescingKey(pipelineRequest) else {
            return try await next(pipelineRequest)
        }
        if pipelineRequest.description.isStreamed {
            return try await streams.run(pipelineRequest, key, next)
        }
        let pipelineRequest = try await pipelineRequest.recordingCredentials(isDigestNeeded: true)
        let new = SharedTransfer(
            leader: pipelineRequest.task, credentials: pipelineRequest.cache.credentials?.digest)
        switch policy {
        case .allow: return try await next(pipelineRequest)
        case .cancelPrevious: sharedTransfers.replace(key, with: new)?.cancel()
        case .queue:
            return try await queued(key, new, pipelineRequest, next)
        case .reject:
            guard sharedTransfers.add(key, new) else {
                new.leave(SharedTransfer.leaderID)
                throw Self.duplicate(pipelineRequest)
            }
        case .join:
            if let (sharedTransfer, id) = sharedTransfers.join(
                key, as: pipelineRequest.task, orAdd: new)
            {
                return try await follow(sharedTransfer, as: id, pipelineRequest)
            }
        }
        return try await lead(new, key: key, pipelineRequest: pipelineRequest, next: next)
    }

    private func lead(
        _ sharedTransfer: SharedTransfer, key: CoalescingKey, pipelineRequest: PipelineRequest,
        next: Next
    ) async throws(RequestError) -> Response {
        // The transfer has its own task: it continues if the request that started it is cancelled or suspended.
        var own = pipelineRequest
        own.task = RequestTask(sharedTransfer: sharedTransfer, of: pipelineRequest.task)
        own.scope = own.task.scope
        sharedTransfer.run(own.task) { [own] in
            Task {
                let result: SharedTransfer.Outcome
                do throws(RequestError) {
                    result = .success(try await next(own))
                } catch {
                    result = .failure(error)
                }
                // Removed from the table first, so that no request finds an ended transfer.
                sharedTransfers.remove(key, sharedTransfer)
                sharedTransfer.finish(result)
            }
        }
        return try await outcomeForMember(
            sharedTransfer, as: SharedTransfer.leaderID, pipelineRequest.scope)
    }

    /// Waits until earlier requests with the same key have ended, then starts a transfer.
    private func queued(
        _ key: CoalescingKey, _ new: SharedTransfer, _ pipelineRequest: PipelineRequest,
        _ next: Next
    ) async throws(RequestError) -> Response {
        let queue = queue.withLock { $0.whenNeeded() }
        let clock = pipelineRequest.task.clock
        let startedAt = clock.uptime
        var waited = false
        let ticket = TaskID.ticket(of: pipelineRequest.task.id)
        let isAdmitted = await queue.enter(key, ticket: ticket, pipelineRequest.scope) {
            waited = true
            pipelineRequest.task.emit(.queued)
        }
        guard isAdmitted else {
            new.leave(SharedTransfer.leaderID)
            throw .cancelled
        }
        defer { queue.leave(key) }
        try pipelineRequest.scope.check()
        // Requests with another policy, or requests that joined the transfer of an ended one, may be in progress.
        while !sharedTransfers.add(key, new) {
            if !waited { pipelineRequest.task.emit(.queued) }
            waited = true
            await sharedTransfers.sharedTransfer(of: key)?.watch(pipelineRequest.scope)
            guard pipelineRequest.scope.isCancelled else { continue }
            new.leave(SharedTransfer.leaderID)
            throw .cancelled
        }
        if waited { pipelineRequest.task.emit(.dequeued(after: clock.uptime - startedAt)) }
        return try await lead(new, key: key, pipelineRequest: pipelineRequest, next: next)
    }

    private func follow(
        _ sharedTransfer: SharedTransfer, as id: Int, _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        pipelineRequest.task.emit(.joined)
        let response: Response
        do throws(RequestError) {
            response = try await outcomeForMember(sharedTransfer, as: id, pipelineRequest.scope)
        } catch {
            // This endpoint may accept a response that another endpoint has rejected. A rejected download has no file.
            guard error.isValidationFailure, !pipelineRequest.description.isDownload,
                let refused = error.response
            else {
                var error = error
                error.endpoint = pipelineRequest.description.endpoint
                throw error
            }
            response = refused.using(pipelineRequest.description.jsonDecoder)
        }
        // The validation rules of this endpoint may differ.
        try ResponseValidation.check(response, description: pipelineRequest.description)
        return response
    }

    /// Waits for the outcome, then leaves.
    ///
    /// If the last request leaves early, it also waits for the end of the cancelled transfer, so that the transfer
    /// writes nothing after the request has ended.
    private func outcomeForMember(
        _ sharedTransfer: SharedTransfer, as id: Int, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        let outcome = await sharedTransfer.wait(as: id, scope)
        await sharedTransfer.leave(id)?.value
        return try outcome.get()
    }

    static func duplicate(_ pipelineRequest: PipelineRequest) -> RequestError {
        RequestError(
            .duplicate, stage: .schedule,
            "An identical \(pipelineRequest.description.endpoint) is in progress, and sending.duplicates is "
                + ".reject. Wait for its end, or use .join.")
    }
}

/// Decides which requests in progress are identical: cache key, all headers, download plan, transport options,
/// redirect rules, sources of credentials and cookies, and cache rules.
///
/// It is stricter than the cache key: requests share a response only if credentials, trust and redirects are equal.
struct CoalescingKey: Hashable, Sendable {
    private let request: CacheKey
    private let options: TransportOptions
    private let redirectPolicy: RedirectPolicy
    /// Credentials and cookies are added in later steps; until then, their sources are compared.
    private let authenticators: [HostPattern: ObjectIdentifier]
    private let cookieJar: ObjectIdentifier?
    private let cacheRules: CacheRules
    private let decider: Decider?

    /// A redirect decider: it belongs to a configuration and may depend on the endpoint.
    private struct Decider: Hashable {
        let configuration: ObjectIdentifier
        let endpoint: String
    }

    /// The key of a request; `nil` for a body that cannot be compared.
    init?(_ pipelineRequest: PipelineRequest) {
        guard let key = cacheKey(for: pipelineRequest) else { return nil }
        var hash = SHA256()
        func add(_ text: String) { hash.update(Data((text + "\n").utf8)) }
        for field in pipelineRequest.request.headers {
            add(field.name.canonicalName + ":" + field.receivedText)
        }
        if let plan = pipelineRequest.description.download { add(plan.sharingKey) }
        // A redirect target inherits the fragment (RFC 9110 §10.2.2).
        add(RedirectStep.ownFragment(of: pipelineRequest.description) ?? "")
        request = CacheKey(canonical: key.canonical + "\n" + hash.finalizeHex())
        // Includes the endpoint's `sending.transport`, `sending.security` and `uses`.
        options = pipelineRequest.request.options
        redirectPolicy =
            pipelineRequest.description.sending.redirects
            ?? pipelineRequest.configuration.redirectPolicy
        // The shared transfer retains the configuration, so these object identifiers stay unique.
        // A request that an authenticator sends must not join one that waits for this authenticator.
        var authenticators: [HostPattern: ObjectIdentifier] = [:]
        if pipelineRequest.description.uses.contains(.authenticators) {
            for entry in pipelineRequest.configuration.servedHosts
            where CredentialOperation.kind(for: entry.refresher) == nil {
                authenticators[entry.pattern] = ObjectIdentifier(entry.refresher)
            }
        }
        self.authenticators = authenticators
        cookieJar = CookieStep.jar(of: pipelineRequest.task).map { ObjectIdentifier($0) }
        var rules = CacheRules(pipelineRequest.task)
        rules.cacheSeconds = max(0, rules.cacheSeconds)
        cacheRules = rules
        decider =
            pipelineRequest.configuration.redirectDecider == nil
            ? nil
            : Decider(
                configuration: ObjectIdentifier(pipelineRequest.task.sharedConfiguration),
                endpoint: pipelineRequest.description.endpoint)
    }
}
