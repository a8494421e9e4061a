package import Foundation

/// What the request in hand says about the store: everything a decision needs beside entry and
/// time.
package struct CacheRules: Sendable, Hashable {
    package var policy: CachePolicy
    package var cacheSeconds: Int
    package var cacheVersion: Int
    package var appVersion: String?
    package var identity: String?
    package var ignoresCache: Bool
    package var isDownload: Bool

    package init(
        policy: CachePolicy = .cacheElseLoad, cacheSeconds: Int, cacheVersion: Int = 0,
        appVersion: String? = nil, identity: String? = nil, ignoresCache: Bool = false,
        isDownload: Bool = false
    ) {
        self.policy = policy
        self.cacheSeconds = cacheSeconds
        self.cacheVersion = cacheVersion
        self.appVersion = appVersion
        self.identity = identity
        self.ignoresCache = ignoresCache
        self.isDownload = isDownload
    }

    package init(_ description: RequestDescription, _ configuration: Configuration) {
        self.init(
            policy: description.cachePolicy ?? configuration.cachePolicy,
            cacheSeconds: description.cacheSeconds, cacheVersion: description.cacheVersion,
            appVersion: configuration.appVersion,
            identity: description.cacheIdentity ?? configuration.cacheIdentity,
            ignoresCache: description.ignoresCache, isDownload: description.download != nil)
    }
}

/// What to do before anything is sent.
package enum CacheOpening: Sendable, Hashable {
    /// The network; the store is not read.
    case load
    /// The network; when that fails, the store.
    case loadElseLookUp
    /// The store; where it has nothing usable, the network.
    case lookUpElseLoad
    /// The store and nothing else.
    case lookUpOnly
    /// As RFC 9111 has it.
    case http
    /// The request contradicts itself: only the store is allowed and it is to be ignored.
    case contradiction
}

/// Whether an entry may answer.
package enum CacheDecision: Sendable, Hashable {
    /// It may; it is so old.
    case hit(age: Duration)
    /// It may not.
    case miss(CacheMissReason)
}

extension CacheRules {
    /// Where to look first, by rows CAC-1 and CAC-2.
    ///
    /// A download never touches the store.
    package var opening: CacheOpening {
        if isDownload { return .load }
        if policy == .http { return .http }
        if ignoresCache { return policy == .cacheOnly ? .contradiction : .load }
        switch policy {
        case .reload: return .load
        case .loadElseCache: return .loadElseLookUp
        case .cacheElseLoad: return .lookUpElseLoad
        case .cacheOnly: return .lookUpOnly
        case .http: return .http
        }
    }

    /// Whether an answer from the network is stored: caching is on and lasts for some time (rows
    /// CAC-1, CAC-10).
    package var saves: Bool { cacheSeconds > 0 && !isDownload }

    /// The checks of row CAC-3, in its order; the first one that fails names the reason.
    ///
    /// - Parameter acceptsAnyAge: True once the network has failed and the policy takes what there is.
    package func decide(
        _ entry: StoredResponse?, now: Date, acceptsAnyAge: Bool = false
    ) -> CacheDecision {
        guard cacheSeconds >= 0 else { return .miss(.invalidCacheTime) }
        guard let entry else { return .miss(.noEntry) }
        let age = now.timeIntervalSince(entry.storedAt)
        guard age.isFinite else { return .miss(.noEntry) }
        // A date in the future is no proof of freshness: somebody set a clock back (row CAC-15).
        guard acceptsAnyAge || (age >= 0 && age <= Double(cacheSeconds)) else {
            return .miss(.expired)
        }
        if let mismatch = mismatch(entry) { return .miss(mismatch) }
        return .hit(age: .seconds(min(max(0, age), 1e15)))
    }

    /// Whether an entry was written for somebody else, or for another version; time apart.
    package func mismatch(_ entry: StoredResponse) -> CacheMissReason? {
        guard entry.cacheVersion == cacheVersion else { return .versionMismatch }
        guard entry.identity == identity else { return .identityMismatch }
        guard entry.appVersion == appVersion else { return .appVersionMismatch }
        return nil
    }

    /// The statuses that count as a failure of the server (RFC 5861 §4).
    package static func isFailure(_ status: Int) -> Bool {
        [500, 502, 503, 504].contains(status)
    }

    /// Whether this failure of the network lets ``CachePolicy/loadElseCache`` take what is stored.
    ///
    /// Yes for everything between here and the server and for the statuses of RFC 5861 §4. No where
    /// the server answered and the answer was wrong, and no where nobody wants an answer any more.
    package func fallsBack(after error: RequestError) -> Bool {
        switch error.code {
        case .cancelled, .agentShutDown, .unsupported: false
        case .unacceptableStatus: error.response.map { Self.isFailure($0.statusCode) } ?? false
        case .timedOut: true
        default: error.stage == .transport
        }
    }
}
