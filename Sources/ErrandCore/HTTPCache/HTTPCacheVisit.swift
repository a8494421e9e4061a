import Foundation
import HTTPTypes

/// One exchange and the store, by RFC 9111: what ``CachePolicy/http`` does.
final class HTTPCacheVisit: Sendable {
    private let exchange: Exchange
    private let rules: CacheRules
    private let entries: CacheEntries
    private let refresher: CacheRefresher
    private let validate: CacheStep.Validation
    /// The request's headers with the cookies that it will have: `Vary` may name them.
    private let headers: HTTPFields
    private let asked: RequestCacheControl
    private let key: CacheKey

    private var context: TaskContext { exchange.context }
    private var settings: HTTPCacheSettings { exchange.configuration.httpCache }

    /// `nil` where the store has no say in the request: nothing is looked up, counted or hashed for it.
    init?(
        exchange: Exchange, rules: CacheRules, entries: CacheEntries, refresher: CacheRefresher,
        validate: @escaping CacheStep.Validation
    ) {
        let request = exchange.request
        asked = RequestCacheControl(request.headers)
        guard request.method == .get || request.method == .head, request.body == nil,
            !rules.isDownload, !RequestCacheControl.hasOwnConditions(request.headers),
            !asked.bypasses
        else { return nil }
        self.exchange = exchange
        self.rules = rules
        self.entries = entries
        self.refresher = refresher
        self.validate = validate
        headers = CookieStep.headersWithCookies(exchange)
        key = CacheKeyBuilder.httpKey(
            for: exchange.countingURL ?? request.url, request,
            identity: rules.identity)
    }

    /// A stored answer where it may answer, else the network.
    func answer(_ next: Next) async throws(RequestError) -> Response {
        refresher.use.note()
        if headers.contains(.range) { return try await part(next) }
        let found = rules.ignoresCache ? nil : await lookUp()
        guard let found else {
            if asked.isOnlyIfCached { throw .cacheMiss(.noEntry) }
            return try await load(next, found: nil)
        }
        let reuse = HTTPReuse.decide(
            found.entry, requestHeaders: headers, now: context.clock.now, settings: settings)
        // Somebody else may have renewed it since this was decided.
        if exchange.description.renewsStored, !reuse.isFresh {
            return try await load(next, found: found)
        }
        switch reuse {
        case .fresh(let age):
            if let response = judged(found, .cacheFresh, age) { return response }
        case .stale(let age):
            if let response = judged(found, .cacheStale, age) { return response }
        case .staleWhileRevalidate(let age):
            if let response = judged(found, .cacheStale, age) {
                if !asked.isOnlyIfCached { refresher.renew(found.key, exchange.description) }
                return response
            }
        case .revalidate:
            context.emit(.cacheMiss(.expired))
            if asked.isOnlyIfCached { throw .cacheMiss(.expired) }
            return try await load(next, found: found)
        }
        // It was there, and does not pass the validator any more.
        if asked.isOnlyIfCached { throw .cacheMiss(.rejectedByValidator) }
        return try await load(next, found: nil)
    }

    /// A part of what is stored, where that is whole and fresh; else the server's, which is not kept.
    private func part(_ next: Next) async throws(RequestError) -> Response {
        if !rules.ignoresCache, exchange.request.method == .get, let found = await lookUp(),
            // Ranges count the bytes that were sent, not those that they were unpacked to.
            found.entry.status == 200, !found.entry.headers.contains(.contentEncoding),
            let field = headers[.range],
            let range = ByteRange.within(field, count: found.entry.body.count),
            case .fresh(let age) = HTTPReuse.decide(
                found.entry, requestHeaders: headers, now: context.clock.now, settings: settings),
            let response = judged(found, .cacheFresh, age, part: range)
        {
            return response
        }
        if asked.isOnlyIfCached { throw .cacheMiss(.noEntry) }
        return try await next(exchange)
    }

