import ErrandSystem
import ErrandTransport

/// Uses stored responses if the cache policy allows it, and stores responses from the network.
///
/// The step runs outside validation, so that only validated responses are stored. A stored response is validated
/// again before use, because the validator may have become stricter. If the store fails, the request continues to the
/// network; only ``CachePolicy/cacheOnly`` reports the failure. Cache time and version decide about freshness, and
/// `Cache-Control` is ignored, except with ``CachePolicy/http`` (``HTTPCacheTransaction``).
package final class CacheStep: OptionalStep {
    package typealias Validation =
        @Sendable (Response, RequestDescription) throws(RequestError) -> Void

    private let writes: PendingCacheWrites
    let refresher: CacheRefresher
    let validate: Validation

    /// - Parameters:
    ///   - writes: The agent's queue of writes.
    ///   - refresher: Revalidates stored responses in the background.
    ///   - validate: The checks of `ValidateStep`.
    package init(
        writes: PendingCacheWrites, refresher: CacheRefresher = CacheRefresher(),
        validate: @escaping Validation
    ) {
        self.writes = writes
        self.refresher = refresher
        self.validate = validate
    }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        let task = pipelineRequest.task
        guard task.description.upgrade == nil else { return false }
        return task.description.cacheSeconds > 0 || task.description.ownCachePolicy != nil
            || task.configuration.cachePolicy != .cacheElseLoad
            || refresher.presence.isUsed
                && CacheInvalidation.mayChange(pipelineRequest.request.method)
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard var transaction = try transaction(pipelineRequest) else {
            return try await next(pipelineRequest)
        }
        if transaction.needsPreparation { transaction = try await transaction.prepared() }
        guard transaction.mayInvalidate else { return try await perform(transaction, next) }
        do {
            let response = try await perform(transaction, next)
            transaction.invalidate(after: response)
            return response
        } catch {
            // The server has performed the request, even if validation rejected its response, or if it redirected and
            // the target did not respond.
            transaction.invalidate(after: error.response)
            throw error
        }
    }

    private func perform(_ transaction: CacheTransaction, _ next: Next) async throws(RequestError)
        -> Response
    {
        switch transaction.rules.lookupPlan {
        case .http:
            guard let transaction = transaction.httpTransaction(refresher) else {
                return try await next(transaction.pipelineRequest)
            }
            return try await transaction.run(next)
        // `StoredThenLoadStep` has delivered the stored response.
        case .contradiction, .load, .lookUpThenLoad: return try await transaction.load(next)
        // The conditions refer to a copy that the caller has, as with `.http`.
        case .lookUpElseLoad
        where transaction.isForPart
            || RequestCacheControl.hasOwnConditions(transaction.pipelineRequest.request.headers):
            return try await transaction.load(next)
        case .lookUpElseLoad:
            if case .success(let response) = await transaction.lookUp(.fresh) {
                return response
            }
            return try await writes.loadOnce(transaction.leaseKey, in: transaction.entries.store) {
                try? await transaction.lookUp(.fresh, isFirst: false).get()
            } load: { () throws(RequestError) in
                try await transaction.load(next)
            }
        case .lookUpOnly:
            return try await transaction.lookUp(.accepted).get()
        case .loadElseLookUp:
            do {
                return try await transaction.load(next)
            } catch  where transaction.rules.fallsBack(after: error) {
                if case .success(let response) = await transaction.lookUp(.fallback) {
                    return response.used(after: error)
                }
                throw error
            }
        }
    }

    /// The transaction of a request; `nil` if there is no store and the policy needs none.
    func transaction(_ pipelineRequest: PipelineRequest) throws(RequestError)
        -> CacheTransaction?
    {
        let rules = CacheRules(pipelineRequest.task)
        guard let store = pipelineRequest.task.services.store else {
            if rules.lookupPlan == .lookUpOnly || rules.lookupPlan == .contradiction {
                throw .cacheMiss(
                    .noEntry,
                    "The cache policy .cacheOnly needs a response store. Create the agent with one."
                )
            }
            return nil
        }
        if rules.lookupPlan == .contradiction {
            throw RequestError(
                .invalidCombination, stage: .cache,
                "ignoresCache and the cache policy .cacheOnly exclude each other. Remove one of the two."
            )
        }
        let mayInvalidate =
            CacheInvalidation.mayChange(pipelineRequest.request.method)
            && (rules.policy == .http || refresher.presence.isUsed)
        return CacheTransaction(
            pipelineRequest: mayInvalidate
                ? pipelineRequest.changed { $0.unsafeHops = UnsafeHops() } : pipelineRequest,
            rules: rules,
            entries: CacheEntries(
                store: store, writes: writes,
                ticket: TaskID.ticket(of: pipelineRequest.task.id)),
            validate: validate, mayInvalidate: mayInvalidate)
    }
}

