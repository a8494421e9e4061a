package import ErrandSystem

/// The cache settings of one request.
///
/// A cache decision depends only on these settings, the entry and the time.
package struct CacheRules: Sendable, Hashable {
    package var policy: CachePolicy
    package var cacheSeconds: Int
    package var cacheVersion: Int
    package var appVersion: String?
    package var identity: String?
    package var ignoresCache: Bool
    package var isDownload: Bool
    /// How long after its cache time an entry is used without the network; `nil` is the default of the policy.
    package var maximumStaleness: Duration?

    package init(
        policy: CachePolicy = .cacheElseLoad, cacheSeconds: Int, cacheVersion: Int = 0,
        appVersion: String? = nil, identity: String? = nil, ignoresCache: Bool = false,
        isDownload: Bool = false, maximumStaleness: Duration? = nil
    ) {
        self.policy = policy
        self.cacheSeconds = cacheSeconds
        self.cacheVersion = cacheVersion
        self.appVersion = appVersion
        self.identity = identity
        self.ignoresCache = ignoresCache
        self.isDownload = isDownload
        self.maximumStaleness = maximumStaleness
    }
}

/// The order in which a request uses the store and the network.
package enum CacheLookupPlan: Sendable, Hashable {
    /// Use the network; the store is not read.
    case load
    /// Use the network; if it fails, use the store.
    case loadElseLookUp
    /// Use the store; if it has no usable entry, use the network.
    case lookUpElseLoad
    /// Use only the store.
    case lookUpOnly
    /// Deliver the response of the store, then use the network.
    case lookUpThenLoad
    /// Follow RFC 9111.
    case http
    /// The settings contradict each other: ``CachePolicy/cacheOnly`` with `ignoresCache`.
    case contradiction
}

/// Whether a stored entry may be used as the response.
package enum CacheDecision: Sendable, Hashable {
    /// The entry may be used; it has this age.
    case hit(age: Duration)
    /// The entry may not be used.
    case miss(CacheMissReason)
}

extension CacheRules {
    /// The order in which this request uses the store and the network.
    ///
    /// A download never uses the store. `ignoresCache` skips the lookup, except under
    /// ``CachePolicy/http``.
    package var lookupPlan: CacheLookupPlan {
        if isDownload { return .load }
        if policy.isHTTP { return .http }
        if ignoresCache { return policy == .cacheOnly ? .contradiction : .load }
        switch policy {
        case .reload: return .load
        case .loadElseCache: return .loadElseLookUp
        case .cacheElseLoad: return .lookUpElseLoad
        case .cacheOnly: return .lookUpOnly
        case .cacheThenLoad: return .lookUpThenLoad
        case .http, .httpThenLoad: return .http
        }
    }

    /// Whether a response from the network is stored: the cache time is positive, and the request
    /// is not a download.
    package var storesResponse: Bool { cacheSeconds > 0 && !isDownload }

    /// Checks an entry in the order of ``CacheMissReason``; the first failed check is the reason.
    ///
    /// - Parameter acceptsAnyAge: Whether the age is ignored, because the network has failed and
    ///   the policy then accepts a stored entry of any age.
    package func decide(
        _ entry: StoredResponse?, now: Date, acceptsAnyAge: Bool = false
    ) -> CacheDecision {
        decide(entry, now: now, accepting: acceptsAnyAge ? .anyAge : .within(.zero))
    }

    /// The staleness that a lookup without the network accepts under this policy.
    package var staleAcceptance: StaleAcceptance {
        if let maximumStaleness { return .within(maximumStaleness) }
        return policy == .cacheThenLoad ? .anyAge : .within(.zero)
    }

    /// Whether an entry of this age is within the cache time.
    package func isFresh(age: Duration) -> Bool { age <= .seconds(cacheSeconds) }

    /// Checks an entry in the order of ``CacheMissReason``; the first failed check is the reason.
    ///
    /// - Parameter acceptance: The accepted staleness. An entry whose date lies in the future is used
    ///   only at any age.
    package func decide(
        _ entry: StoredResponse?, now: Date, accepting acceptance: StaleAcceptance
    ) -> CacheDecision {
        guard cacheSeconds > 0 else { return .miss(.invalidCacheTime) }
        guard let entry else { return .miss(.noEntry) }
        let age = now.timeIntervalSince(entry.storedAt)
        guard age.isFinite else { return .miss(.noEntry) }
        // After the clock was set back, the date of an entry may lie in the future. Its age is then
        // unknown, so it is not fresh.
        let isAccepted = age >= 0 && acceptance.accepts(staleness: age - Double(cacheSeconds))
        guard acceptance == .anyAge || isAccepted else {
            return .miss(.expired)
        }
        if let mismatch = mismatch(entry) { return .miss(mismatch) }
        return .hit(age: .seconds(min(max(0, age), 1e15)))
    }

    /// The reason why an entry does not match the version, the identity or the app version of the request; `nil` if
    /// it matches.
    ///
    /// The age is not checked.
    package func mismatch(_ entry: StoredResponse) -> CacheMissReason? {
        guard entry.cacheVersion == cacheVersion else { return .versionMismatch }
        guard Self.isSame(entry.identity, identity) else { return .identityMismatch }
        guard entry.appVersion == appVersion else { return .appVersionMismatch }
        return nil
    }

    /// Whether two identities have the same bytes; `==` also treats different spellings of a name as equal.
    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    /// Whether a status counts as an error of the server (RFC 5861 §4).
    package static func isFailure(_ status: Int) -> Bool {
        [500, 502, 503, 504].contains(status)
    }

    /// Whether ``CachePolicy/loadElseCache`` uses a stored entry after this error.
    ///
    /// True for transport failures, timeouts and the statuses of RFC 5861 §4. False for other
    /// responses that failed validation, and for requests that were cancelled.
    package func fallsBack(after error: RequestError) -> Bool {
        switch error.code {
        case .cancelled, .agentShutDown, .unsupported: false
        case .unacceptableStatus: error.response.map { Self.isFailure($0.statusCode) } ?? false
        case .timedOut: true
        default: error.stage == .transport
        }
    }
}

extension RequestError {
    /// The error of a request that may use the store only and found no usable response.
    package static func cacheMiss(
        _ reason: CacheMissReason, _ message: String? = nil
    ) -> RequestError {
        RequestError(
            .cacheMiss, stage: .cache,
            message
                ?? "The store has no usable response: \(reason.rawValue). Send the request with "
                + "another cache policy first.",
            cacheMiss: reason)
    }
}
