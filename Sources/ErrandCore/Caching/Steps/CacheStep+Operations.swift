import ErrandTransport

/// Operations on the stored response of one request, without the network.
extension CacheStep {
    /// The stored response that the policy accepts without the network.
    ///
    /// - Throws: ``RequestError/Code/cacheMiss`` with the reason if there is none.
    func lookUp(_ pipelineRequest: PipelineRequest) async throws(RequestError) -> Response {
        guard let transaction = try await transactionWithCredentials(pipelineRequest) else {
            throw .cacheMiss(.noEntry, "The agent has no response store.")
        }
        guard !transaction.rules.ignoresCache else { throw .cacheMiss(.noEntry) }
        guard transaction.rules.policy == .http else {
            return try await transaction.lookUp(.accepted).get()
        }
        guard let http = transaction.httpTransaction(refresher) else {
            throw .cacheMiss(.noEntry, "The request bypasses the store.")
        }
        let acceptance: StaleAcceptance =
            if let limit = transaction.rules.maximumStaleness {
                .within(limit)
            } else {
                pipelineRequest.task.deliversStored ? .anyAge : .within(.zero)
            }
        return try await http.stored(acceptance)
    }

    /// The key of the response of a request, and the entries of its store; `nil` without a key.
    func entry(
        of pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> (key: CacheKey, entries: CacheEntries)? {
        guard let transaction = try await transactionWithCredentials(pipelineRequest) else {
            return nil
        }
        let key: CacheKey? =
            if transaction.rules.policy == .http {
                transaction.httpTransaction(refresher)?.key
            } else {
                transaction.key
            }
        return key.map { ($0, transaction.entries) }
    }

    /// Validates a response and stores it, as if the request had received it now.
    func store(
        _ response: Response, for pipelineRequest: PipelineRequest
    ) async throws(RequestError) {
        guard let transaction = try await transactionWithCredentials(pipelineRequest) else {
            throw RequestError(
                .invalidCombination, stage: .cache,
                "The agent has no response store. Create the agent with one.")
        }
        guard response.statusCode != 304 else {
            throw Self.notStored("It has status 304, which has no content.")
        }
        try validate(response, pipelineRequest.description)
        guard let chosen = transaction.entries.responseToStore(response, pipelineRequest) else {
            throw Self.notStored("responseToStore returned nil for the response.")
        }
        let made: (entry: StoredResponse, key: CacheKey)?
        if transaction.rules.policy == .http {
            made = await transaction.httpTransaction(refresher)?.madeByHand(response, chosen)
            guard made != nil else {
                throw Self.notStored(
                    "The cache policy .http does not store it: the request must be a GET without a body, and the "
                        + "response needs its URL, and a lifetime or a validator in its headers (RFC 9111 §3)."
                )
            }
        } else {
            guard transaction.rules.storesResponse else {
                throw Self.notStored("The request has no cache time. Set cacheSeconds above 0.")
            }
            guard !transaction.isPart(response) else {
                throw Self.notStored("It has status 206, or its request has a Range: it is a part.")
            }
            made = transaction.made(chosen)
        }
        guard let made else {
            throw Self.notStored("A response whose body is a file, or a request without a key.")
        }
        let writes = transaction.entries.writes
        let failure = await writes.write(
            .store(made.entry), for: made.key, in: transaction.entries.store,
            ticket: transaction.entries.ticket)
        writes.counters.stored(isSuccess: failure == nil)
        if let failure { throw failure }
    }

    private static func notStored(_ reason: String) -> RequestError {
        RequestError(.invalidCombination, stage: .cache, "The response was not stored. \(reason)")
    }

    /// The transaction of an operation, with the credentials that a start would add.
    private func transactionWithCredentials(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> CacheTransaction? {
        guard let transaction = try transaction(pipelineRequest) else { return nil }
        return try await transaction.prepared(isDigestNeeded: true)
    }
}

extension HTTPCacheTransaction {
    /// The stored response, if it is fresh, or stale within the limit.
    ///
    /// - Throws: ``RequestError/Code/cacheMiss`` with the reason.
    func stored(_ acceptance: StaleAcceptance) async throws(RequestError) -> Response {
        refresher.presence.note()
        // The response to a redirect is that of its target.
        guard let found = await lookUp(), !found.entry.isRedirect else {
            throw .cacheMiss(.noEntry)
        }
        let strategy = CacheStrategy.decide(
            found.entry, requestHeaders: headers, now: task.clock.now, settings: settings)
        let response: Response?
        switch strategy {
        case .fresh(let age): response = validated(found, .cacheFresh, age)
        case .stale(let age), .staleWhileRevalidate(let age):
            response = validated(found, .cacheStale, age)
        case .revalidate:
            guard let age = staleAge(of: found, acceptance) else {
                entries.missed(.expired, task)
                throw .cacheMiss(.expired)
            }
            response = validated(found, .cacheStale, age)
        }
        guard let response else { throw .cacheMiss(.rejectedByValidator) }
        return response
    }

    /// The stale response of a request that must not use the network, if `maximumStaleness` allows it.
    func staleResponse(_ found: Found) -> Response? {
        guard let limit = rules.maximumStaleness,
            let age = staleAge(of: found, .within(limit))
        else { return nil }
        return validated(found, .cacheStale, age)
    }

    private func staleAge(of found: Found, _ acceptance: StaleAcceptance) -> Duration? {
        acceptance.age(
            of: found.entry, requestHeaders: headers, now: task.clock.now, settings: settings)
    }

    /// The entry of a response that is stored by hand; `nil` if RFC 9111 does not store it.
    ///
    /// - Parameter chosen: The response that `responseToStore` has made of the original one.
    func madeByHand(
        _ original: Response, _ chosen: Response
    ) async -> (entry: StoredResponse, key: CacheKey)? {
        refresher.presence.note()
        let now = task.clock.now
        var original = original
        original.source = .network
        guard mayStore(original, receivedAt: now),
            var entry = StoredResponse(
                chosen, rules: rules, tag: pipelineRequest.description.tag, storedAt: now)
        else { return nil }
        entry.headers = HTTPCacheStorage.stored(
            chosen.headersToStore, requestedAt: now, receivedAt: now)
        entry.setExpiry(settings)
        guard let key = await storageKey(for: VaryingFields(original.headers), like: entry) else {
            return nil
        }
        return (entry, key)
    }
}
