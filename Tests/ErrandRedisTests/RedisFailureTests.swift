#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// The server is absent, slow, full or replaced, or other programs write to the keys.
    @Suite(.limited)
    struct RedisFailureTests {
        @Test func absentServerFailsAtOnceAndIsReportedOnce() async throws {
            var configuration = RedisResponseStore.Configuration(
                address: .unixSocket("/nonexistent/redis.sock"))
            configuration.commandLimit = .seconds(60)
            let store = try RedisResponseStore(configuration)
            for _ in 0..<20 {
                let error = await failure { _ = try await store.entry(for: key("a")) }
                #expect(error?.code == .storeFailed)
                #expect(error?.message.contains("/nonexistent/redis.sock") == true)
            }
            #expect(store.takeProblems().count == 1)
            #expect(store.takeProblems().isEmpty)
            #expect(store.problems.count == 1)
            let write = await failure { try await store.store(entry("a"), for: key("a")) }
            #expect(write?.code == .storeFailed)
            #expect(await store.acquireFetchLease(for: key("a")) == .unavailable)
        }

        @Test func wrongPasswordIsAClearError() async throws {
            let server = try await RedisServer("--requirepass", "secret")
            let without = try server.store()
            let missing = await failure { _ = try await without.entry(for: key("a")) }
            #expect(missing?.message.contains("NOAUTH") == true)
            #expect(missing?.message.contains("Set the username and the password") == true)
            let wrong = try server.store { $0.password = "other" }
            let refused = await failure { _ = try await wrong.entry(for: key("a")) }
            #expect(refused?.message.contains("WRONGPASS") == true)
            let right = try server.store { $0.password = "secret" }
            try await right.store(entry("a"), for: key("a"))
            let named = try server.store {
                $0.username = "default"
                $0.password = "secret"
            }
            #expect(try await named.entry(for: key("a")) == entry("a"))
        }

        @Test func killedServerIsUsedAgainAfterItsRestart() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("a"), for: key("a"))
            await server.kill()
            #expect(try await problemsOfOutage(store).count == 1)
            try await server.start()
            #expect(
                try await eventually {
                    await failure { try await store.store(entry("b"), for: key("a")) } == nil
                })
            #expect(try await store.entry(for: key("a")) == entry("b"))
            #expect(store.takeProblems().isEmpty)
        }

        @Test func missedRemovalsAreRepeated() async throws {
            let server = try await RedisServer()
            let store = try server.storeWithoutMemory()
            let other = try server.storeWithoutMemory()
            for name in ["a", "b", "c", "d"] {
                try await store.store(entry(name, tag: name == "c" ? 5 : 0), for: key(name))
            }
            // All connections of both stores are refused until the user is enabled again.
            let console = server.console()
            try await console.run("CONFIG", "SET", "requirepass", "closed")
            try await console.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            #expect(
                try await eventually {
                    await failure { try await store.remove(key("a")) } != nil
                })
            #expect(await failure { _ = try await store.removeAll(matching: .init(tag: 5)) } != nil)
            #expect(await failure { try await store.removeAll { $0.url.hasSuffix("d") } } != nil)
            try await console.run("CONFIG", "SET", "requirepass", "")
            #expect(
                try await eventually {
                    await failure { _ = try await store.entry(for: key("b")) } == nil
                })
            // No read of the store came before the removals.
            #expect(try await store.entry(for: key("a")) == nil)
            #expect(try await store.entry(for: key("b")) != nil)
            #expect(try await store.entry(for: key("c")) == nil)
            #expect(try await store.entry(for: key("d")) == nil)
            _ = other
        }

        @Test func pausedServerIsBypassed() async throws {
            let server = try await RedisServer()
            let store = try server.store {
                $0.commandLimit = .milliseconds(50)
                $0.connectLimit = .seconds(20)
                $0.maximumMemoryBytes = 0
            }
            #expect(
                try await eventually {
                    await failure { try await store.store(entry("a"), for: key("a")) } == nil
                })
            _ = store.takeProblems()
            let console = server.console()
            try await console.run("CLIENT", "PAUSE", "100000", "ALL")
            // The first command waits for the limit; later ones fail at once, with a reply that
            // needs no time limit to be tested: they were not sent.
            let first = await failure { _ = try await store.entry(for: key("a")) }
            #expect(first?.message.contains("no reply within 50 ms") == true)
            for _ in 0..<100 {
                let later = await failure { _ = try await store.entry(for: key("a")) }
                #expect((later?.underlying as? RedisFailure)?.kind == .bypassed)
            }
            #expect(store.takeProblems().count == 1)
            await server.kill()
            try await server.start()
            #expect(
                try await eventually {
                    await failure { try await store.store(entry("b"), for: key("a")) } == nil
                })
        }

        @Test func fullServerRefusesEntriesButPerformsRemovals() async throws {
            let server = try await RedisServer("--maxmemory-policy", "noeviction")
            let store = try server.storeWithoutMemory()
            try await store.store(entry("a"), for: key("a"))
            let console = server.console()
            try await console.run("CONFIG", "SET", "maxmemory", "1mb")
            var large = entry("")
            large.body = bytes(1 << 20)
            let error = await failure { try await store.store(large, for: key("b")) }
            #expect(error?.code == .storeFailed)
            #expect(error?.message.contains("OOM") == true)
            #expect(error?.message.contains("maxmemory") == true)
            #expect(try await store.entry(for: key("a")) == entry("a"))
            try await store.remove(key("a"))
            #expect(try await store.entry(for: key("a")) == nil)
            #expect(try await console.run("KEYS", "*b:*").elements.isEmpty)
            try await console.run("CONFIG", "SET", "maxmemory", "0")
            try await store.store(large, for: key("b"))
            #expect(try await store.entry(for: key("b")) == large)
        }

        @Test(arguments: ["list", "text", "empty", "hash"])
        func entryOfAnotherTypeIsRemoved(kind: String) async throws {
            let server = try await RedisServer()
            let store = try server.store()
            let name = RedisCommand.Part.text(store.keys.entry(EntryID(key("a"))))
            let console = server.console()
            func plant() async throws {
                try await console.run("DEL", name)
                switch kind {
                case "list": try await console.run("LPUSH", name, "x")
                case "text": try await console.run("SET", name, "not an entry")
                case "empty": try await console.run("SET", name, "")
                default: try await console.run("HSET", name, "a", "b")
                }
            }
            try await plant()
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.cacheMiss == .invalidData)
            #expect(try await console.run("EXISTS", name) == .integer(0))
            #expect(store.takeProblems().count == 1)
            #expect(try await store.entry(for: key("a")) == nil)

            try await plant()
            try await store.store(entry("a"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("a"))
            try await plant()
            #expect(try await store.entries().isEmpty)
            try await plant()
            try await store.removeAll(where: nil)
            #expect(try await console.run("EXISTS", name) == .integer(0))
        }

        @Test(arguments: ["x", "m", "c", "t:0", "u:-"])
        func indexOfAnotherTypeIsReplaced(name: String) async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("old"), for: key("old"))
            let console = server.console()
            let planted = RedisCommand.Part.text(store.keys.prefix + name)
            try await console.run("DEL", planted)
            try await console.run("LPUSH", planted, "x")
            try await store.store(entry("a"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("a"))
            // Entries that the lost index contained are not kept, since nothing would find them.
            #expect(try await store.entry(for: key("old")) == nil)
            #expect(try await store.entries().count == 1)
            #expect(try await store.usage().bytes == entry("a").size)
            #expect(store.takeProblems().count == 1)
        }

        @Test func changedBytesAreDetected() async throws {
            let server = try await RedisServer()
            let store = try server.storeWithoutMemory()
            let console = server.console()
            let name = RedisCommand.Part.text(store.keys.entry(EntryID(key("a"))))
            for offset in [0, 4, 12, 30, 70, 130, 250] {
                try await store.store(entry(String(repeating: "x", count: 300)), for: key("a"))
                try await console.run("SETRANGE", name, .number(offset), "\u{7}")
                let error = await failure { _ = try await store.entry(for: key("a")) }
                #expect(error?.cacheMiss == .invalidData, "offset \(offset)")
                #expect(try await console.run("EXISTS", name) == .integer(0))
            }
        }

        @Test(arguments: [true, false])
        func missingOrChangedPartIsDetected(isMissing: Bool) async throws {
            let server = try await RedisServer()
            let store = try server.storeWithoutMemory()
            let console = server.console()
            var large = entry("")
            large.body = bytes(RedisResponseStore.partBytes * 2 + 5)
            try await store.store(large, for: key("a"))
            let names = try await console.run("KEYS", "*b:*:1").elements.compactMap(\.text)
            let name = RedisCommand.Part.text(try #require(names.first))
            if isMissing {
                try await console.run("DEL", name)
            } else {
                try await console.run("SETRANGE", name, "100", "\u{1}")
            }
            let opened = try #require(try await store.open(key("a")))
            #expect(try await opened.body.bytes(in: 0..<10) == large.body[0..<10])
            let size = RedisResponseStore.partBytes
            #expect(await failure { _ = try await opened.body.bytes(in: size..<(size + 1)) } != nil)
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.cacheMiss == .invalidData)
            #expect(try await store.entry(for: key("a")) == nil)
            #expect(try await console.run("KEYS", "*b:*").elements.isEmpty)
        }

        @Test func entryOfAnotherKeyIsNotReturned() async throws {
            let server = try await RedisServer()
            let store = try server.store()
            try await store.store(entry("b"), for: key("b"))
            try await server.console().run(
                "RENAME", .text(store.keys.entry(EntryID(key("b")))),
                .text(store.keys.entry(EntryID(key("a")))))
            #expect(try await store.entry(for: key("a")) == nil)
        }

        @Test func anotherProtocolIsReported() async throws {
            let listener = try SilentListener(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n")
            var configuration = RedisResponseStore.Configuration(
                address: .host("127.0.0.1", port: listener.port))
            configuration.commandLimit = .seconds(20)
            configuration.connectLimit = .seconds(20)
            let store = try RedisResponseStore(configuration)
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.code == .storeFailed)
            #expect(store.takeProblems().count == 1)
        }

        @Test func silentServerIsBypassedAfterTheLimit() async throws {
            let listener = try SilentListener(greeting: nil)
            var configuration = RedisResponseStore.Configuration(
                address: .host("127.0.0.1", port: listener.port))
            configuration.connectLimit = .seconds(60)
            configuration.commandLimit = .milliseconds(50)
            let store = try RedisResponseStore(configuration)
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.message.contains("no connection within 50 ms") == true)
            let next = await failure { _ = try await store.entry(for: key("a")) }
            #expect((next?.underlying as? RedisFailure)?.kind == .bypassed)
            #expect(store.takeProblems().count == 1)
        }
    }
#endif
