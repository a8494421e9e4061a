import Synchronization

/// Counts the uses of a store; each count is one relaxed atomic operation.
package final class CacheCounters: Sendable {
    /// The counts at one moment.
    package struct Values: Sendable, Hashable {
        package var fresh = 0
        package var stale = 0
        package var revalidated = 0
        package var misses: [CacheMissReason: Int] = [:]
        package var stores = 0
        package var storeFailures = 0
    }

    private let fresh = Atomic(0)
    private let stale = Atomic(0)
    private let revalidated = Atomic(0)
    private let stores = Atomic(0)
    private let storeFailures = Atomic(0)
    // One counter for each reason, because an array cannot contain atomics.
    private let noEntry = Atomic(0)
    private let expired = Atomic(0)
    private let versionMismatch = Atomic(0)
    private let identityMismatch = Atomic(0)
    private let appVersionMismatch = Atomic(0)
    private let invalidData = Atomic(0)
    private let rejectedByValidator = Atomic(0)
    private let storeFailed = Atomic(0)

    package init() {}

    /// Counts the use of a stored response.
    package func hit(_ source: Response.Source) {
        switch source {
        case .cacheFresh: fresh.add(1, ordering: .relaxed)
        case .cacheStale: stale.add(1, ordering: .relaxed)
        case .revalidated: revalidated.add(1, ordering: .relaxed)
        case .network: break
        }
    }

    /// Counts a lookup without a usable response; a request without a cache time is not counted.
    package func miss(_ reason: CacheMissReason) {
        switch reason {
        case .invalidCacheTime: break
        case .noEntry: noEntry.add(1, ordering: .relaxed)
        case .expired: expired.add(1, ordering: .relaxed)
        case .versionMismatch: versionMismatch.add(1, ordering: .relaxed)
        case .identityMismatch: identityMismatch.add(1, ordering: .relaxed)
        case .appVersionMismatch: appVersionMismatch.add(1, ordering: .relaxed)
        case .invalidData: invalidData.add(1, ordering: .relaxed)
        case .rejectedByValidator: rejectedByValidator.add(1, ordering: .relaxed)
        case .storeFailed: storeFailed.add(1, ordering: .relaxed)
        }
    }

    /// Counts a write of a response.
    package func stored(isSuccess: Bool) {
        if isSuccess {
            stores.add(1, ordering: .relaxed)
        } else {
            storeFailures.add(1, ordering: .relaxed)
        }
    }

    /// The counts; those that change meanwhile may or may not be included.
    package var values: Values {
        var misses: [CacheMissReason: Int] = [:]
        misses[.noEntry] = noEntry.load(ordering: .relaxed)
        misses[.expired] = expired.load(ordering: .relaxed)
        misses[.versionMismatch] = versionMismatch.load(ordering: .relaxed)
        misses[.identityMismatch] = identityMismatch.load(ordering: .relaxed)
        misses[.appVersionMismatch] = appVersionMismatch.load(ordering: .relaxed)
        misses[.invalidData] = invalidData.load(ordering: .relaxed)
        misses[.rejectedByValidator] = rejectedByValidator.load(ordering: .relaxed)
        misses[.storeFailed] = storeFailed.load(ordering: .relaxed)
        return Values(
            fresh: fresh.load(ordering: .relaxed), stale: stale.load(ordering: .relaxed),
            revalidated: revalidated.load(ordering: .relaxed),
            misses: misses.filter { $0.value > 0 }, stores: stores.load(ordering: .relaxed),
            storeFailures: storeFailures.load(ordering: .relaxed))
    }
}
