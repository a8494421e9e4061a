import ErrandCore
import ErrandSystem
import HTTPTypes

extension ResponseStoreContract {
    /// Two keys whose `hash64` is equal.
    private static let colliding = (
        CacheKey(canonical: "8yn0iYCKYHlIj4-BwPqk"), CacheKey(canonical: "GReLUrM4wMqfg9yzV3KQ")
    )

    /// Whole entries, and their removal by key or predicate.
    static let entryChecks: [Check] = [
        Check("An empty store has no entries") { subject in
            let store = try await subject.makeStore()
            try await subject.expect(store, returns: nil, for: Fixture.key("a"))
            let count = try await store.entries().count
            try subject.expect(count == 0, "\(count) entries")
            try await store.remove(Fixture.key("a"))
            try await store.removeAll(where: nil)
            try await store.removeAll { _ in true }
        },
        Check("Entries are read as they were stored") { subject in
            let store = try await subject.makeStore()
            let (full, bare) = (fullEntry, bareEntry)
            try await store.store(full, for: Fixture.key("full"))
            try await store.store(bare, for: Fixture.key("bare"))
            for _ in 0..<2 {
                try await subject.expect(store, returns: full, for: Fixture.key("full"))
                try await subject.expect(store, returns: bare, for: Fixture.key("bare"))
            }
        },
        Check("A slice of data is stored by its bytes") { subject in
            let store = try await subject.makeStore()
            var sliced = Fixture.entry("")
            sliced.body = Data("0123456789".utf8)[3..<6]
            try await store.store(sliced, for: Fixture.key("a"))
            try await subject.expect(
                store, returns: Fixture.entry("345"), for: Fixture.key("a"))
        },
        Check("A later entry replaces the earlier one") { subject in
            let store = try await subject.makeStore()
            let key = Fixture.key("a")
            try await store.store(
                Fixture.entry("one", tag: 1, identity: "me", expiresAt: 4_000_000_000), for: key)
            try await store.store(Fixture.entry("two", tag: 2), for: key)
            try await subject.expect(store, returns: Fixture.entry("two", tag: 2), for: key)
            let count = try await store.entries().count
            try subject.expect(count == 1, "\(count) entries for one key")
        },
        Check("Keys with the same hash are distinguished") { subject in
            let store = try await subject.makeStore()
            let (one, other) = colliding
            try subject.expect(one.hash64 == other.hash64, "the keys have different hashes")
            try await store.store(Fixture.entry("one"), for: one)
            try await subject.expect(store, returns: nil, for: other)
            try await store.remove(other)
            try await subject.expect(store, returns: Fixture.entry("one"), for: one)
            try await store.store(Fixture.entry("other"), for: other)
            try await subject.expect(store, returns: Fixture.entry("other"), for: other)
            // One of the two may have been replaced, but neither is returned for the other's key.
            if let found = try await store.entry(for: one) {
                try subject.expect(found == Fixture.entry("one"), "the entry of the other key")
            }
        },
        Check("One entry, some or all are removed") { subject in
            let store = try await subject.makeStore()
            for number in 0..<1200 {
                try await store.store(
                    Fixture.entry("x", tag: number), for: Fixture.key("\(number)"))
            }
            try await store.remove(Fixture.key("7"))
            try await subject.expect(store, returns: nil, for: Fixture.key("7"))
            try await store.removeAll { $0.tag % 3 == 0 }
            try await subject.expect(store, returns: nil, for: Fixture.key("9"))
            try await subject.expect(
                store, returns: Fixture.entry("x", tag: 8), for: Fixture.key("8"))
            let count = try await store.entries().count
            try subject.expect(count == 799, "\(count) entries instead of 799")
            try await store.removeAll(where: nil)
            let rest = try await store.entries().count
            try subject.expect(rest == 0, "\(rest) entries after the removal of all")
            try await subject.expect(store, returns: nil, for: Fixture.key("8"))
        },
        Check("An entry that exceeds the limit fails and removes the previous one") { subject in
            let store = try await subject.makeStore()
            guard let limit = try await store.usage().maximumBytes, limit < 256 << 20 else {
                return
            }
            let key = Fixture.key("a")
            try await store.store(Fixture.entry("small"), for: key)
            var large = Fixture.entry("")
            large.body = Data(count: limit + 1)
            let error = await Fixture.failure { [large] () async throws(RequestError) in
                try await store.store(large, for: key)
            }
            guard let error else {
                return try subject.expect(false, "an entry above \(limit) bytes was stored")
            }
            try subject.expect(error.code == .storeFailed, "another error: \(error)")
            try await subject.expect(store, returns: nil, for: key)
        },
        Check("Concurrent tasks read complete entries") { subject in
            let store = try await subject.makeStore()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for round in 0..<40 {
                            let text = String(repeating: "\(worker)", count: 500 + round)
                            try await store.store(
                                Fixture.entry(text), for: Fixture.key("\(round % 5)"))
                            let read = try await store.entry(for: Fixture.key("\(round % 3)"))
                            try subject.expect(
                                Fixture.isUniform(read?.body ?? Data()), "an entry mixed of two")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let count = try await store.entries().count
            try subject.expect(count == 5, "\(count) entries instead of 5")
        },
    ]

    /// An entry with a value in every field.
    static var fullEntry: StoredResponse {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .setCookie, value: "a=1"))
        headers.append(HTTPField(name: .setCookie, value: "b=2; Path=/"))
        headers.append(HTTPField(name: .contentType, value: "text/plain; charset=\"ü\": x"))
        return StoredResponse(
            status: 203, headers: headers, body: Fixture.bytes(70_000),
            url: "http://test/ä?q=1", storedAt: Date(timeIntervalSinceReferenceDate: 1e8 / 3),
            cacheVersion: -7, appVersion: "1.2 \u{1F980}", identity: "", tag: .min,
            expiresAt: Date(timeIntervalSinceReferenceDate: 1e10 / 3))
    }

    /// An entry without anything that is optional.
    static var bareEntry: StoredResponse {
        StoredResponse(
            status: 204, headers: [:], body: Data(), url: "", storedAt: .distantPast,
            cacheVersion: .max)
    }
}
