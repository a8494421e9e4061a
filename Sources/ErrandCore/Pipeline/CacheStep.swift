import Foundation

/// Answers from the store where the rules allow it, and stores what the network brings.
///
/// It stands outside validation, so that only validated answers are stored; a stored answer is
/// validated again when it is used, because the validator may have become stricter since (row
/// VAL-18). The store is a help and no condition: when it fails the request goes to the network,
/// and only ``CachePolicy/cacheOnly`` tells of it. Cache time and version rule here, and `Cache-Control`
/// of request or answer is not looked at; ``CachePolicy/http`` is the other way round, see ``HTTPCacheVisit``.
package struct CacheStep: Step {
    package typealias Validation =
        @Sendable (Response, RequestDescription) throws(RequestError) -> Void

    private let writes: PendingCacheWrites
    private let refresher: CacheRefresher
    private let validate: Validation

    /// - Parameters:
    ///   - writes: The agent's table of writes under way.
    ///   - refresher: What renews stored answers behind an answer's back.
    ///   - validate: What `ValidateStep` does with an answer.
    package init(
        writes: PendingCacheWrites, refresher: CacheRefresher = CacheRefresher(),
        validate: @escaping Validation
    ) {
        self.writes = writes
        self.refresher = refresher
        self.validate = validate
    }

    package func concerns(_ exchange: Exchange) -> Bool {
        let context = exchange.context
        return context.description.cacheSeconds >= 0 || context.description.cachePolicy != nil
            || context.configuration.cachePolicy != .cacheElseLoad
            || context.isHeard
            || refresher.use.isUsed && CacheInvalidation.mayChange(exchange.request.method)
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        guard let visit = try visit(exchange) else { return try await next(exchange) }
        guard visit.mayChange else { return try await answer(visit, next) }
        do {
            let response = try await answer(visit, next)
            visit.dropOutOfDate(by: response)
            return response
        } catch {
            // The server has made the change, whatever is thought of its answer.
            if let response = error.response { visit.dropOutOfDate(by: response) }
            throw error
        }
    }

    private func answer(_ visit: Visit, _ next: Next) async throws(RequestError) -> Response {
        switch visit.rules.opening {
        case .http:
            guard let visit = visit.byHeaders(refresher) else {
                return try await next(visit.exchange)
            }
            return try await visit.answer(next)
        case .contradiction, .load: return try await visit.load(next)
        case .lookUpElseLoad:
            if case .success(let response) = await visit.lookUp(.cacheFresh) { return response }
            return try await visit.load(next)
        case .lookUpOnly:
            return try await visit.lookUp(.cacheFresh).get()
        case .loadElseLookUp:
            do {
                return try await visit.load(next)
            } catch  where visit.rules.fallsBack(after: error) {
                if case .success(let response) = await visit.lookUp(.cacheStale) { return response }
                throw error
            }
        }
    }

    /// What there is to do with the store; `nil` where there is none and none is needed.
    @inline(never)
    private func visit(_ exchange: Exchange) throws(RequestError) -> Visit? {
        let rules = CacheRules(exchange.description, exchange.configuration)
        guard let store = exchange.context.store else {
            if rules.opening == .lookUpOnly || rules.opening == .contradiction {
                throw .cacheMiss(.noEntry, "The agent has no response store; give it one.")
            }
            return nil
        }
        if rules.opening == .contradiction {
            throw RequestError(
                .invalidCombination, stage: .cache,
                "`ignoresCache` and the policy `.cacheOnly` leave nobody to ask. Drop one of the two."
            )
        }
        return Visit(
            exchange: exchange, rules: rules,
            entries: CacheEntries(store: store, writes: writes), validate: validate,
            mayChange: CacheInvalidation.mayChange(exchange.request.method)
                && (rules.policy == .http || refresher.use.isUsed))
    }
}

/// One exchange and the store.
private final class Visit: Sendable {
    let exchange: Exchange
    let rules: CacheRules
    let entries: CacheEntries
    let validate: CacheStep.Validation
    /// Whether the method may make stored answers out of date.
    let mayChange: Bool

    init(
        exchange: Exchange, rules: CacheRules, entries: CacheEntries,
        validate: @escaping CacheStep.Validation, mayChange: Bool
    ) {
        self.exchange = exchange
        self.rules = rules
        self.entries = entries
        self.validate = validate
        self.mayChange = mayChange
    }

