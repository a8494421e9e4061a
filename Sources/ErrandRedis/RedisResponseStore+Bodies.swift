#if Redis
    public import ErrandCore
    import ErrandSystem
    import Synchronization

    extension RedisResponseStore {
        /// How much longer than its entry a part is kept, in milliseconds: a body may take so long
        /// to be written.
        private static let partGrace = 3_600_000

        /// The entry of a key, with a body that is read in parts; `nil` if there is none.
        ///
        /// At most one part of a large body is in memory, of 256 KiB. Reading it throws
        /// ``RequestError/Code/storeFailed`` after the entry was removed or replaced.
        ///
        /// - Throws: As ``entry(for:)``.
        public func open(
            _ key: CacheKey
        ) async throws(RequestError) -> StoredResponse.Opened? {
            let id = EntryID(key)
            if case .hit(let entry) = memory.lookUp(key, id, beginsRead: false) {
                return StoredResponse.Opened(entry)
            }
            guard let record = try await record(for: key, id) else { return nil }
            guard record.parts > 0 else { return StoredResponse.Opened(record.entry) }
            let parts = StoredParts(store: self, record: record)
            let body = StoredResponse.ChunkedBody(count: record.bodyCount) {
                range throws(RequestError) in try await parts.bytes(in: range)
            }
            return StoredResponse.Opened(record.entry, body: body)
        }

        /// Writes an entry whose body is read in parts; the entry is written last, atomically.
        ///
        /// At most one part of 256 KiB is in memory.
        ///
        /// - Parameters:
        ///   - entry: The entry; its `body` is ignored.
        ///   - body: The body.
        ///   - key: The key of the entry.
        /// - Throws: As ``store(_:for:)``, and the errors of `body`.
        public func store(
            _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
        ) async throws(RequestError) {
            var entry = entry
            entry.body = Data()
            try await checkSize(entry.size + body.count, key)
            let ttl = configuration.lifetime(of: entry.expiresAt, now: now())
            let name = Self.newName()
            guard body.count > Self.partBytes else {
                entry.body = try await body.bytes(in: 0..<body.count)
                return try await write(
                    entry, for: key, write: name, parts: 0, bodyCount: body.count, ttl: ttl)
            }
            let start = RedisTime.now
            var parts = 0
            do throws(RequestError) {
                while parts * Self.partBytes < body.count {
                    let from = parts * Self.partBytes
                    let bytes = try await body.bytes(
                        in: from..<min(from + Self.partBytes, body.count))
                    try await write(bytes, write: name, number: parts, ttl: ttl + Self.partGrace)
                    parts += 1
                }
                // The entry must not outlive its first part.
                let late = Int((RedisTime.now - start) / 1_000_000) - Self.partGrace
                try await write(
                    entry, for: key, write: name, parts: parts, bodyCount: body.count,
                    ttl: max(ttl - max(late, 0), 1000))
            } catch {
                await removeParts(parts, of: name)
                throw error
            }
        }

        private func write(
            _ bytes: Data, write: String, number: Int, ttl: Int
        ) async throws(RequestError) {
            let value = BodyPart.encode(bytes, write: write, number: number)
            do throws(RedisFailure) {
                _ = try await client.perform(
                    RedisCommand(
                        "SET", .text(keys.part(number, of: write)), .data(value), "PX",
                        .number(ttl)))
            } catch { throw failed(error) }
        }

        /// Removes the parts of a body that was not written completely.
        ///
        /// If it fails, they are removed at the end of their time to live.
        private func removeParts(_ count: Int, of write: String) async {
            for from in stride(from: 0, to: count, by: 500) {
                let names = (from..<min(from + 500, count)).map {
                    RedisCommand.Part.text(keys.part($0, of: write))
                }
                _ = try? await client.perform(RedisCommand(["UNLINK"] + names))
            }
        }

        /// Reads a part.
        ///
        /// - Returns: `nil` if the part does not exist or is damaged.
        func part(_ number: Int, of write: String) async throws(RequestError) -> Data? {
            do throws(RedisFailure) {
                let reply = try await client.perform(
                    RedisCommand("GET", .text(keys.part(number, of: write))))
                return reply.bytes.flatMap {
                    BodyPart.decode($0, write: write, number: number)
                }
            } catch {
                if error.isWrongType { return nil }
                throw failed(error)
            }
        }

        /// Reads all parts of a body.
        func body(
            of record: EntryRecord, _ key: CacheKey, _ id: EntryID
        ) async throws(RequestError) -> Data {
            var record = record
            var body = Data()
            var number = 0
            while number < record.parts {
                if let part = try await part(number, of: record.write) {
                    body.append(part)
                    number += 1
                    continue
                }
                // The entry may have been replaced meanwhile.
                guard let current = try await self.record(for: key, id),
                    current.write != record.write
                else { throw await damagedBody(record, id) }
                if current.parts == 0 { return current.entry.body }
                record = current
                (body, number) = (Data(), 0)
            }
            guard body.count == record.bodyCount else { throw await damagedBody(record, id) }
            return body
        }

        private func damagedBody(_ record: EntryRecord, _ id: EntryID) async -> RequestError {
            let beginning = EntryRecord.encode(
                record.entry, for: record.info.key, write: record.write, parts: record.parts,
                bodyCount: record.bodyCount)
            return await damaged(id, beginning, "A part of a body is missing or damaged.")
        }
    }

    /// The body of an opened entry; keeps the part that was read last.
    private final class StoredParts: Sendable {
        private let store: RedisResponseStore
        private let record: EntryRecord
        private let last = Mutex<(number: Int, bytes: Data)?>(nil)

        init(store: RedisResponseStore, record: EntryRecord) {
            self.store = store
            self.record = record
        }

        func bytes(in range: Range<Int>) async throws(RequestError) -> Data {
            var result = Data(capacity: range.count)
            var offset = range.lowerBound
            while offset < range.upperBound {
                let number = offset / RedisResponseStore.partBytes
                let start = number * RedisResponseStore.partBytes
                let bytes = try await part(number)
                let upper = min(range.upperBound - start, bytes.count)
                guard offset - start < upper else { throw incomplete }
                result +=
                    bytes[
                        (bytes.startIndex + offset - start)..<(bytes.startIndex + upper)]
                offset = start + upper
            }
            return result
        }

        private func part(_ number: Int) async throws(RequestError) -> Data {
            let kept = last.withLock { $0?.number == number ? $0?.bytes : nil }
            if let kept { return kept }
            guard let bytes = try await store.part(number, of: record.write) else {
                throw incomplete
            }
            last.withLock { $0 = (number, bytes) }
            return bytes
        }

        private var incomplete: RequestError {
            RequestError(
                .storeFailed, stage: .cache,
                "A stored body cannot be read any more: its entry was removed, replaced or "
                    + "damaged. Load the response again.")
        }
    }
#endif
