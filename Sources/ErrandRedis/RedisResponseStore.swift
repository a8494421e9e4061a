#if Redis
    public import ErrandCore
    import ErrandSystem

    /// Stores responses on a Redis or Valkey server, which many machines share, and caches some of
    /// them in memory.
    ///
    /// Entries have a time to live on the server. An entry in memory is returned without a request
    /// to the server, until the server reports that it was changed (`CLIENT TRACKING`). If the
    /// server is unreachable or slow, the store waits at most
    /// ``Configuration-swift.struct/commandLimit`` once; after that, its operations fail at once
    /// with ``RequestError/Code/storeFailed``, so that requests go to the network, until the server
    /// has responded again. ``problems`` contains the reason, and the event `storeProblem` reports
    /// it once.
    ///
    /// Nothing is connected before the first use. For example:
    ///
    ///     let store = try RedisResponseStore(.init(address: .host("cache.internal")))
    ///     let agent = RequestAgent(configuration: configuration, store: store)
    public final class RedisResponseStore: ResponseStore {
        /// Bodies of up to this size are stored with their entry, larger ones in parts of this size.
        static let partBytes = 256 << 10

        /// The settings.
        public let configuration: Configuration

        let keys: StoreKeys
        let memory: StoreMemory
        let client: RedisClient
        let now: @Sendable () -> Date

        /// Creates a store.
        ///
        /// - Throws: ``RequestError/Code/invalidConfiguration`` for invalid settings, and
        ///   ``RequestError/Code/unsupported`` for TLS without OpenSSL.
        public convenience init(_ configuration: Configuration) throws(RequestError) {
            try self.init(configuration, openSSL: .installed, now: { Date() })
        }

        init(
            _ configuration: Configuration, openSSL: TLSFunctions? = .installed,
            now: @escaping @Sendable () -> Date
        ) throws(RequestError) {
            if let fault = configuration.fault {
                throw RequestError(
                    .invalidConfiguration, stage: .cache, "RedisResponseStore: \(fault)")
            }
            if let tls = configuration.tls { try Self.check(tls, openSSL) }
            self.configuration = configuration
            self.now = now
            keys = StoreKeys(prefix: configuration.keyPrefix)
            memory = StoreMemory(
                address: "\(configuration.address)", keys: keys,
                limit: configuration.maximumMemoryBytes)
            client = RedisClient(
                settings: RedisSettings(configuration, openSSL: openSSL),
                handlers: memory.handlers)
            memory.setRecovery { [weak self] in
                guard let self else { return }
                Task.detached { await self.repeatMissedRemovals() }
            }
        }

        /// Checks that TLS is possible, and that the files can be used.
        private static func check(_ tls: TLS, _ openSSL: TLSFunctions?) throws(RequestError) {
            guard let openSSL else {
                throw RequestError(
                    .unsupported, stage: .cache,
                    "RedisResponseStore cannot use TLS: OpenSSL (libssl.so.3 or libssl.so.1.1) is "
                        + "not installed. Install it, or use a TLS tunnel such as stunnel and the "
                        + "address of its local end.")
            }
            do throws(TLSContext.Fault) {
                _ = try TLSContext(tls, openSSL)
            } catch {
                throw RequestError(
                    .invalidConfiguration, stage: .cache, "RedisResponseStore: \(error.message)")
            }
        }

        /// The last 16 problems with the server; the latest last.
        ///
        /// The server became unreachable, or entries were damaged. The event `storeProblem` reports
        /// each of them once.
        public var problems: [RequestError] { memory.problems }

        /// The problems since the last call; ``problems`` keeps them.
        public func takeProblems() -> [RequestError] { memory.takeNewProblems() }

        /// Releases the entries that are cached in memory; those of the server stay.
        public func emptyMemory() { memory.invalidateAll() }

        /// The largest body that is written and read in parts: that of `maximumEntryBytes`.
        public var maximumBytesInParts: Int? { configuration.maximumEntryBytes }

        // MARK: - Reading

        /// The entry of a key, whatever its age; `nil` if there is none.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the server cannot be used;
        ///   ``RequestError/Code/cacheMiss`` with ``RequestError/CacheMissReason/invalidData`` if
        ///   the entry is damaged. The store has then removed it.
        public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
            let id = EntryID(key)
            let read: UInt64
            switch memory.lookUp(key, id) {
            case .hit(let entry): return entry
            case .read(let serial): read = serial
            }
            do throws(RequestError) {
                guard let record = try await record(for: key, id) else {
                    memory.finish(nil, for: key, id, read: read)
                    return nil
                }
                var entry = record.entry
                if record.parts > 0 { entry.body = try await body(of: record, key, id) }
                memory.finish(
                    entry, for: key, id, read: read,
                    lifetime: configuration.lifetime(of: entry.expiresAt, now: now()))
                return entry
            } catch {
                memory.finish(nil, for: key, id, read: read)
                throw error
            }
        }

        /// The record of a key, without the body if it is in parts.
        func record(
            for key: CacheKey, _ id: EntryID
        ) async throws(RequestError) -> EntryRecord? {
            let data: Data
            do throws(RedisFailure) {
                let reply = try await client.perform(RedisCommand("GET", .text(keys.entry(id))))
                guard let bytes = reply.bytes else { return nil }
                data = bytes
            } catch {
                guard error.isWrongType else { throw failed(error) }
                throw await damaged(id, nil, "The key of an entry has a value of another type.")
            }
            switch EntryRecord.decode(data, for: key) {
            case .record(let record): return record
            case .otherKey: return nil
            case .damaged: throw await damaged(id, data, "An entry is damaged.")
            }
        }

        /// Removes a damaged entry; returns the error for the caller.
        ///
        /// - Parameter data: The bytes of the entry; `nil` if it is not a string. An entry that was
        ///   written meanwhile is not removed.
        func damaged(_ id: EntryID, _ data: Data?, _ text: String) async -> RequestError {
            let condition =
                data.map { RedisCommand.Part.data(Data($0.prefix(EntryRecord.metadataBytes))) }
                ?? "always"
            _ = try? await client.perform(
                StoreScript.remove, [.text(keys.prefix), condition, .text(id.text)])
            memory.note("\(text) It was removed.")
            return RequestError.cacheMiss(.invalidData)
        }

        func failed(_ failure: RedisFailure) -> RequestError {
            failure.requestError(address: memory.address)
        }

        // MARK: - Writing

        /// Writes an entry atomically and replaces the previous one of the key.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the server cannot be used, and for an
        ///   entry larger than ``Configuration-swift.struct/maximumEntryBytes``; the previous entry
        ///   has then been removed.
        public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
            guard entry.body.count <= Self.partBytes else {
                return try await store(
                    entry, body: StoredResponse.ChunkedBody(entry.body), for: key)
            }
            try await checkSize(entry.size, key)
            let ttl = configuration.lifetime(of: entry.expiresAt, now: now())
            try await write(
                entry, for: key, write: Self.newName(), parts: 0, bodyCount: entry.body.count,
                ttl: ttl)
        }

        /// Refuses an entry that is too large, and removes the previous one.
        func checkSize(_ size: Int, _ key: CacheKey) async throws(RequestError) {
            guard size > configuration.maximumEntryBytes else { return }
            try await remove(key)
            throw RequestError(
                .storeFailed, stage: .cache,
                "The response has \(size) bytes; the store accepts at most "
                    + "\(configuration.maximumEntryBytes). Raise the store's `maximumEntryBytes`, "
                    + "or do not cache this endpoint.")
        }

        /// A random name of a write.
        static func newName() -> String {
            EntryID.hex(.random(in: .min ... .max)) + EntryID.hex(.random(in: .min ... .max))
        }

        /// Writes the record of an entry.
        func write(
            _ entry: StoredResponse, for key: CacheKey, write: String, parts: Int, bodyCount: Int,
            ttl: Int
        ) async throws(RequestError) {
            let id = EntryID(key)
            let record = EntryRecord.encode(
                entry, for: key, write: write, parts: parts, bodyCount: bodyCount)
            let size = entry.size - entry.body.count + bodyCount
            let user = StoreKeys.digest(entry.identity)
            memory.invalidate(id)
            defer { memory.invalidate(id) }
            try await repairing { () throws(RedisFailure) in
                _ = try await self.client.perform(
                    StoreScript.store,
                    [
                        .text(self.keys.prefix), .text(id.text), .data(record), .number(ttl),
                        .text("\(size);\(entry.tag);\(user);\(write);\(parts)"), .number(size),
                        .number(entry.tag), .text(user),
                    ])
            }
        }

        /// Removes an entry; does nothing if there is none.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the server cannot be used; the entry is
        ///   then removed before the next use of the server by this store.
        public func remove(_ key: CacheKey) async throws(RequestError) {
            let id = EntryID(key)
            _ = try await removing {
                $0.add(id)
            } perform: { () throws(RedisFailure) in
                try await self.remove([id])
            }
        }

        /// Performs a removal; notes it if the server cannot be used.
        func removing<T: Sendable>(
            _ note: (inout MissedRemovals) -> Void,
            perform: () async throws(RedisFailure) -> T
        ) async throws(RequestError) -> T {
            memory.invalidate(note)
            defer { memory.invalidate(note) }
            do throws(RedisFailure) {
                return try await performRepairing(perform)
            } catch {
                if error.kind != .refused {
                    memory.miss(note)
                    client.demandRecovery()
                }
                throw failed(error)
            }
        }

        /// Performs an operation; if keys have values of other types, removes all keys and repeats it.
        func repairing<T: Sendable>(
            _ operation: () async throws(RedisFailure) -> T
        ) async throws(RequestError) -> T {
            do throws(RedisFailure) {
                return try await performRepairing(operation)
            } catch { throw failed(error) }
        }

        private func performRepairing<T: Sendable>(
            _ operation: () async throws(RedisFailure) -> T
        ) async throws(RedisFailure) -> T {
            do throws(RedisFailure) {
                return try await operation()
            } catch {
                guard error.isWrongType else { throw error }
            }
            try await removeAllKeys()
            memory.note(
                "Keys of its index had values of another type, so all its keys were removed. Use a "
                    + "`keyPrefix` that no other program uses.")
            return try await operation()
        }
    }
#endif
