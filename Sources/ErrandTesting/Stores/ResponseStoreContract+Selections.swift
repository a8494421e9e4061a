import ErrandCore
import ErrandSystem

extension ResponseStoreContract {
    /// Metadata, selections and the size of the store.
    static let selectionChecks: [Check] = [
        Check("The metadata describe the stored response") { subject in
            let store = try await subject.makeStore()
            let stored = Fixture.entry(
                "hello", url: "http://test/ä?q", tag: 5, identity: "me", expiresAt: 4_000_000_000.5)
            try await store.store(stored, for: Fixture.key("a"))
            let expected = StoredEntryInfo(
                key: Fixture.key("a"), url: stored.url, storedAt: stored.storedAt,
                size: stored.size, tag: 5, identity: "me", expiresAt: stored.expiresAt)
            for found in [try await store.entries(), try await store.entries(matching: .all)] {
                try subject.expect(found.count == 1, "\(found.count) entries instead of 1")
                try subject.expect(found.first == expected, "\(found) instead of \(expected)")
            }
        },
        Check("A selection lists the entries that it contains") { subject in
            let store = try await subject.makeStore()
            let all = try await fill(store)
            for selection in selections {
                let found = try await store.entries(matching: selection)
                let expected = all.filter { selection.contains($0) }
                try subject.expect(
                    found.count == Set(found).count, "an entry is listed twice for \(selection)")
                try subject.expect(
                    Set(found) == Set(expected),
                    "\(found.count) entries instead of \(expected.count) for \(selection)")
            }
        },
        Check("The removal of a selection removes the entries that it contains") { subject in
            let store = try await subject.makeStore()
            for selection in selections {
                let all = try await fill(store)
                let expected = all.filter { selection.contains($0) }
                let count = try await store.removeAll(matching: selection)
                try subject.expect(
                    count == expected.count,
                    "\(count) removed instead of \(expected.count) for \(selection)")
                let left = Set(try await store.entries())
                try subject.expect(
                    left == Set(all.filter { !selection.contains($0) }),
                    "\(left.count) entries are left of \(all.count) for \(selection)")
                for info in expected.prefix(3) {
                    try await subject.expect(store, returns: nil, for: info.key)
                }
            }
        },
        Check("The usage counts the entries and their bytes") { subject in
            let store = try await subject.makeStore()
            let empty = try await store.usage()
            try subject.expect(empty.entries == 0, "\(empty.entries) entries in an empty store")
            try subject.expect(empty.evictions == 0, "\(empty.evictions) evictions")
            for number in 0..<10 {
                var entry = Fixture.entry("")
                entry.body = Data(count: 20_000)
                // Each key twice: a replaced entry counts no more.
                for _ in 0..<2 { try await store.store(entry, for: Fixture.key("\(number)")) }
            }
            let usage = try await store.usage()
            try subject.expect(usage.entries == 10, "\(usage.entries) entries instead of 10")
            try subject.expect(
                usage.bytes >= 200_000 && usage.bytes < 2_000_000, "\(usage.bytes) bytes")
            try await store.remove(Fixture.key("3"))
            let nine = try await store.usage().entries
            try subject.expect(nine == 9, "\(nine) entries instead of 9")
            try await store.removeAll(where: nil)
            let cleared = try await store.usage()
            try subject.expect(cleared.entries == 0, "\(cleared.entries) entries after the removal")
            try subject.expect(
                cleared.bytes <= empty.bytes + 64_000, "\(cleared.bytes) bytes after the removal")
        },
    ]

    /// Fills a store with entries that differ in all that a selection compares.
    private static func fill(_ store: any ResponseStore) async throws -> [StoredEntryInfo] {
        let urls = [
            "http://test/users/1", "http://test/users/2?a=1", "http://test/users", "http://test/ä",
            "http://test/%25_x", "http://TEST/users/1", "",
        ]
        let identities: [String?] = [nil, "me", "you", ""]
        var infos: [StoredEntryInfo] = []
        for number in 0..<84 {
            let key = Fixture.key("\(number)")
            let entry = Fixture.entry(
                "\(number)", url: urls[number % 7], tag: number % 3,
                identity: identities[number % 4],
                storedAt: 1_700_000_000 + Double(number * 10),
                expiresAt: number % 5 == 0 ? nil : 4_000_000_000 + Double(number * 20))
            try await store.store(entry, for: key)
            infos.append(
                StoredEntryInfo(
                    key: key, url: entry.url, storedAt: entry.storedAt, size: entry.size,
                    tag: entry.tag, identity: entry.identity, expiresAt: entry.expiresAt))
        }
        return infos
    }

    private static var selections: [StoredEntryInfo.Selection] {
        let time = Date(timeIntervalSince1970: 1_700_000_400)
        let end = Date(timeIntervalSince1970: 4_000_000_400)
        return [
            .init(keys: []), .init(keys: [Fixture.key("7"), Fixture.key("none")]),
            .init(keys: Set((0..<50).map { Fixture.key("\($0)") }), tag: 1),
            .init(urlPrefix: ""), .init(urlPrefix: "http://test/users/"),
            .init(urlPrefix: "http://test/users"), .init(urlPrefix: "http://test/%"),
            .init(urlPrefix: "http://test/a\u{308}"), .init(urlPrefix: "http://test/ä"),
            .init(urlPrefix: "http://test/\u{10FFFF}"), .init(urlPrefix: "http://test/_"),
            .init(tag: 0), .init(tag: 2), .init(tag: 9),
            .init(identity: StoredEntryInfo.Selection.Identity.none),
            .init(identity: .user("me")), .init(identity: .user("")), .init(identity: .user("x")),
            .init(storedBefore: time), .init(storedBefore: .distantPast), .init(expiredAt: end),
            .init(expiredAt: .distantPast), .init(expiredAt: .distantFuture),
            .init(
                urlPrefix: "http://test/users", tag: 1, identity: .user("me"), storedBefore: time),
            .init(tag: 0, identity: .user("you"), expiredAt: end), .all,
        ]
    }
}
