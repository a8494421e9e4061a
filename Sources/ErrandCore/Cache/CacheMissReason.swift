/// Why the store has no usable answer (row CAC-3, in the order in which they are checked).
public enum CacheMissReason: String, Sendable, Hashable, CaseIterable {
    /// Caching is off: the cache time is negative.
    case invalidCacheTime
    /// There is no entry, or its metadata cannot be read.
    case noEntry
    /// The entry is older than the cache time, or is dated in the future.
    case expired
    /// The entry was written under another ``RequestDescription/cacheVersion``.
    case versionMismatch
    /// The entry belongs to another identity.
    case identityMismatch
    /// The entry was written by another version of the app.
    case appVersionMismatch
    /// The entry's body is missing or damaged.
    case invalidData
    /// The entry no longer passes the validator (row VAL-18).
    case rejectedByValidator
    /// The store could not be read.
    case storeFailed
}
