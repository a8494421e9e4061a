import ErrandSystem
import ErrandTransport
import HTTPTypes

/// The cache operations of one request according to RFC 9111, for ``CachePolicy/http``.
final class HTTPCacheTransaction: Sendable {
    let pipelineRequest: PipelineRequest
    let rules: CacheRules
    let entries: CacheEntries
    let refresher: CacheRefresher
    private let validate: CacheStep.Validation
    /// The request headers including cookies, because `Vary` may name `Cookie`.
    let headers: HTTPFields
    let requestControl: RequestCacheControl
    let key: CacheKey

    var task: RequestTask { pipelineRequest.task }
    var settings: CachePolicy.HTTPSettings { pipelineRequest.configuration.httpCache }

    /// `nil` if the request bypasses the store; then nothing is looked up, recorded or hashed.
    init?(
        pipelineRequest: PipelineRequest, rules: CacheRules, entries: CacheEntries,
        refresher: CacheRefresher,
        validate: @escaping CacheStep.Validation
    ) {
        let request = pipelineRequest.request
        requestControl = RequestCacheControl(request.headers)
        guard request.method == .get || request.method == .head, request.body == nil,
            !rules.isDownload, !RequestCacheControl.hasOwnConditions(request.headers),
            !requestControl.bypassesStore
        else { return nil }
        self.pipelineRequest = pipelineRequest
        self.rules = rules
        self.entries = entries
        self.refresher = refresher
        self.validate = validate
        headers = CookieStep.headersWithCookies(pipelineRequest)
        key = entries.key(
            CacheKeyBuilder.httpKey(
                for: pipelineRequest.adaptation.keyURL ?? request.url, request,
                identity: rules.identity),
            of: pipelineRequest)
    }

    /// Returns a stored response if it may be used; otherwise sends the request.
    func run(_ next: Next) async throws(RequestError) -> Response {
        refresher.presence.note()
        if headers.has(.range) { return try await partialResponse(next) }
        let found = rules.ignoresCache ? nil : await lookUp()
        guard let found else {
            if requestControl.isOnlyIfCached { return try gatewayTimeout(.noEntry) }
            return try await load(next, found: nil)
        }
        if found.entry.isRedirect { return try await follow(found, next) }
        let control = CacheControl(found.entry.headers)
        let strategy = CacheStrategy.decide(
            found.entry, control, requestControl, now: task.clock.now, settings: settings)
        // A background revalidation is unnecessary if the entry has become fresh since it was started.
        if pipelineRequest.description.isBackgroundRevalidation, !strategy.isFresh {
            return try await load(next, found: found)
        }
        // `StoredThenLoadStep` has delivered the stored response, which is now revalidated at any age.
        if task.deliversStored, !requestControl.isOnlyIfCached {
            return try await load(next, found: found)
        }
        switch strategy {
        case .fresh(let age):
            if let response = validated(found, .cacheFresh, age, control) { return response }
        case .stale(let age):
            if let response = validated(found, .cacheStale, age, control) { return response }
        // A revalidation in the background would read a large body into memory.
        case .staleWhileRevalidate(let age) where found.entry.largeBody == nil:
            if let response = validated(found, .cacheStale, age, control) {
                if !requestControl.isOnlyIfCached {
                    refresher.refresh(found.key, pipelineRequest.description)
                }
                return response
            }
        case .revalidate, .staleWhileRevalidate:
            if requestControl.isOnlyIfCached, let response = staleResponse(found) {
                return response
            }
            entries.missed(.expired, task)
            if requestControl.isOnlyIfCached { return try gatewayTimeout(.expired) }
            return try await load(next, found: found)
        }
        // The stored response no longer passes validation.
        if requestControl.isOnlyIfCached { return try gatewayTimeout(.rejectedByValidator) }
        return try await load(next, found: nil)
    }

    /// The result of a request that may use the store only, if the store has no response to use: status 504 (RFC 9111
    /// §5.2.1.7).
    ///
    /// - Throws: ``RequestError/Code/cacheMiss`` with this response, unless the endpoint accepts the status.
    func gatewayTimeout(_ reason: CacheMissReason) throws(RequestError) -> Response {
        let response = Response(
            status: .gatewayTimeout, headers: [:], body: .data(Data()),
            url: pipelineRequest.request.url, source: .cacheStale, attempts: 0)
        do throws(RequestError) {
            try validate(response, pipelineRequest.description)
            return response
        } catch {
            var miss = RequestError.cacheMiss(reason)
            miss.response = response
            throw miss
        }
    }

