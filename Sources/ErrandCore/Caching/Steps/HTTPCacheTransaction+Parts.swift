import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Stores and serves parts of representations (RFC 9111 §3.3, §3.4).
///
/// One part of each URL is kept: the latest, with the earlier ones that it touches and that have the same strong
/// validator. Responses that vary, and streamed ones, are not kept in parts.
extension HTTPCacheTransaction {
    /// The requested range of a stored part that is fresh.
    func storedPart() async -> Response? {
        guard let field = headers[.range], let entry = await part(),
            let stored = PartialContent(entry),
            let wanted = stored.part(for: field)
        else { return nil }
        // The lifetime of a part is that of the representation.
        var whole = entry
        whole.status = 200
        let strategy = CacheStrategy.decide(
            whole, requestHeaders: headers, now: task.clock.now, settings: settings)
        guard case .fresh(let age) = strategy else { return nil }
        var narrowed = entry
        (narrowed.headers, narrowed.body) = (wanted.headers, wanted.body)
        return validated(Found(key: key.ofPart, entry: narrowed), .cacheFresh, age)
    }

    /// Stores a part, together with the stored one if both belong to the same representation; a complete
    /// representation is stored as one.
    func storePart(of response: Response, requestedAt: Date) async {
        let now = task.clock.now
        guard response.statusCode == 206, response.source == .network, isForRequestedURL(response),
            response.channel == nil, response.decodedCoding == nil,
            VaryingFields(response.headers).names.isEmpty,
            HTTPCacheStorage.mayStore(
                status: 200, headers: response.headers, requestHeaders: headers, receivedAt: now,
                settings: settings),
            let chosen = entries.responseToStore(response, pipelineRequest),
            case .data(let body) = chosen.body,
            var entry = StoredResponse(
                chosen, rules: rules, tag: pipelineRequest.description.tag, storedAt: now),
            let newer = PartialContent(
                status: 206,
                headers: HTTPCacheStorage.stored(
                    chosen.headers, requestedAt: requestedAt, receivedAt: now,
                    keepsCookies: keepsCookies),
                body: body)
        else { return }
        guard !pipelineRequest.hasChangedUser else { return entries.refuse(pipelineRequest) }
        let combined = await part().flatMap { PartialContent($0) }?.combined(with: newer)
        let limit = pipelineRequest.request.options.maximumBytesInMemory
        let part = combined.flatMap { Int64($0.body.count) <= limit ? $0 : nil } ?? newer
        (entry.status, entry.headers, entry.body) = (200, part.completeHeaders, part.body)
        entry.setExpiry(settings)
        if part.isComplete {
            entries.remove(key.ofPart)
            await entries.write(entry, for: key, pipelineRequest)
        } else {
            (entry.status, entry.headers) = (206, part.headers)
            await entries.write(entry, for: key.ofPart, pipelineRequest)
        }
    }

    /// Whether a response may be stored; emits the refusal.
    func checkStorable(_ response: Response, receivedAt now: Date) -> Bool {
        let isStorable = mayStore(response, receivedAt: now)
        if !isStorable { task.emit(.cacheNotStored(.notAllowed)) }
        return isStorable
    }

    func refuseVariant() { task.emit(.cacheNotStored(.unknownVariant)) }

    private func part() async -> StoredResponse? {
        guard let entry = (try? await entries.read(key.ofPart, task, isWhole: true)) ?? nil,
            rules.mismatch(entry) == nil
        else { return nil }
        return entry
    }
}
