#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// One process loads a missing response, and the others wait for it.
    @Suite(.limited)
    struct FetchLeaseTests {
        @Test func leaseIsGrantedOnce() async throws {
            let server = try await RedisServer()
            // The lease does not end by itself, even if the test is interrupted for minutes.
            let one = try server.store { $0.fetchLease = .seconds(3600) }
            let other = try server.store {
                $0.fetchLease = .seconds(3600)
                $0.fetchWait = .milliseconds(50)
            }
            guard case .granted(let token) = await one.acquireFetchLease(for: key("a")) else {
                Issue.record("the first lease was not granted")
                return
            }
            #expect(await other.acquireFetchLease(for: key("a")) == .unavailable)
            // Another token does not end it.
            await other.releaseFetchLease("other", for: key("a"))
            #expect(await other.acquireFetchLease(for: key("a")) == .unavailable)
            await one.releaseFetchLease(token, for: key("a"))
            guard case .granted = await other.acquireFetchLease(for: key("a")) else {
                Issue.record("the lease was not granted after its release")
                return
            }
        }

        @Test func waiterSeesTheReleaseByAStoredEntry() async throws {
            let server = try await RedisServer()
            let one = try server.store()
            let other = try server.store { $0.fetchWait = .seconds(20) }
            _ = await one.acquireFetchLease(for: key("a"))
            async let result = other.acquireFetchLease(for: key("a"))
            try await one.store(entry("a"), for: key("a"))
            switch await result {
            case .released: #expect(try await other.entry(for: key("a")) == entry("a"))
            // The entry was stored before the waiter asked.
            case .granted: #expect(try await other.entry(for: key("a")) == entry("a"))
            case .unavailable: Issue.record("the waiter did not see the release")
            }
        }

        @Test func leaseOfALostProcessEnds() async throws {
            let server = try await RedisServer()
            let lost = try server.store { $0.fetchLease = .milliseconds(100) }
            let other = try server.store { $0.fetchWait = .seconds(20) }
            _ = await lost.acquireFetchLease(for: key("a"))
            #expect(
                try await eventually {
                    if case .granted = await other.acquireFetchLease(for: key("a")) { return true }
                    return false
                })
        }

        @Test func cancelledWaiterGoesOn() async throws {
            let server = try await RedisServer()
            let one = try server.store { $0.fetchLease = .seconds(3600) }
            let other = try server.store { $0.fetchWait = .seconds(3600) }
            _ = await one.acquireFetchLease(for: key("a"))
            let waiter = Task { await other.acquireFetchLease(for: key("a")) }
            waiter.cancel()
            #expect(await waiter.value == .unavailable)
        }

        /// A client of an origin: looks in the store, and loads a missing response.
        private static func fetch(
            _ store: RedisResponseStore, _ origin: Origin
        ) async throws -> StoredResponse {
            let writes = PendingCacheWrites()
            if let found = try await store.entry(for: key("a")) { return found }
            let result = try await writes.loadOnce(key("a"), in: store) {
                (try? await store.entry(for: key("a"))) ?? nil
            } load: { () throws(RequestError) in
                let response = try await origin.load()
                writes.enqueue(.store(response), for: key("a"), in: store)
                return response
            }
            await writes.flush()
            return result
        }

        private final class Origin: Sendable {
            let count = Mutex(0)
            let failures: Int

            init(failures: Int = 0) { self.failures = failures }

            func load() async throws(RequestError) -> StoredResponse {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                // Long enough for all others to miss as well.
                do { try await Task.sleep(for: .milliseconds(200)) } catch {}
                guard number > failures else {
                    throw RequestError(.timedOut, stage: .transport, "the origin failed")
                }
                return entry("response")
            }
        }

        @Test func fiftyClientsLoadOnce() async throws {
            let server = try await RedisServer()
            let origin = Origin()
            let stores = try (0..<50).map { _ in
                try server.store {
                    $0.connections = 1
                    $0.fetchWait = .seconds(60)
                    $0.fetchLease = .seconds(60)
                }
            }
            try await withThrowingTaskGroup(of: StoredResponse.self) { group in
                for store in stores {
                    group.addTask { try await Self.fetch(store, origin) }
                }
                for try await response in group { #expect(response == entry("response")) }
            }
            #expect(origin.count.withLock { $0 } == 1)
        }

        @Test func failedLoadLetsAnotherClientLoad() async throws {
            let server = try await RedisServer()
            let origin = Origin(failures: 1)
            let stores = try (0..<10).map { _ in
                try server.store { $0.fetchWait = .seconds(60) }
            }
            var failures = 0
            await withTaskGroup(of: Bool.self) { group in
                for store in stores {
                    group.addTask { (try? await Self.fetch(store, origin)) != nil }
                }
                for await succeeded in group where !succeeded { failures += 1 }
            }
            #expect(failures == 1)
            #expect(origin.count.withLock { $0 } == 2)
        }

        @Test func absentServerDoesNotDelayALoad() async throws {
            let store = try RedisResponseStore(
                RedisResponseStore.Configuration(address: .unixSocket("/nonexistent/redis.sock")))
            let origin = Origin()
            let writes = PendingCacheWrites()
            let result = try await writes.loadOnce(key("a"), in: store) {
                nil
            } load: { () throws(RequestError) in
                try await origin.load()
            }
            #expect(result == entry("response"))
            #expect(origin.count.withLock { $0 } == 1)
        }

        // MARK: - Processes

        /// In a child process: fetches once, and counts loads in the server.
        @Test func clientProcess() async throws {
            guard let role = TestProcess.role, let socket = role["fetchSocket"] else { return }
            var settings = RedisResponseStore.Configuration(address: .unixSocket(socket))
            settings.commandLimit = .seconds(60)
            settings.connectLimit = .seconds(60)
            settings.fetchWait = .seconds(60)
            settings.fetchLease = .seconds(60)
            settings.connections = 1
            let store = try RedisResponseStore(settings)
            let console = RedisServer.Console(settings)
            // All processes begin at the same time.
            try await console.run("INCR", "ready")
            let expected = Int(role["count"] ?? "") ?? 0
            #expect(
                try await eventually {
                    let ready = try await console.run("GET", "ready").text.flatMap { Int($0) }
                    return (ready ?? 0) >= expected
                })
            let origin = Origin()
            let response = try await Self.fetch(store, origin)
            #expect(response == entry("response"))
            try await console.run("INCRBY", "loads", .number(origin.count.withLock { $0 }))
            try await console.run("INCR", "done")
        }

        @Test func processesLoadOnce() async throws {
            guard TestProcess.role == nil else { return }
            let count = 50
            let server = try await RedisServer()
            let processes = try (0..<count).map { _ in
                try TestProcess(
                    running: "FetchLeaseTests/clientProcess",
                    as: ["fetchSocket": server.socket, "count": "\(count)"])
            }
            for process in processes {
                let end = await process.ended()
                #expect(end == .exit(0), "\(process.output)")
            }
            let console = server.console()
            #expect(try await console.run("GET", "done").text == "\(count)")
            #expect(try await console.run("GET", "loads").text == "1")
        }
    }
#endif
