import Foundation

/// Answers from the store where the rules allow it, and stores what the network brings.
///
/// It stands outside validation, so that only validated answers are stored; a stored answer is
/// validated again when it is used, because the validator may have become stricter since (row
/// VAL-18). The store is a help and no condition: when it fails the request goes to the network,
/// and only ``CachePolicy/cacheOnly`` tells of it. Where `Cache-Control` of request or answer says
/// otherwise is not looked at: cache time and version rule here.
package struct CacheStep: Step {
    package typealias Validation =
        @Sendable (Response, RequestDescription) throws(RequestError) -> Void

    private let writes: PendingCacheWrites
    private let validate: Validation

    /// - Parameters:
    ///   - writes: The agent's table of writes under way.
    ///   - validate: What `ValidateStep` does with an answer.
    package init(writes: PendingCacheWrites, validate: @escaping Validation) {
        self.writes = writes
        self.validate = validate
    }

    package func concerns(_ exchange: Exchange) -> Bool {
        let context = exchange.context
        return context.description.cacheSeconds >= 0 || context.description.cachePolicy != nil
            || context.configuration.cachePolicy != .cacheElseLoad
            || context.isHeard
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        guard let visit = try visit(exchange) else { return try await next(exchange) }
        switch visit.rules.opening {
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
            exchange: exchange, rules: rules, store: store, writes: writes, validate: validate)
    }
}

/// One exchange and the store.
private final class Visit: Sendable {
    let exchange: Exchange
    let rules: CacheRules
    let store: any ResponseStore
    let writes: PendingCacheWrites
    let validate: CacheStep.Validation

    init(
        exchange: Exchange, rules: CacheRules, store: any ResponseStore,
        writes: PendingCacheWrites, validate: @escaping CacheStep.Validation
    ) {
        self.exchange = exchange
        self.rules = rules
        self.store = store
        self.writes = writes
        self.validate = validate
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
        let context = exchange.context
        context.keep { [writes, store] in writes.enqueue(.remove, for: key, in: store) }
        let report: @Sendable (RequestError?) -> Void = { failure in
            context.emit(failure.map { .cacheWriteFailed($0) } ?? .cacheStored(bytes: entry.size))
        }
        if exchange.description.writesCacheAsynchronously {
            let hasRoom = writes.enqueue(.store(entry), for: key, in: store, onEnd: report)
            if !hasRoom { await writes.flush() }
        } else {
            report(await writes.write(.store(entry), for: key, in: store))
        }
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
            entry = try await read(key)
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

    private func read(_ key: CacheKey) async throws(RequestError) -> StoredResponse? {
        switch writes.reading(of: key) {
        case .entry(let entry): entry
        case .removed: nil
        case .unknown: try await store.entry(for: key)
        }
    }

    /// Validates what was found; what does not pass any more is dropped.
    private func judge(
        _ entry: StoredResponse?, age: Duration, source: Response.Source, key: CacheKey
    ) -> Finding {
        guard let response = entry?.response(to: exchange.request.url, source: source) else {
            writes.enqueue(.remove, for: key, in: store)
            return .missed(.invalidData, nil)
        }
        do throws(RequestError) {
            try validate(response, exchange.description)
        } catch {
            writes.enqueue(.remove, for: key, in: store)
            let reason: CacheMissReason =
                error.code == .undecodable ? .invalidData : .rejectedByValidator
            var miss = RequestError.cacheMiss(reason)
            miss.underlying = error
            return .missed(reason, miss)
        }
        exchange.context.keep { [writes, store] in
            writes.enqueue(.remove, for: key, in: store)
        }
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