    /// Serves a range of a stored response that is fresh; otherwise sends the request and stores the part.
    private func partialResponse(_ next: Next) async throws(RequestError) -> Response {
        let isGet = pipelineRequest.request.method == .get
        if isGet, !rules.ignoresCache {
            if let response = await storedPart() { return response }
            if let found = await lookUp(),
                // A range refers to encoded bytes, and stored bodies are decoded.
                found.entry.status == 200, found.entry.hasNoCoding,
                let field = headers[.range],
                let range = ByteRange.within(field, count: found.entry.bodyCount),
                case .fresh(let age) = CacheStrategy.decide(
                    found.entry, requestHeaders: headers, now: task.clock.now, settings: settings
                ),
                let response = validated(found, .cacheFresh, age, range: range)
            {
                return response
            }
        }
        if requestControl.isOnlyIfCached { return try gatewayTimeout(.noEntry) }
        let beganAt = task.clock.now
        let response = try await next(pipelineRequest)
        if isGet {
            await storePart(of: response, requestedAt: requestTime(of: response, since: beganAt))
        }
        return response
    }

    // MARK: - Lookup

    /// A stored response that matches the request.
    struct Found: Sendable {
        var key: CacheKey
        var entry: StoredResponse
    }

    func lookUp() async -> Found? {
        do throws(RequestError) {
            guard let first = try await entries.read(key, task) else { return missed(.noEntry) }
            guard let index = VariantIndex(first) else {
                return usable(Found(key: key, entry: first))
            }
            var best: Found?
            for fields in index.lists {
                let variant = await variantKey(index, fields)
                guard let entry = try await entries.read(variant, task) else { continue }
                // The most recent of several matching responses is used (RFC 9111 §4.1).
                if let best, best.entry.storedAt >= entry.storedAt { continue }
                best = Found(key: variant, entry: entry)
            }
            return best.map { usable($0) } ?? missed(.noEntry)
        } catch {
            return missed(error.cacheMiss ?? .storeFailed)
        }
    }

    private func usable(_ found: Found) -> Found? {
        if let mismatch = rules.mismatch(found.entry) { return missed(mismatch) }
        return found
    }

    private func missed(_ reason: CacheMissReason) -> Found? {
        entries.missed(reason, task)
        return nil
    }

    private func variantKey(_ index: VariantIndex, _ fields: VaryingFields) async -> CacheKey {
        let chosen = fields.digest(
            of: headers, key: await entries.writes.digestKey(of: entries.store))
        return CacheKey(canonical: "\(key.canonical)\n\(index.generation)\n\(chosen)")
    }

    /// The response of an entry, with the fields that a cache adds and without those that it must not use.
    ///
    /// - Parameter control: The directives of the entry.
    func response(
        of found: Found, _ source: Response.Source, _ age: Duration, _ control: CacheControl
    ) -> Response? {
        let hidden = control.fieldsToRevalidate
        return found.entry.response(to: pipelineRequest.request.url, source: source, age: age) {
            // A response from a cache has an `Age` field (RFC 9111 §5.1).
            let seconds = String(max(0, min(age.components.seconds, 2_147_483_648)))
            if $0.has(.age) {
                $0[.age] = seconds
            } else {
                $0.append(HTTPField(name: .age, value: seconds))
            }
            // Both numbers are the server's: one pass, and not a removal for each name.
            if !hidden.isEmpty { $0 = HTTPFields($0.filter { !hidden.contains($0.name) }) }
        }
    }

    /// Validates a stored response for use; removes the entry and returns `nil` if it is invalid.
    ///
    /// - Parameter control: The directives of the entry, if they are known already.
    func validated(
        _ found: Found, _ source: Response.Source, _ age: Duration, _ control: CacheControl? = nil,
        range: Range<Int>? = nil
    ) -> Response? {
        let control = control ?? CacheControl(found.entry.headers)
        guard var response = response(of: found, source, age, control) else {
            entries.remove(found.key)
            entries.missed(.invalidData, task)
            return nil
        }
        if pipelineRequest.request.method == .head { response.body = .data(Data()) }
        if let range { response.narrow(to: range) }
        do throws(RequestError) {
            try validate(response, pipelineRequest.description)
        } catch {
            entries.remove(found.key)
            entries.missed(.rejectedByValidator, task)
            return nil
        }
        task.keep { [entries, key = found.key] in entries.remove(key) }
        entries.hit(age: age, source, task)
        return response
    }