    /// The same exchange and store, by RFC 9111; `nil` where the store has no say.
    func byHeaders(_ refresher: CacheRefresher) -> HTTPCacheVisit? {
        HTTPCacheVisit(
            exchange: exchange, rules: rules, entries: entries, refresher: refresher,
            validate: validate)
    }

    /// Drops what is out of date by now (RFC 9111 §4.4).
    func dropOutOfDate(by response: Response) {
        guard response.source == .network else { return }
        let addresses = CacheInvalidation.addresses(
            target: exchange.request.url, status: response.statusCode, headers: response.headers)
        for address in addresses {
            let keys = CacheKeyBuilder.httpKeys(
                for: address, exchange.request, identity: rules.identity)
            for key in keys { entries.remove(key) }
        }
    }

    /// Asks the network and stores what it says.
    func load(_ next: Next) async throws(RequestError) -> Response {
        let response = try await next(exchange)
        if rules.saves, response.source == .network { await keep(response) }
        return response
    }

    // Apart from `load`, which is suspended while the network is asked.
    @inline(never)
    private func keep(_ response: Response) async {
        guard let key = cacheKey(for: exchange),
            let entry = StoredResponse(
                response, rules: rules, tag: exchange.description.tag,
                storedAt: exchange.context.clock.now)
        else { return }
        exchange.context.keep { [entries] in entries.remove(key) }
        await entries.write(entry, for: key, exchange)
    }

    /// Asks the store, and tells the listeners what came of it.
    func lookUp(_ source: Response.Source) async -> Result<Response, RequestError> {
        switch await search(source) {
        case .found(let response, let age):
            exchange.context.emit(.cacheHit(age: age, source: source))
            return .success(response)
        case .missed(let reason, let cause):
            exchange.context.emit(.cacheMiss(reason))
            var error = cause ?? .cacheMiss(reason)
            error.cacheMiss = reason
            return .failure(error)
        }
    }

    private enum Finding {
        case found(Response, age: Duration)
        case missed(CacheMissReason, RequestError?)
    }

    private func search(_ source: Response.Source) async -> Finding {
        // Before the key: its digest costs something, and most requests are not cached.
        guard rules.cacheSeconds >= 0 else { return .missed(.invalidCacheTime, nil) }
        guard let key = cacheKey(for: exchange) else {
            let message = "A request whose body is a file or a stream has no key in the store."
            return .missed(.noEntry, .cacheMiss(.noEntry, message))
        }
        let entry: StoredResponse?
        do throws(RequestError) {
            entry = try await entries.read(key)
        } catch {
            return .missed(error.cacheMiss ?? .storeFailed, error)
        }
        let decision = rules.decide(
            entry, now: exchange.context.clock.now, acceptsAnyAge: source == .cacheStale)
        switch decision {
        case .miss(let reason): return .missed(reason, nil)
        case .hit(let age): return judge(entry, age: age, source: source, key: key)
        }
    }

    /// Validates what was found; what does not pass any more is dropped.
    private func judge(
        _ entry: StoredResponse?, age: Duration, source: Response.Source, key: CacheKey
    ) -> Finding {
        guard let response = entry?.response(to: exchange.request.url, source: source) else {
            entries.remove(key)
            return .missed(.invalidData, nil)
        }
        do throws(RequestError) {
            try validate(response, exchange.description)
        } catch {
            entries.remove(key)
            let reason: CacheMissReason =
                error.code == .undecodable ? .invalidData : .rejectedByValidator
            var miss = RequestError.cacheMiss(reason)
            miss.underlying = error
            return .missed(reason, miss)
        }
        exchange.context.keep { [entries] in entries.remove(key) }
        return .found(response, age: age)
    }
}

extension RequestError {
    /// The miss that ends a request which may only ask the store, and what to do about it.
    package static func cacheMiss(
        _ reason: CacheMissReason, _ message: String? = nil
    ) -> RequestError {
        RequestError(
            .cacheMiss, stage: .cache,
            message ?? "The store has no usable answer: \(reason.rawValue). Load it with another "
                + "cache policy first.",
            cacheMiss: reason)
    }
}
