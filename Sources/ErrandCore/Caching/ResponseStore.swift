public import ErrandSystem
public import HTTPTypes

/// Stores responses between requests.
public protocol ResponseStore: Sendable {
    /// The entry of a key, whatever its age; `nil` if there is none.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` if the store cannot be read;
    ///   ``RequestError/Code/cacheMiss`` with ``RequestError/CacheMissReason/invalidData`` if the entry is
    ///   damaged. The store has then deleted the damaged entry.
    func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse?

    /// Writes an entry atomically and replaces the previous one of the key.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also for an entry that exceeds the size limit
    ///   of the store; the previous entry has then been removed.
    func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError)

    /// Removes an entry; does nothing if there is none.
    func remove(_ key: CacheKey) async throws(RequestError)

    /// Removes the entries that match the predicate; `nil` removes all.
    func removeAll(where predicate: (@Sendable (StoredEntryInfo) -> Bool)?)
        async throws(RequestError)

    /// The metadata of all entries, in any order.
    func entries() async throws(RequestError) -> [StoredEntryInfo]

    /// The metadata of the entries of a selection, in any order.
    ///
    /// Default: lists all entries. A store with an index should not read entries that do not belong
    /// to the selection.
    func entries(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> [StoredEntryInfo]

    /// Removes the entries of a selection; returns how many there were.
    ///
    /// Default: lists all entries, and removes one after another.
    @discardableResult
    func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int

    /// The number of entries, their size, and the limits. Default: counted over all entries.
    func usage() async throws(RequestError) -> StoredEntryInfo.Usage

    /// The entry of a key, whatever its age, with a body that is read in parts; `nil` if there is
    /// none.
    ///
    /// The body can be read until the entry is removed or replaced; later reads may throw
    /// ``RequestError/Code/storeFailed``. Default: the entry with its body in memory.
    ///
    /// - Throws: As ``entry(for:)``.
    func open(_ key: CacheKey) async throws(RequestError) -> StoredResponse.Opened?

    /// Writes an entry whose body is read in parts, atomically: until the last part is written, the
    /// previous entry of the key is returned.
    ///
    /// Default: reads the body into memory.
    ///
    /// - Parameter entry: The entry; its `body` is ignored.
    /// - Throws: As ``store(_:for:)``, and the errors of `body`.
    func store(
        _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
    ) async throws(RequestError)

    /// The largest body that the store writes and reads in parts, in bytes; `nil` if it keeps bodies
    /// in memory.
    ///
    /// The body of a streamed response is stored up to this size, even if it is larger than
    /// `maximumBytesInMemory`. Default `nil`.
    var maximumBytesInParts: Int? { get }

    /// The problems that the store has met since the last call; each is returned once.
    ///
    /// For problems that no operation fails for: a file was replaced, or memory is used instead of
    /// it. The agent calls this after an operation of a request that has event listeners, and emits
    /// each problem as the event `storeProblem`. Default: none.
    func takeProblems() -> [RequestError]

    /// Releases the entries that the store caches in memory in addition to their permanent place.
    ///
    /// For a warning of the system about low memory. Default: does nothing, for a store whose entries are in memory
    /// only.
    func emptyMemory()

    /// The random bytes with which the agent makes the digests of secrets in cache keys, such as those of
    /// credentials: 32 or more.
    ///
    /// A store that outlives the process makes them once, atomically, and keeps them with its entries, also
    /// when these are removed, so that all processes that share it have the same. The agent calls this once.
    /// Default: bytes of this process, so that later processes do not find entries with credentials.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; the bytes of this process are used until the next call.
    func digestKey() async throws(RequestError) -> Data
}

extension ResponseStore {
    /// The largest body that is written and read in parts: bodies are in memory.
    public var maximumBytesInParts: Int? { nil }

    /// The problems that the store has met since the last call: none.
    public func takeProblems() -> [RequestError] { [] }

    /// Does nothing: the store caches no entries in memory in addition to their permanent place.
    public func emptyMemory() {}
}

/// A stored response: metadata and body in one value.
public struct StoredResponse: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The headers, in order.
    public var headers: HTTPFields
    /// The body.
    public var body: Data
    /// The final URL of the response, after redirects.
    public var url: String
    /// The time at which the response was stored.
    public var storedAt: Date
    /// The endpoint's cache version.
    public var cacheVersion: Int
    /// The app's version.
    public var appVersion: String?
    /// The user whose data this is; entries of another identity are not used.
    public var identity: String?
    /// The endpoint's tag.
    public var tag: Int
    /// The time from which on the response is not fresh; `nil` if it is unknown.
    ///
    /// An expired entry can still be used, for example by a revalidation or without a network.
    /// Stores that remove expired entries keep them for a time.
    public var expiresAt: Date?
    /// The body of a streamed response, if it is read in parts; ``body`` is then empty.
    package var largeBody: LargeBody?

    /// Creates an entry.
    public init(
        status: Int, headers: HTTPFields, body: Data, url: String, storedAt: Date,
        cacheVersion: Int = 0, appVersion: String? = nil, identity: String? = nil, tag: Int = 0,
        expiresAt: Date? = nil
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
        self.expiresAt = expiresAt
    }

    /// The size of headers and body in bytes.
    public var size: Int {
        headers.reduce(bodyCount) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

extension StoredResponse: CustomStringConvertible, CustomReflectable {
    /// The status, and the URL without its query.
    public var description: String {
        "\(status) from \((try? HTTPURL(parsing: url))?.redacted ?? "an invalid URL")"
    }

    /// The parts of the entry, without its body, the query of its URL and secret headers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "description": description, "headers": headers.redacted, "size": size,
                "storedAt": storedAt, "cacheVersion": cacheVersion, "tag": tag,
            ])
    }
}

/// The metadata of a stored response, which is known without reading its body.
public struct StoredEntryInfo: Sendable, Hashable {
    /// The key of the entry.
    public var key: CacheKey
    /// The final URL of the response, after redirects.
    public var url: String
    /// The time at which the response was stored.
    public var storedAt: Date
    /// The size of headers and body in bytes.
    public var size: Int
    /// The endpoint's tag.
    public var tag: Int
    /// The user whose data this is; `nil` if the request had no identity.
    public var identity: String?
    /// The time from which on the response is not fresh; `nil` if it is unknown.
    public var expiresAt: Date?

    /// Creates the metadata of an entry.
    public init(
        key: CacheKey, url: String, storedAt: Date, size: Int, tag: Int, identity: String?,
        expiresAt: Date? = nil
    ) {
        self.key = key
        self.url = url
        self.storedAt = storedAt
        self.size = size
        self.tag = tag
        self.identity = identity
        self.expiresAt = expiresAt
    }
}

extension StoredEntryInfo: CustomReflectable {
    /// The metadata, without the query of the URL and without the identity.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": (try? HTTPURL(parsing: url))?.redacted ?? "an invalid URL",
                "storedAt": storedAt, "size": size, "tag": tag,
            ], displayStyle: .struct)
    }
}