    // MARK: - Loading

    /// Sends the request, as a conditional request if the stored response has a validator.
    func load(_ next: Next, found: Found?) async throws(RequestError) -> Response {
        let beganAt = task.clock.now
        let conditions = found.map { Revalidation.conditions(for: $0.entry) } ?? [:]
        let isConditional = !conditions.isEmpty && pipelineRequest.request.method == .get
        let redirects = CachedRedirects { await self.storeRedirect($0, since: beganAt) }
        let outgoing = pipelineRequest.changed {
            $0.cache.redirects = redirects
            guard isConditional else { return }
            $0.request.headers.append(contentsOf: conditions)
            $0.cache.isRevalidation = true
        }
        let response: Response
        do {
            response = try await next(outgoing)
        } catch {
            if let found, let response = staleResponse(after: error, found) { return response }
            throw error
        }
        // The response of another URL; the stored redirect has replaced the entry.
        if redirects.isStored { return response }
        let requestedAt = requestTime(of: response, since: beganAt)
        if let found, CacheRules.isFailure(response.statusCode),
            let response = staleResponse(after: nil, found)
        {
            return response
        }
        guard let found, isConditional, response.status == 304 else {
            let times = (requestedAt, task.clock.now)
            // `store` checks a complete response itself.
            guard response.channel != nil, mayStore(response, receivedAt: times.1) else {
                await store(response, times, replacing: found)
                return response
            }
            await entries.whenComplete(response, pipelineRequest) {
                await self.store($0, times, replacing: found)
            }
            return response
        }
        if let confirmed = await confirmed(found, by: response, requestedAt: requestedAt) {
            return confirmed
        }
        // The 304 selects another response, or the confirmed response no longer passes validation.
        entries.remove(found.key)
        return try await load(next, found: nil)
    }

    /// The time at which the request of a response was sent; queueing and failed attempts add no age.
    func requestTime(of response: Response, since began: Date) -> Date {
        guard let took = response.timings.last?.finished else { return began }
        return max(began, task.clock.now - took / .seconds(1))
    }

    /// The stored response, if it may replace an error, or a failure status that the endpoint accepts (RFC 5861 §4).
    private func staleResponse(after error: RequestError?, _ found: Found) -> Response? {
        guard error.map({ rules.fallsBack(after: $0) }) ?? true,
            let age = CacheStrategy.ageForStaleIfError(
                found.entry, requestHeaders: headers, now: task.clock.now, settings: settings)
        else { return nil }
        return validated(found, .cacheStale, age)?.used(after: error)
    }

    /// The stored response, updated by a 304 (RFC 9111 §4.3.4).
    private func confirmed(
        _ found: Found, by response: Response, requestedAt: Date
    ) async -> Response? {
        guard isForRequestedURL(response),
            let entry = Revalidation.confirmed(
                found.entry, by: response.headers, requestedAt: requestedAt,
                receivedAt: task.clock.now, keepsCookies: keepsCookies),
            var updated = entry.response(to: pipelineRequest.request.url, source: .revalidated)
        else { return nil }
        do throws(RequestError) {
            try validate(updated, pipelineRequest.description)
        } catch {
            return nil
        }
        // Cookies that are not stored belong to this exchange, as those of a 200 do.
        let cookies = response.headers[fields: .setCookie]
        if !cookies.isEmpty { updated.headers[fields: .setCookie] = cookies }
        updated.attempts = response.attempts
        updated.timings = response.timings
        updated.httpVersion = response.httpVersion
        updated.remoteAddress = response.remoteAddress
        task.keep { [entries, key = found.key] in entries.remove(key) }
        entries.hit(age: .zero, .revalidated, task)
        await entries.whenRead(updated) { await self.replace(found, by: entry) }
        return updated
    }

    /// Whether a response belongs to the requested URL, not to a redirect target.
    func isForRequestedURL(_ response: Response) -> Bool {
        var url = response.url
        url.fragment = nil
        return url == pipelineRequest.request.url
    }

    // MARK: - Storing

    /// Whether an entry has the cookies of a response: its key is bound to the user to whom the server sent them.
    var keepsCookies: Bool {
        (rules.identity != nil || pipelineRequest.cache.credentials?.digest != nil)
            && !pipelineRequest.hasChangedUser
    }