/// The cache operations of one request by cache time and version.
final class CacheTransaction: Sendable {
    let pipelineRequest: PipelineRequest
    let rules: CacheRules
    let entries: CacheEntries
    let validate: CacheStep.Validation
    /// Whether the request may invalidate stored responses (RFC 9111 §4.4).
    let mayInvalidate: Bool

    init(
        pipelineRequest: PipelineRequest, rules: CacheRules, entries: CacheEntries,
        validate: @escaping CacheStep.Validation, mayInvalidate: Bool
    ) {
        self.pipelineRequest = pipelineRequest
        self.rules = rules
        self.entries = entries
        self.validate = validate
        self.mayInvalidate = mayInvalidate
    }

    /// Whether the keys of the entries depend on credentials or on the store's key, which are not known yet.
    var needsPreparation: Bool {
        (rules.identity == nil || pipelineRequest.request.body != nil)
            && (mayInvalidate || usesEntries)
    }

    private var usesEntries: Bool {
        switch rules.lookupPlan {
        case .http:
            [.get, .head].contains(pipelineRequest.request.method)
                && pipelineRequest.request.body == nil
        case .load, .contradiction: rules.storesResponse
        case .loadElseLookUp, .lookUpElseLoad, .lookUpOnly, .lookUpThenLoad: rules.cacheSeconds > 0
        }
    }

    /// The transaction with the store's key for digests, of a request that records its credentials and those that
    /// later steps add.
    func prepared(isDigestNeeded: Bool? = nil) async throws(RequestError) -> CacheTransaction {
        var pipelineRequest = pipelineRequest
        if rules.identity == nil, pipelineRequest.cache.credentials == nil {
            pipelineRequest = try await pipelineRequest.recordingCredentials(
                isDigestNeeded: isDigestNeeded ?? usesEntries)
        }
        var entries = entries
        if mayInvalidate || pipelineRequest.request.body != nil
            || pipelineRequest.cache.credentials?.digest != nil
        {
            await entries.loadDigestKey()
        }
        return CacheTransaction(
            pipelineRequest: pipelineRequest, rules: rules, entries: entries, validate: validate,
            mayInvalidate: mayInvalidate)
    }

    var key: CacheKey? {
        cacheKey(for: pipelineRequest).map { entries.key($0, of: pipelineRequest) }
    }
    /// The key for leases of the store, if it grants any.
    var leaseKey: CacheKey? {
        rules.storesResponse && entries.store is any StoredResponse.FetchLeasing ? key : nil
    }

    /// The transaction for ``CachePolicy/http``; `nil` if the request bypasses the store.
    func httpTransaction(_ refresher: CacheRefresher) -> HTTPCacheTransaction? {
        HTTPCacheTransaction(
            pipelineRequest: pipelineRequest, rules: rules, entries: entries, refresher: refresher,
            validate: validate)
    }

    /// Removes the stored responses that the request invalidates (RFC 9111 §4.4).
    ///
    /// - Parameter response: The last response; `nil` if there is none, perhaps after redirects.
    func invalidate(after response: Response?) {
        let addresses = pipelineRequest.unsafeHops?.addresses(
            and: response, to: pipelineRequest.request.url)
        for address in addresses ?? [] {
            let keys = CacheKeyBuilder.httpKeys(for: address, identity: rules.identity)
            var digests: Set<String?> = [nil]
            if rules.identity == nil, let credentials = pipelineRequest.cache.credentials {
                // The response may have changed cookies, and other paths have other cookies.
                let cookies = CookieStep.cookies(for: address, pipelineRequest.task)
                digests.formUnion([credentials.digest, credentials.digest(cookies: cookies)])
            }
            for key in keys {
                for key in digests.map({ entries.key(key, credentials: $0) }) {
                    entries.remove(key)
                    entries.remove(key.ofPart)
                }
            }
        }
    }

    /// Sends the request and stores its response.
    func load(_ next: Next) async throws(RequestError) -> Response {
        let response = try await next(pipelineRequest)
        // A 304 has no content; a later request may need some.
        if rules.storesResponse, response.source == .network, response.statusCode != 304,
            !isPart(response)
        {
            await entries.whenComplete(response, pipelineRequest) { await self.store($0) }
        }
        return response
    }

