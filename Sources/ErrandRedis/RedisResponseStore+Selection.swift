#if Redis
    public import ErrandCore
    import ErrandSystem

    extension RedisResponseStore {
        /// The number of entries whose metadata is read, or that are removed, at once.
        private static let pageSize = 200

        /// The metadata of all entries, in no particular order.
        public func entries() async throws(RequestError) -> [StoredEntryInfo] {
            try await entries(matching: .all)
        }

        /// The metadata of the entries of a selection, in no particular order.
        ///
        /// The entries of `keys`, of an identity and of a tag are found by an index; the other
        /// conditions are checked for each of them. Bodies are not read.
        public func entries(
            matching selection: StoredEntryInfo.Selection
        ) async throws(RequestError) -> [StoredEntryInfo] {
            try await repairing { () throws(RedisFailure) in
                var all: [CacheKey: StoredEntryInfo] = [:]
                try await self.forEachPage(of: selection, isRecovery: false) { page in
                    for info in page { all[info.key] = info }
                }
                return Array(all.values)
            }
        }

        /// Removes the entries of a selection; returns how many there were.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the server cannot be used; the entries are
        ///   then removed before the next use of the server by this store.
        @discardableResult
        public func removeAll(
            matching selection: StoredEntryInfo.Selection
        ) async throws(RequestError) -> Int {
            try await removing {
                $0.add(.selection(selection))
            } perform: {
                () throws(RedisFailure) in
                try await self.remove(selection) { _ in true }
            }
        }

        /// Removes the entries that match the predicate; `nil` removes all.
        ///
        /// Removing all also searches the keys of the server (`SCAN`), so that entries without an
        /// index are found.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the server cannot be used; the entries are
        ///   then removed before the next use of the server by this store.
        public func removeAll(
            where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
        ) async throws(RequestError) {
            guard let predicate else {
                return try await removing {
                    $0.addAll()
                } perform: { () throws(RedisFailure) in
                    try await self.removeEverything(isRecovery: false)
                }
            }
            _ = try await removing {
                $0.add(.predicate(predicate))
            } perform: {
                () throws(RedisFailure) in
                try await self.remove(.all, where: predicate)
            }
        }

        /// The number of entries and their size; the limits are those of the server.
        ///
        /// Entries that the server has removed to free memory count until the end of their time to
        /// live.
        public func usage() async throws(RequestError) -> StoredEntryInfo.Usage {
            try await repairing { () throws(RedisFailure) in
                while try await self.client.perform(
                    StoreScript.sweep, [.text(self.keys.prefix), .number(1000)]
                ).number == 1000 {}
                let replies = try await self.client.perform([
                    RedisCommand("ZCARD", .text(self.keys.index)),
                    RedisCommand("GET", .text(self.keys.bytes)),
                ])
                for case .error(let message) in replies {
                    throw RedisFailure.refused(message)
                }
                return StoredEntryInfo.Usage(
                    entries: replies.first?.number ?? 0,
                    bytes: max(0, replies.last?.text.flatMap { Int($0) } ?? 0))
            }
        }

        // MARK: - Finding entries

        /// Passes the metadata of the entries of a selection on, in pages; an entry may occur twice.
        private func forEachPage(
            of selection: StoredEntryInfo.Selection, isRecovery: Bool,
            _ body: ([StoredEntryInfo]) async throws(RedisFailure) -> Void
        ) async throws(RedisFailure) {
            try await forEachID(of: selection, isRecovery: isRecovery) {
                ids throws(RedisFailure) in
                let page = try await metadata(of: ids, isRecovery: isRecovery)
                try await body(page.filter { selection.contains($0) })
            }
        }

        private func forEachID(
            of selection: StoredEntryInfo.Selection, isRecovery: Bool,
            _ body: ([EntryID]) async throws(RedisFailure) -> Void
        ) async throws(RedisFailure) {
            if let keys = selection.keys { return try await inPages(keys.map(EntryID.init), body) }
            if client.evictsIndex { return try await scan(isRecovery: isRecovery, body) }
            let set =
                switch selection.identity {
                case .some(.none): keys.identity(nil)
                case .user(let user): keys.identity(user)
                case nil: selection.tag.map { keys.tag($0) } ?? keys.index
                }
            try await forEachCursor(isRecovery: isRecovery) { cursor in
                RedisCommand("ZSCAN", .text(set), .text(cursor), "COUNT", .number(Self.pageSize))
            } _: { items throws(RedisFailure) in
                // Members and scores alternate.
                let ids = stride(from: 0, to: items.count, by: 2).compactMap {
                    EntryID(text: items[$0])
                }
                try await inPages(ids, body)
            }
        }

        /// Finds the keys of all entries among all keys of the database.
        private func scan(
            isRecovery: Bool, _ body: ([EntryID]) async throws(RedisFailure) -> Void
        ) async throws(RedisFailure) {
            try await forEachCursor(isRecovery: isRecovery) { cursor in
                RedisCommand(
                    "SCAN", .text(cursor), "MATCH", .text(keys.pattern(for: "e:*")), "COUNT", "1000"
                )
            } _: { items throws(RedisFailure) in
                try await inPages(items.compactMap { keys.id(ofEntry: $0) }, body)
            }
        }

        private func forEachCursor(
            isRecovery: Bool, _ command: (String) -> RedisCommand,
            _ body: ([String]) async throws(RedisFailure) -> Void
        ) async throws(RedisFailure) {
            var cursor = "0"
            repeat {
                let reply = try await client.perform(command(cursor), isRecovery: isRecovery)
                guard reply.elements.count == 2, let next = reply.elements[0].text else {
                    throw RedisFailure(kind: .invalidReply, message: "invalid reply to SCAN")
                }
                try await body(reply.elements[1].elements.compactMap(\.text))
                cursor = next
            } while cursor != "0"
        }

        private func inPages(
            _ ids: [EntryID], _ body: ([EntryID]) async throws(RedisFailure) -> Void
        ) async throws(RedisFailure) {
            for from in stride(from: 0, to: ids.count, by: Self.pageSize) {
                try await body(Array(ids[from..<min(from + Self.pageSize, ids.count)]))
            }
        }

        /// Reads the metadata of entries; those that do not exist or are damaged are left out.
        private func metadata(
            of ids: [EntryID], isRecovery: Bool
        ) async throws(RedisFailure) -> [StoredEntryInfo] {
            var found = try await beginnings(
                of: ids, count: EntryRecord.metadataBytes, isRecovery: isRecovery)
            for (index, id) in ids.enumerated() {
                guard let bytes = found[index], let count = EntryRecord.metadataCount(bytes),
                    count > bytes.count, bytes.count == EntryRecord.metadataBytes
                else { continue }
                found[index] =
                    try await beginnings(
                        of: [id], count: count, isRecovery: isRecovery
                    ).first ?? nil
            }
            var infos: [StoredEntryInfo] = []
            for (index, id) in ids.enumerated() {
                guard let bytes = found[index], !bytes.isEmpty else { continue }
                if let info = EntryRecord.metadata(bytes) {
                    infos.append(info)
                } else {
                    _ = await damaged(id, bytes, "An entry is damaged.")
                }
            }
            return infos
        }

        /// The first bytes of records; `nil` for values of other types, which are removed.
        private func beginnings(
            of ids: [EntryID], count: Int, isRecovery: Bool
        ) async throws(RedisFailure) -> [Data?] {
            let replies = try await client.perform(
                ids.map {
                    RedisCommand("GETRANGE", .text(keys.entry($0)), "0", .number(count - 1))
                }, isRecovery: isRecovery)
            for (index, reply) in replies.enumerated() {
                guard case .error(let message) = reply else { continue }
                let failure = RedisFailure.refused(message)
                guard failure.isWrongType else { throw failure }
                _ = await damaged(
                    ids[index], nil, "The key of an entry has a value of another type.")
            }
            return replies.map(\.bytes)
        }

        // MARK: - Removing entries

        /// Removes entries by their ids; returns how many existed.
        @discardableResult
        func remove(
            _ ids: [EntryID], isRecovery: Bool = false
        ) async throws(RedisFailure) -> Int {
            guard !ids.isEmpty else { return 0 }
            let reply = try await client.perform(
                StoreScript.remove,
                [.text(keys.prefix), "always"] + ids.map { .text($0.text) },
                isRecovery: isRecovery)
            return reply.number ?? 0
        }

        private func remove(
            _ selection: StoredEntryInfo.Selection, isRecovery: Bool = false,
            where predicate: (StoredEntryInfo) -> Bool
        ) async throws(RedisFailure) -> Int {
            var count = 0
            try await forEachPage(of: selection, isRecovery: isRecovery) {
                page throws(RedisFailure) in
                let ids = page.filter(predicate).map { EntryID($0.key) }
                count += try await remove(ids, isRecovery: isRecovery)
            }
            return count
        }

        private func removeEverything(isRecovery: Bool) async throws(RedisFailure) {
            try await forEachCursor(isRecovery: isRecovery) { cursor in
                RedisCommand(
                    "ZSCAN", .text(keys.index), .text(cursor), "COUNT", .number(Self.pageSize))
            } _: { items throws(RedisFailure) in
                let ids = stride(from: 0, to: items.count, by: 2).compactMap {
                    EntryID(text: items[$0])
                }
                try await inPages(ids) { page throws(RedisFailure) in
                    try await remove(page, isRecovery: isRecovery)
                }
            }
            try await scan(isRecovery: isRecovery) { page throws(RedisFailure) in
                try await remove(page, isRecovery: isRecovery)
            }
        }

        /// Removes all keys with the prefix of the store, whatever their type.
        func removeAllKeys() async throws(RedisFailure) {
            memory.invalidateAll()
            defer { memory.invalidateAll() }
            try await forEachCursor(isRecovery: false) { cursor in
                RedisCommand(
                    "SCAN", .text(cursor), "MATCH", .text(keys.pattern(for: "*")), "COUNT", "1000")
            } _: { items throws(RedisFailure) in
                guard !items.isEmpty else { return }
                _ = try await client.perform(
                    RedisCommand(["UNLINK"] + items.map { RedisCommand.Part.text($0) }))
            }
        }

        /// Performs the removals that the server has missed, and lets other commands pass.
        func repeatMissedRemovals() async {
            let missed = memory.takeMissed()
            do throws(RedisFailure) {
                if missed.removesAll { try await removeEverything(isRecovery: true) }
                let ids = Array(missed.ids)
                try await inPages(ids) { page throws(RedisFailure) in
                    try await remove(page, isRecovery: true)
                }
                for rule in missed.rules {
                    switch rule {
                    case .selection(let selection):
                        _ = try await remove(selection, isRecovery: true) { _ in true }
                    case .predicate(let predicate):
                        _ = try await remove(.all, isRecovery: true, where: predicate)
                    }
                }
                memory.invalidateAll()
                client.recovered()
            } catch {
                memory.miss { $0.add(missed) }
                client.recoveryFailed(error)
            }
        }
    }
#endif