    func mayStore(_ response: Response, receivedAt: Date) -> Bool {
        response.source == .network && isForRequestedURL(response)
            && pipelineRequest.request.method == .get
            && HTTPCacheStorage.mayStore(
                status: response.statusCode, headers: response.headers, requestHeaders: headers,
                receivedAt: receivedAt, settings: settings)
    }

    func store(
        _ response: Response, _ times: (requestedAt: Date, receivedAt: Date),
        replacing found: Found?
    ) async {
        guard pipelineRequest.request.method == .get else {
            if let found { await freshen(found, by: response, requestedAt: times.requestedAt) }
            return
        }
        guard checkStorable(response, receivedAt: times.receivedAt),
            let chosen = entries.responseToStore(response, pipelineRequest),
            var entry = StoredResponse(
                chosen, rules: rules, tag: pipelineRequest.description.tag,
                storedAt: times.receivedAt)
        else {
            // A newer response that must not be stored still replaces the old one, unless the server failed.
            if let found, response.statusCode < 500 { entries.remove(found.key) }
            return
        }
        entry.headers = HTTPCacheStorage.stored(
            chosen.headersToStore, requestedAt: times.requestedAt, receivedAt: times.receivedAt,
            keepsCookies: keepsCookies)
        entry.setExpiry(settings)
        guard !pipelineRequest.hasChangedUser else { return entries.refuse(pipelineRequest) }
        let fields = VaryingFields(response.headers)
        let storageKey = await storageKey(for: fields, like: entry)
        guard let entryKey = storageKey else { return refuseVariant() }
        task.keep { [entries] in entries.remove(entryKey) }
        await entries.write(entry, for: entryKey, pipelineRequest)
    }

    /// Updates the stored response to a `GET` by the response to a `HEAD` (RFC 9111 §4.3.5).
    private func freshen(
        _ found: Found, by response: Response, requestedAt: Date
    ) async {
        guard response.source == .network, isForRequestedURL(response), response.status == 200
        else { return }
        let freshening = Revalidation.freshened(
            found.entry, byHead: response.headers, requestedAt: requestedAt,
            receivedAt: task.clock.now, keepsCookies: keepsCookies)
        switch freshening {
        case .updated(let entry): await replace(found, by: entry)
        case .outdated: entries.remove(found.key)
        case .unknown: break
        }
    }

    /// Writes an updated entry; removes it if the update forbids to store it, or to find it under its key.
    ///
    /// `no-store` applies to the updated response as to any other (RFC 9111 §3, §5.2.2.5). With another `Vary`, the
    /// entry would be selected for requests that the server distinguishes (§4.1).
    private func replace(_ found: Found, by updated: StoredResponse) async {
        guard !pipelineRequest.hasChangedUser else { return entries.refuse(pipelineRequest) }
        let mayStay =
            VaryingFields(updated.headers) == VaryingFields(found.entry.headers)
            && HTTPCacheStorage.mayStore(
                status: updated.status, headers: updated.headers, requestHeaders: headers,
                receivedAt: updated.storedAt, settings: settings)
        guard mayStay else {
            task.emit(.cacheNotStored(.notAllowed))
            return entries.remove(found.key)
        }
        var updated = updated
        updated.setExpiry(settings)
        await entries.write(updated, for: found.key, pipelineRequest)
    }

    /// The key to store a response under: that of the URL, or of a variant; `nil` if the variant is unknown.
    func storageKey(for fields: VaryingFields, like entry: StoredResponse) async
        -> CacheKey?
    {
        if fields.names.isEmpty { return key }
        // An authenticator adds `Authorization` in a later step, so its variants cannot be distinguished here.
        let isHidden =
            fields.names.contains { $0 == "authorization" } && !headers.contains(.authorization)
        guard !isHidden else { return nil }
        let existing = (try? await entries.read(key, task)) ?? nil
        var index: VariantIndex
        if var known = existing.flatMap({ VariantIndex($0) }) {
            guard known.note(fields) else { return await variantKey(known, fields) }
            index = known
        } else {
            index = VariantIndex(fields)
        }
        var indexEntry = entry
        indexEntry.status = VariantIndex.status
        indexEntry.headers = [:]
        (indexEntry.body, indexEntry.largeBody) = (index.body, nil)
        // The variants have lifetimes of their own.
        indexEntry.expiresAt = nil
        entries.put(indexEntry, for: key)
        return await variantKey(index, fields)
    }
}