    /// Whether the request has a `Range`: the key has none, so the store is neither read nor written.
    var isForPart: Bool { pipelineRequest.request.headers.has(.range) }

    /// Whether a response is, or may be, a part of the representation, which must not be used for the whole of it
    /// (RFC 9111 §3.3).
    func isPart(_ response: Response) -> Bool { response.statusCode == 206 || isForPart }

    private func store(_ response: Response) async {
        guard !pipelineRequest.hasChangedUser else { return entries.refuse(pipelineRequest) }
        guard let chosen = entries.responseToStore(response, pipelineRequest),
            let (entry, key) = made(chosen)
        else { return }
        pipelineRequest.task.keep { [entries] in entries.remove(key) }
        await entries.write(entry, for: key, pipelineRequest)
    }

    /// The entry of a response; `nil` if the request has no key, or the body is a file.
    func made(_ response: Response) -> (entry: StoredResponse, key: CacheKey)? {
        guard let key else { return refuse(.noKey) }
        let entry = StoredResponse(
            response, rules: rules, tag: pipelineRequest.description.tag,
            storedAt: pipelineRequest.task.clock.now)
        return entry.map { ($0, key) } ?? refuse(.isFile)
    }

    private func refuse(
        _ reason: RequestEvent.StoreRefusal
    ) -> (entry: StoredResponse, key: CacheKey)? {
        pipelineRequest.task.emit(.cacheNotStored(reason))
        return nil
    }

    /// The age of entries that a lookup accepts.
    enum Lookup: Sendable {
        /// Fresh entries.
        case fresh
        /// Fresh entries, and stale ones that the policy accepts without the network.
        case accepted
        /// Entries of any age, because the network has failed.
        case fallback
    }

    /// Looks up a stored response and emits a hit or a miss.
    func lookUp(
        _ lookup: Lookup, isFirst: Bool = true
    ) async -> Result<Response, RequestError> {
        switch await search(lookup) {
        case .found(let response, let age):
            entries.hit(age: age, response.source, pipelineRequest.task)
            return .success(response)
        case .missed(let reason, let cause):
            if isFirst { entries.missed(reason, pipelineRequest.task) }
            var error = cause ?? .cacheMiss(reason)
            error.cacheMiss = reason
            return .failure(error)
        }
    }

    private enum Finding {
        case found(Response, age: Duration)
        case missed(CacheMissReason, RequestError?)
    }

    private func search(_ lookup: Lookup) async -> Finding {
        // Checked before the key is computed: most requests are not cached, and the digest costs time.
        guard rules.cacheSeconds > 0 else { return .missed(.invalidCacheTime, nil) }
        guard !isForPart else { return .missed(.noEntry, nil) }
        guard let key else {
            let message =
                "A request with a file or stream body has no cache key. Use another cache policy."
            return .missed(.noEntry, .cacheMiss(.noEntry, message))
        }
        let entry: StoredResponse?
        do throws(RequestError) {
            entry = try await entries.read(key, pipelineRequest.task)
        } catch {
            return .missed(error.cacheMiss ?? .storeFailed, error)
        }
        let acceptance: StaleAcceptance =
            switch lookup {
            case .fresh: .within(.zero)
            case .accepted: rules.staleAcceptance
            case .fallback: .anyAge
            }
        let now = pipelineRequest.task.clock.now
        switch rules.decide(entry, now: now, accepting: acceptance) {
        case .miss(let reason): return .missed(reason, nil)
        case .hit(let age):
            let isFresh = lookup != .fallback && rules.isFresh(age: age)
            return validated(
                entry, age: age, source: isFresh ? .cacheFresh : .cacheStale, key: key)
        }
    }

    /// Validates a stored response; removes the entry if it is invalid.
    private func validated(
        _ entry: StoredResponse?, age: Duration, source: Response.Source, key: CacheKey
    ) -> Finding {
        guard
            let response = entry?.response(
                to: pipelineRequest.request.url, source: source, age: age)
        else {
            entries.remove(key)
            return .missed(.invalidData, nil)
        }
        do throws(RequestError) {
            try validate(response, pipelineRequest.description)
        } catch {
            entries.remove(key)
            let reason: CacheMissReason =
                error.code == .undecodable ? .invalidData : .rejectedByValidator
            var miss = RequestError.cacheMiss(reason)
            miss.underlying = error
            return .missed(reason, miss)
        }
        pipelineRequest.task.keep { [entries] in entries.remove(key) }
        return .found(response, age: age)
    }
}
