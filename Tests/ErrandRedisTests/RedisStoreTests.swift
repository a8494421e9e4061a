#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import HTTPTypes
    import TestSupport
    import Testing

    @testable import ErrandRedis

    @Suite(.limited)
    struct RedisStoreTests {
        @Test func entriesAreSharedByStores() async throws {
            let server = try await RedisServer()
            let one = try server.store()
            let other = try server.storeWithoutMemory()
            try await one.store(entry("hello"), for: key("a"))
            #expect(try await other.entry(for: key("a")) == entry("hello"))
            #expect(try await other.entry(for: key("b")) == nil)
            try await other.store(entry("new", tag: 3), for: key("a"))
            #expect(try await one.entry(for: key("a")) == entry("new", tag: 3))
            try await one.remove(key("a"))
            #expect(try await other.entry(for: key("a")) == nil)
            #expect(one.problems.isEmpty)
        }

        @Test func storesWithOtherPrefixesOrDatabasesAreSeparate() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("1"), for: key("a"))
            let prefixed = try server.store { $0.keyPrefix = "other[*]:" }
            let numbered = try server.store { $0.database = 2 }
            for other in [prefixed, numbered] {
                #expect(try await other.entry(for: key("a")) == nil)
                try await other.store(entry("2"), for: key("a"))
                #expect(try await other.entries().count == 1)
                try await other.removeAll(where: nil)
                #expect(try await other.entries().isEmpty)
            }
            #expect(try await store.entry(for: key("a")) == entry("1"))
        }

        /// The random bytes for digests in keys belong to all stores of a prefix.
        @Test func storesShareTheirDigestKey() async throws {
            let server = try await RedisServer()
            let keys = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<8 {
                    let store = try server.store()
                    group.addTask { try await store.digestKey() }
                }
                return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
            }
            #expect(keys.count == 1 && keys.first?.count == 32)
            let store = try server.store()
            try await store.removeAll(where: nil)
            #expect(try await store.digestKey() == keys.first)
            let prefixed = try server.store { $0.keyPrefix = "other:" }
            #expect(try await prefixed.digestKey() != keys.first)
        }

        @Test func entryExpiresOnTheServer() async throws {
            let server = try await RedisServer()
            let store = try server.store {
                $0.graceTime = .seconds(50)
                $0.defaultLifetime = .seconds(500)
            }
            let console = server.console()
            try await store.store(entry("a"), for: key("a"))
            try await store.store(entry("b", expiresAt: Date() + 100), for: key("b"))
            func ttl(_ name: String) async throws -> Int {
                let id = EntryID(key(name))
                return try await console.run("PTTL", .text(store.keys.entry(id))).number ?? 0
            }
            #expect((400_000...500_000).contains(try await ttl("a")))
            #expect((100_000...150_000).contains(try await ttl("b")))
        }

        @Test func expiredEntryLeavesNoTrace() async throws {
            let server = try await RedisServer()
            let store = try server.store { $0.graceTime = .zero }
            try await store.store(entry("a", tag: 1, expiresAt: Date() - 1), for: key("a"))
            try await store.store(entry("b"), for: key("b"))
            #expect(try await eventually { try await store.entry(for: key("a")) == nil })
            let usage = try await store.usage()
            #expect(usage.entries == 1 && usage.bytes == entry("b").size)
            #expect(try await store.entries(matching: .init(tag: 1)).isEmpty)
            let console = server.console()
            #expect(try await console.run("EXISTS", .text(store.keys.tag(1))) == .integer(0))
        }

        @Test func largeBodyIsStoredInParts() async throws {
            let server = try await RedisServer()
            let store = try server.storeWithoutMemory()
            var large = entry("")
            large.body = bytes(RedisResponseStore.partBytes * 3 + 17)
            try await store.store(large, for: key("a"))
            #expect(try await store.entry(for: key("a")) == large)
            #expect(try await store.entries().first?.size == large.size)
            #expect(try await store.usage().bytes == large.size)

            let opened = try #require(try await store.open(key("a")))
            #expect(opened.entry.body.isEmpty && opened.body.count == large.body.count)
            let size = RedisResponseStore.partBytes
            for range in [0..<5, (size - 2)..<(size + 2), 1..<(size * 3), 0..<large.body.count] {
                #expect(try await opened.body.bytes(in: range) == large.body[range])
            }

            // The parts of a replaced entry are removed with it.
            try await store.store(entry("small"), for: key("a"))
            let error = await #expect(throws: RequestError.self) {
                _ = try await opened.body.bytes(in: 0..<5)
            }
            #expect(error?.code == .storeFailed)
            try await store.remove(key("a"))
            let left = try await server.console().run("KEYS", "*b:*")
            #expect(left.elements.isEmpty)
            #expect(try await store.usage() == StoredEntryInfo.Usage(entries: 0, bytes: 0))
        }

        @Test func interruptedBodyKeepsThePreviousEntry() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("old"), for: key("a"))
            let count = RedisResponseStore.partBytes * 4
            let body = StoredResponse.ChunkedBody(count: count) { range throws(RequestError) in
                if range.lowerBound >= count / 2 {
                    throw RequestError(.storeFailed, stage: .cache, "lost")
                }
                return bytes(count)[range]
            }
            let error = await #expect(throws: RequestError.self) {
                try await store.store(entry(""), body: body, for: key("a"))
            }
            #expect(error?.message == "lost")
            #expect(try await store.entry(for: key("a")) == entry("old"))
            #expect(try await server.console().run("KEYS", "*b:*").elements.isEmpty)
        }

        @Test func bodyInPartsIsWrittenFromPieces() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            for count in [0, 10, RedisResponseStore.partBytes, RedisResponseStore.partBytes + 1] {
                let data = bytes(count)
                try await store.store(entry(""), body: .init(data), for: key("a"))
                #expect(try await store.entry(for: key("a"))?.body == data)
            }
        }

        @Test func tooLargeEntryRemovesThePreviousOne() async throws {
            let server = try await RedisServer()
            let store = try server.store { $0.maximumEntryBytes = 1000 }
            try await store.store(entry("small"), for: key("a"))
            var large = entry("")
            large.body = bytes(1001)
            let error = await #expect(throws: RequestError.self) {
                try await store.store(large, for: key("a"))
            }
            #expect(error?.code == .storeFailed)
            #expect(error?.message.contains("maximumEntryBytes") == true)
            #expect(try await store.entry(for: key("a")) == nil)
        }

        @Test(arguments: [[], ["--maxmemory-policy", "allkeys-lru"]])
        func selectionsFindTheirEntries(policy: [String]) async throws {
            let server = try await RedisServer()
            if let policy = policy.last {
                try await server.console().run(
                    "CONFIG", "SET", "maxmemory-policy", .text(policy))
            }
            let store = try server.storeWithoutMemory()
            for number in 0..<600 {
                try await store.store(
                    entry(
                        "x", tag: number % 3, identity: number % 2 == 0 ? "user" : nil,
                        url: "http://test/\(number)"), for: key("\(number)"))
            }
            #expect(try await store.entries().count == 600)
            #expect(try await store.entries(matching: .init(tag: 1)).count == 200)
            let both = StoredEntryInfo.Selection(tag: 1, identity: .user("user"))
            #expect(try await store.entries(matching: both).count == 100)
            #expect(try await store.entries(matching: .init(identity: .some(.none))).count == 300)
            #expect(
                try await store.entries(matching: .init(urlPrefix: "http://test/59")).count == 11)
            #expect(try await store.removeAll(matching: both) == 100)
            #expect(try await store.usage().entries == 500)
            let some = StoredEntryInfo.Selection(keys: [key("2"), key("4"), key("none")])
            #expect(try await store.removeAll(matching: some) == 1)
            try await store.removeAll { $0.tag == 0 }
            #expect(try await store.entries().allSatisfy { $0.tag != 0 })
            #expect(try await store.usage().entries == 299)
            try await store.removeAll(where: nil)
            #expect(try await store.entries().isEmpty)
            #expect(try await store.usage() == StoredEntryInfo.Usage(entries: 0, bytes: 0))
            // Nothing is left of the index.
            #expect(try await server.console().run("KEYS", "*v1:[xtmu]*").elements.isEmpty)
        }

        @Test func removalOfAllFindsEntriesWithoutAnIndex() async throws {
            let server = try await RedisServer()
            let store = try server.storeWithoutMemory()
            try await store.store(entry("a"), for: key("a"))
            try await server.console().run(
                "DEL", .text(store.keys.index), .text(store.keys.prefix + "m"))
            try await store.removeAll(where: nil)
            #expect(try await store.entry(for: key("a")) == nil)
        }

        @Test func concurrentTasksSeeCompleteEntries() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        for round in 0..<60 {
                            let text = String(
                                repeating: "\(worker % 10)", count: 500 + round * 20_000 / 59)
                            try await store.store(entry(text), for: key("\(round % 5)"))
                            let body =
                                try await store.entry(for: key("\(round % 3)"))?.body ?? Data()
                            #expect(body == Data(repeating: body.first ?? 0, count: body.count))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.entries().count == 5)
        }

        @Test func scriptsAreSentAgainAfterTheServerHasForgottenThem() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("a"), for: key("a"))
            try await server.console().run("SCRIPT", "FLUSH")
            try await store.store(entry("b"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("b"))
        }

        @Test func invalidSettingsAreRefused() {
            func error(
                _ change: (inout RedisResponseStore.Configuration) -> Void
            ) -> RequestError? {
                var configuration = RedisResponseStore.Configuration()
                change(&configuration)
                do throws(RequestError) {
                    _ = try RedisResponseStore(configuration)
                    return nil
                } catch { return error }
            }
            #expect(error { _ in } == nil)
            #expect(error { $0.address = .host("", port: 1) }?.code == .invalidConfiguration)
            #expect(error { $0.address = .host("a", port: 70_000) } != nil)
            #expect(error { $0.address = .unixSocket("") } != nil)
            #expect(error { $0.username = "me" } != nil)
            #expect(error { $0.connections = 0 } != nil)
            #expect(error { $0.database = -1 } != nil)
            #expect(error { $0.commandLimit = .zero } != nil)
            #expect(error { $0.graceTime = .seconds(-1) } != nil)
            #expect(error { $0.maximumMemoryBytes = -1 } != nil)
        }

        @Test func passwordIsNotInDescriptions() {
            var configuration = RedisResponseStore.Configuration()
            configuration.password = "hunter2"
            var text = "\(configuration)"
            dump(configuration, to: &text)
            #expect(!text.contains("hunter2"))
        }
    }
#endif
