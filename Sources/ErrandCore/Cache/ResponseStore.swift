public import Foundation
public import HTTPTypes

/// Where answers are kept between requests.
public protocol ResponseStore: Sendable {
    /// The entry of a key, whatever its age; `nil` when there is none.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` when the store cannot be read;
    ///   ``RequestError/Code/cacheMiss`` with ``CacheMissReason/invalidData`` when the entry is
    ///   damaged. The damaged entry is gone by then.
    func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse?

    /// Writes an entry, whole or not at all, in place of the one that is there.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also for an entry that is larger than the whole
    ///   store may be; then the one that was there is gone.
    func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError)

    /// Removes an entry; nothing happens where there is none.
    func remove(_ key: CacheKey) async throws(RequestError)

    /// Removes the entries for which the predicate holds; `nil` removes all.
    func removeAll(where predicate: (@Sendable (StoredEntryInfo) -> Bool)?)
        async throws(RequestError)

    /// What is stored, without the bodies.
    func entries() async throws(RequestError) -> [StoredEntryInfo]
}

/// What identifies an answer: the canonical final request (row CAC-7), never a description.
public struct CacheKey: Sendable, Hashable {
    /// Method, final URL, `Accept`, `Accept-Language`, digest of the body, and identity, each on a
    /// line.
    public let canonical: String

    /// Makes a key of its canonical text.
    public init(canonical: String) { self.canonical = canonical }

    /// 64 bits of the text, the same on every machine and in every process (FNV-1a).
    public var hash64: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in canonical.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return hash
    }
}

/// An answer as it is stored: metadata and body in one (row CAC-9).
public struct StoredResponse: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The headers, in order.
    public var headers: HTTPFields
    /// The body.
    public var body: Data
    /// The address that answered.
    public var url: String
    /// When it was stored.
    public var storedAt: Date
    /// The endpoint's cache version.
    public var cacheVersion: Int
    /// The app's version.
    public var appVersion: String?
    /// Whose data this is.
    public var identity: String?
    /// The endpoint's tag.
    public var tag: Int

    /// Makes an entry.
    public init(
        status: Int, headers: HTTPFields, body: Data, url: String, storedAt: Date,
        cacheVersion: Int = 0, appVersion: String? = nil, identity: String? = nil, tag: Int = 0
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.storedAt = storedAt
        self.cacheVersion = cacheVersion
        self.appVersion = appVersion
        self.identity = identity
        self.tag = tag
    }

    /// The size of headers and body in bytes.
    public var size: Int {
        headers.reduce(body.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

/// What is known of an entry without reading its body.
public struct StoredEntryInfo: Sendable, Hashable {
    /// Its key.
    public var key: CacheKey
    /// The address that answered.
    public var url: String
    /// When it was stored.
    public var storedAt: Date
    /// The size of headers and body in bytes.
    public var size: Int
    /// The endpoint's tag.
    public var tag: Int
    /// Whose data this is.
    public var identity: String?

    /// Makes a description of an entry.
    public init(
        key: CacheKey, url: String, storedAt: Date, size: Int, tag: Int, identity: String?
    ) {
        self.key = key
        self.url = url
        self.storedAt = storedAt
        self.size = size
        self.tag = tag
        self.identity = identity
    }
}
