#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// The memory tier with a real server.
    @Suite(.limited)
    struct MemoryInvalidationTests {
        /// Reads until the entry comes from memory.
        private func keepInMemory(
            _ store: RedisResponseStore, _ name: String
        ) async throws -> Bool {
            try await eventually {
                let hits = store.memory.hits
                _ = try await store.entry(for: key(name))
                return store.memory.hits > hits
            }
        }

        @Test func hitNeedsNoRoundTrip() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("a"), for: key("a"))
            #expect(try await keepInMemory(store, "a"))
            let console = server.console()
            func gets() async throws -> Int {
                let statistics = try await console.run("INFO", "commandstats").text ?? ""
                let calls = statistics.firstRange(of: "cmdstat_get:calls=")?.upperBound
                return calls.flatMap { Int(statistics[$0...].prefix { $0.isNumber }) } ?? 0
            }
            let (hits, commands) = (store.memory.hits, try await gets())
            for _ in 0..<100 { _ = try await store.entry(for: key("a")) }
            let served = store.memory.hits - hits
            #expect(served > 0)
            // Without a sign of life of the server for a second, which a busy machine may cause,
            // entries are read from it.
            #expect(try await gets() - commands == 100 - served)
        }

        @Test func removalIsVisibleToOtherStores() async throws {
            let server = try await RedisServer()
            let one = try server.store()
            let other = try server.store()
            for round in 0..<20 {
                try await one.store(entry("\(round)"), for: key("a"))
                #expect(
                    try await eventually {
                        try await other.entry(for: key("a")) == entry("\(round)")
                    })
                #expect(try await keepInMemory(other, "a"))
                try await one.remove(key("a"))
                #expect(
                    try await eventually { try await other.entry(for: key("a")) == nil })
            }
        }

        /// No read that begins a second after a removal returns the removed entry.
        @Test func removalIsVisibleToOtherStoresWithinASecond() async throws {
            let server = try await RedisServer()
            let one = try server.storeWithoutMemory()
            let other = try server.store()
            for _ in 0..<20 {
                try await one.store(entry("a"), for: key("a"))
                #expect(try await keepInMemory(other, "a"))
                try await one.remove(key("a"))
                let removal = RedisTime.now
                while true {
                    let start = RedisTime.now
                    if try await other.entry(for: key("a")) == nil { break }
                    let isLate = start - removal >= 1_000_000_000
                    #expect(!isLate)
                    if isLate { break }
                    await Task.yield()
                }
            }
        }

        @Test func ownWritesAreVisibleAtOnce() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            for round in 0..<200 {
                try await store.store(entry("\(round)"), for: key("a"))
                #expect(try await store.entry(for: key("a")) == entry("\(round)"))
                #expect(try await store.entry(for: key("a")) == entry("\(round)"))
                if round % 10 == 0 {
                    try await store.remove(key("a"))
                    #expect(try await store.entry(for: key("a")) == nil)
                }
            }
        }

        @Test func removalsOfAllKindsEmptyTheMemoryOfOthers() async throws {
            let server = try await RedisServer()
            let one = try server.storeWithoutMemory()
            let other = try server.store()
            let removals: [@Sendable () async throws -> Void] = [
                { try await one.removeAll(where: nil) },
                { try await one.removeAll(matching: .init(tag: 7)) },
                { try await one.removeAll { $0.tag == 7 } },
                { try await server.console().run("FLUSHALL") },
            ]
            for remove in removals {
                try await one.store(entry("a", tag: 7), for: key("a"))
                #expect(try await keepInMemory(other, "a"))
                try await remove()
                #expect(try await eventually { try await other.entry(for: key("a")) == nil })
            }
        }

        @Test func lostConnectionForNoticesEmptiesTheMemory() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("a"), for: key("a"))
            try await store.store(entry("b"), for: key("b"))
            #expect(try await keepInMemory(store, "a"))
            let console = server.console()
            // Only the connection for notices subscribes.
            try await console.run("CLIENT", "KILL", "TYPE", "pubsub")
            #expect(try await eventually { store.memory.count == 0 })
            // The others stay, so the store is used meanwhile.
            #expect(try await store.entry(for: key("b")) == entry("b"))
            #expect(try await keepInMemory(store, "a"))
            // The new connection receives notices as well.
            let other = try server.storeWithoutMemory()
            try await other.store(entry("new"), for: key("a"))
            #expect(
                try await eventually { try await store.entry(for: key("a")) == entry("new") })
        }

        @Test func serverWithoutTrackingKeepsNothingInMemory() async throws {
            let server = try await RedisServer("--rename-command", "SUBSCRIBE", "")
            let store = try server.store()
            try await store.store(entry("a"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("a"))
            #expect(store.memory.count == 0)
            #expect(store.takeProblems().count == 1)
        }
    }
#endif
