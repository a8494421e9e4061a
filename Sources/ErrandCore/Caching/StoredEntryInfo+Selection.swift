public import ErrandSystem

extension StoredEntryInfo {
    /// A selection of stored responses; a response must meet every condition that is set.
    ///
    /// A store can evaluate a selection with an index, which it cannot with a closure. For example,
    /// the entries of one user that are older than a day:
    ///
    ///     StoredEntryInfo.Selection(identity: .user("7"), storedBefore: Date() - 86_400)
    public struct Selection: Sendable, Hashable {
        /// The identity of stored responses.
        public enum Identity: Sendable, Hashable {
            /// Responses without an identity.
            case none
            /// Responses with this ``StoredResponse/identity``.
            case user(String)
        }

        /// Only these keys.
        public var keys: Set<CacheKey>?
        /// Only URLs that begin with this text, for example `https://api.example.com/users/`.
        public var urlPrefix: String?
        /// Only endpoints with this tag.
        public var tag: Int?
        /// Only responses with this identity.
        public var identity: Identity?
        /// Only responses that were stored before this time.
        public var storedBefore: Date?
        /// Only responses that are not fresh any more at this time; see ``StoredResponse/expiresAt``.
        public var expiredAt: Date?

        /// Creates a selection; without arguments, of all entries.
        public init(
            keys: Set<CacheKey>? = nil, urlPrefix: String? = nil, tag: Int? = nil,
            identity: Identity? = nil, storedBefore: Date? = nil, expiredAt: Date? = nil
        ) {
            self.keys = keys
            self.urlPrefix = urlPrefix
            self.tag = tag
            self.identity = identity
            self.storedBefore = storedBefore
            self.expiredAt = expiredAt
        }

        /// All entries.
        public static let all = Selection()

        /// Whether an entry belongs to the selection.
        ///
        /// URLs and identities are compared by their UTF-8 bytes.
        public func contains(_ info: StoredEntryInfo) -> Bool {
            if let keys, !keys.contains(info.key) { return false }
            if let urlPrefix, !info.url.utf8.starts(with: urlPrefix.utf8) { return false }
            if let tag, info.tag != tag { return false }
            switch identity {
            case nil: break
            case .some(.none): if info.identity != nil { return false }
            case .user(let user):
                guard info.identity?.utf8.elementsEqual(user.utf8) == true else { return false }
            }
            if let storedBefore, info.storedAt >= storedBefore { return false }
            if let expiredAt {
                guard let end = info.expiresAt, end <= expiredAt else { return false }
            }
            return true
        }
    }

    /// The size of a store.
    public struct Usage: Sendable, Hashable {
        /// The number of entries.
        public var entries: Int
        /// The bytes in use: of headers and bodies, or of the files of a store that has files.
        public var bytes: Int
        /// The maximum number of entries; `nil` if there is none.
        public var maximumEntries: Int?
        /// The maximum of ``bytes``; `nil` if there is none.
        public var maximumBytes: Int?
        /// The number of entries that this store object has removed to hold its limits.
        public var evictions: Int

        /// Creates the size of a store.
        public init(
            entries: Int, bytes: Int, maximumEntries: Int? = nil, maximumBytes: Int? = nil,
            evictions: Int = 0
        ) {
            self.entries = entries
            self.bytes = bytes
            self.maximumEntries = maximumEntries
            self.maximumBytes = maximumBytes
            self.evictions = evictions
        }
    }
}

extension ResponseStore {
    /// Lists all entries and selects among them.
    public func entries(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> [StoredEntryInfo] {
        try await entries().filter { selection.contains($0) }
    }

    /// Lists all entries and removes those of the selection, one after another.
    @discardableResult
    public func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        let selected = try await entries(matching: selection)
        for info in selected { try await remove(info.key) }
        return selected.count
    }

    /// Counts all entries and their bytes.
    public func usage() async throws(RequestError) -> StoredEntryInfo.Usage {
        let all = try await entries()
        return StoredEntryInfo.Usage(entries: all.count, bytes: all.reduce(0) { $0 + $1.size })
    }
}