    // MARK: - Looking

    /// An answer of the store that was made for a request like this one.
    struct Found: Sendable {
        var key: CacheKey
        var entry: StoredResponse
    }

    private func lookUp() async -> Found? {
        do throws(RequestError) {
            guard let first = try await entries.read(key) else { return missed(.noEntry) }
            guard let index = VariantIndex(first) else {
                return usable(Found(key: key, entry: first))
            }
            var best: Found?
            for fields in index.lists {
                let variant = variantKey(index, fields)
                guard let entry = try await entries.read(variant) else { continue }
                // Of several the one that came last (RFC 9111 §4.1).
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
        context.emit(.cacheMiss(reason))
        return nil
    }

    private func variantKey(_ index: VariantIndex, _ fields: VaryingFields) -> CacheKey {
        let chosen = fields.digest(of: headers)
        return CacheKey(canonical: "\(key.canonical)\n\(index.generation)\n\(chosen)")
    }

    // MARK: - Answering

    /// What was found as an answer; `nil` when it passes no more, and then it is gone.
    private func judged(
        _ found: Found, _ source: Response.Source, _ age: Duration, part: Range<Int>? = nil
    ) -> Response? {
        guard var response = found.entry.response(to: exchange.request.url, source: source) else {
            entries.remove(found.key)
            context.emit(.cacheMiss(.invalidData))
            return nil
        }
        // Whoever is answered from a store learns how old the answer is (RFC 9111 §5.1).
        response.headers[.age] = String(max(0, min(age.components.seconds, 2_147_483_648)))
        if exchange.request.method == .head { response.body = .data(Data()) }
        if let part { response.narrow(to: part) }
        do throws(RequestError) {
            try validate(response, exchange.description)
        } catch {
            entries.remove(found.key)
            context.emit(.cacheMiss(.rejectedByValidator))
            return nil
        }
        context.keep { [entries, key = found.key] in entries.remove(key) }
        context.emit(.cacheHit(age: age, source: source))
        return response
    }

    // MARK: - Asking

    /// Asks the server: whether the stored answer is still valid, where there is one with a validator.
    private func load(_ next: Next, found: Found?) async throws(RequestError) -> Response {
        let beganAt = context.clock.now
        let conditions = found.map { Revalidation.conditions(for: $0.entry) } ?? [:]
        let isConditional = !conditions.isEmpty && exchange.request.method == .get
        let asking = isConditional ? conditional(conditions) : exchange
        let response: Response
        do {
            response = try await next(asking)
        } catch {
            if let found, let response = inPlace(of: error, found) { return response }
            throw error
        }
        let requestedAt = requested(for: response, since: beganAt)
        if let found, CacheRules.isFailure(response.statusCode),
            let response = inPlace(of: nil, found)
        {
            return response
        }
        guard let found, isConditional, response.status == 304 else {
            await keep(response, requestedAt: requestedAt, replacing: found)
            return response
        }
        if let confirmed = await confirmed(found, by: response, requestedAt: requestedAt) {
            return confirmed
        }
        // It speaks of another answer, or what it confirms passes no more.
        entries.remove(found.key)
        return try await load(next, found: nil)
    }

    /// When the request for this answer went out: waiting for a place, and attempts that failed, make it no older.
    private func requested(for response: Response, since began: Date) -> Date {
        guard let took = response.timings.last?.finished else { return began }
        return max(began, context.clock.now - took / .seconds(1))
    }

    private func conditional(_ conditions: HTTPFields) -> Exchange {
        exchange.changed {
            $0.request.headers.append(contentsOf: conditions)
            $0.isRevalidation = true
        }
    }

    /// The stored answer where it may stand in for an error, or for a failure that the endpoint accepts as an answer.
    private func inPlace(of error: RequestError?, _ found: Found) -> Response? {
        guard error.map({ rules.fallsBack(after: $0) }) ?? true,
            let age = HTTPReuse.ageInPlaceOfError(
                found.entry, requestHeaders: headers, now: context.clock.now, settings: settings)
        else { return nil }
        return judged(found, .cacheStale, age)
    }

    /// The stored answer with what a 304 says of it.
    private func confirmed(
        _ found: Found, by response: Response, requestedAt: Date
    ) async -> Response? {
        guard isOwn(response),
            let entry = Revalidation.confirmed(
                found.entry, by: response.headers, requestedAt: requestedAt,
                receivedAt: context.clock.now),
            var answer = entry.response(to: exchange.request.url, source: .revalidated)
        else { return nil }
        do throws(RequestError) {
            try validate(answer, exchange.description)
        } catch {
            return nil
        }
        answer.attempts = response.attempts
        answer.timings = response.timings
        answer.httpVersion = response.httpVersion
        answer.remoteAddress = response.remoteAddress
        context.keep { [entries, key = found.key] in entries.remove(key) }
        context.emit(.cacheHit(age: .zero, source: .revalidated))
        await entries.write(entry, for: found.key, exchange)
        return answer
    }

    /// Whether an answer is this address's own, not that of one to which it redirects.
    private func isOwn(_ response: Response) -> Bool {
        var url = response.url
        url.fragment = nil
        return url == exchange.request.url
    }

    // MARK: - Keeping

    private func keep(
        _ response: Response, requestedAt: Date, replacing found: Found?
    ) async {
        let now = context.clock.now
        guard exchange.request.method == .get else {
            if let found { await freshen(found, by: response, requestedAt: requestedAt) }
            return
        }
        guard response.source == .network, isOwn(response),
            HTTPCacheStorage.mayStore(
                status: response.statusCode, headers: response.headers, requestHeaders: headers,
                receivedAt: now, settings: settings),
            var entry = StoredResponse(
                response, rules: rules, tag: exchange.description.tag, storedAt: now)
        else {
            // What is newer and must not be kept has still made the old one worthless.
            // A server that fails says nothing about it.
            if let found, response.statusCode < 500 { entries.remove(found.key) }
            return
        }
        entry.headers = HTTPCacheStorage.stored(
            response.headers, requestedAt: requestedAt, receivedAt: now)
        let fields = VaryingFields(response.headers)
        guard let place = await place(of: fields, like: entry) else { return }
        context.keep { [entries] in entries.remove(place) }
        await entries.write(entry, for: place, exchange)
    }

    /// What a `HEAD` tells of the stored answer to a `GET` (RFC 9111 §4.3.5).
    private func freshen(
        _ found: Found, by response: Response, requestedAt: Date
    ) async {
        guard response.source == .network, isOwn(response), response.status == 200 else { return }
        let freshening = Revalidation.freshened(
            found.entry, byHead: response.headers, requestedAt: requestedAt,
            receivedAt: context.clock.now)
        switch freshening {
        case .updated(let entry): await entries.write(entry, for: found.key, exchange)
        case .outdated: entries.remove(found.key)
        case .unknown: break
        }
    }

    /// Where an answer goes: under the address, or under what chose it; `nil` where nobody knows what did.
    private func place(of fields: VaryingFields, like entry: StoredResponse) async -> CacheKey? {
        if fields.names.isEmpty { return key }
        // An authenticator puts these on further in; what is not seen here cannot be told apart.
        let isHidden = fields.names.contains("authorization") && !headers.contains(.authorization)
        guard !isHidden else { return nil }
        let present = (try? await entries.read(key)) ?? nil
        var index: VariantIndex
        if var known = present.flatMap({ VariantIndex($0) }) {
            guard known.note(fields) else { return variantKey(known, fields) }
            index = known
        } else {
            index = VariantIndex(fields)
        }
        var holder = entry
        holder.status = VariantIndex.status
        holder.headers = [:]
        holder.body = index.body
        entries.put(holder, for: key)
        return variantKey(index, fields)
    }
}
