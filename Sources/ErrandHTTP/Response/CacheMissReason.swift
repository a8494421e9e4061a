extension RequestError {
    /// The reason why the store has no usable response; the cases are in the order of the checks.
    public enum CacheMissReason: String, Sendable, Hashable, CaseIterable {
        /// Caching is off, because the cache time is negative.
        case invalidCacheTime
        /// There is no entry, or its metadata cannot be read.
        case noEntry
        /// The entry is older than the cache time, or its date is in the future.
        case expired
        /// The entry was written with another ``RequestDescription/cacheVersion``.
        case versionMismatch
        /// The entry belongs to another identity.
        case identityMismatch
        /// The entry was written by another version of the app.
        case appVersionMismatch
        /// The body of the entry is missing or damaged.
        case invalidData
        /// The validator no longer accepts the entry.
        case rejectedByValidator
        /// The store could not be read.
        case storeFailed
    }
}

/// The reason why the cache had no usable response.
public typealias CacheMissReason = RequestError.CacheMissReason
