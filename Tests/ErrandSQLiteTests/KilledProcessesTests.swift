#if os(Linux)
    import ErrandCore
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandSQLite

    /// Four processes read and write one file, and are killed at random moments.
    @Suite(.timeLimit(.minutes(30)))
    struct KilledProcessesTests {
        /// The number of processes at the same time.
        private static let processes = 4

        /// How many processes are killed: `ERRAND_STORE_KILLS`, 20 by default.
        private static var kills: Int {
            ProcessInfo.processInfo.environment["ERRAND_STORE_KILLS"].flatMap { Int($0) } ?? 20
        }

        @Test func killedProcessesLeaveCompleteEntries() async throws {
            if let role = TestProcess.role, let path = role["path"], let seed = role["seed"] {
                await Self.work(path: path, seed: UInt64(seed) ?? 0)
            }
            let directory = try TemporaryFolder()
            let path = directory.path("a.sqlite")
            var seed = UInt64.random(in: 0...(.max))
            var stored = 0
            for round in 0..<((Self.kills + Self.processes - 1) / Self.processes) {
                let children = try (0..<Self.processes).map { _ in
                    seed &+= 1
                    return try TestProcess(
                        running: "KilledProcessesTests/killedProcessesLeaveCompleteEntries",
                        as: ["path": path, "seed": "\(seed)"])
                }
                for child in children {
                    let end = await child.ended()
                    #expect(end == .signal(SIGKILL), "seed \(seed): \(child.output.suffix(2000))")
                }
                stored = try await Self.checkFile(path, round: round, seed: seed)
            }
            #expect(stored > 0)
            #expect(!directory.names.contains { $0.contains("broken") })
        }

        /// Expects that the file is intact and each entry complete; returns the number of entries.
        private static func checkFile(_ path: String, round: Int, seed: UInt64) async throws -> Int
        {
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
            let check = try connection.prepare("PRAGMA integrity_check")
            #expect(try check.step() && check.text(0) == "ok", "round \(round), seed \(seed)")
            check.reset()
            let store = makeStore(path)
            let infos = try await store.entries()
            for info in infos {
                let entry = try await store.entry(for: info.key)
                #expect(entry.map { isComplete($0) } == true, "round \(round), seed \(seed)")
            }
            #expect(try await store.usage().entries == infos.count)
            #expect(store.problems.isEmpty)
            return infos.count
        }

        private static func makeStore(_ path: String) -> SQLiteResponseStore {
            var limits = StoreLimits(bytes: 32 << 20, memoryBytes: 1 << 20)
            limits.maximumEntries = 200
            return SQLiteResponseStore(path: path, limits: limits, now: { Date() })
        }

        // MARK: - In the processes

        /// Reads and writes until another thread kills the process.
        private static func work(path: String, seed: UInt64) async -> Never {
            var random = SeededGenerator(seed: seed)
            let operations = Int.random(in: 1...40, using: &random)
            let microseconds = UInt32.random(in: 0...20_000, using: &random)
            let isDue = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for _ in 0..<operations { isDue.wait() }
                usleep(microseconds)
                kill(getpid(), SIGKILL)
            }
            let store = makeStore(path)
            do {
                while true {
                    try await perform(on: store, &random)
                    isDue.signal()
                }
            } catch {
                print("operation failed: \(error)")
                exit(EXIT_FAILURE)
            }
        }

        private struct Incomplete: Error {}

        private static func perform(
            on store: SQLiteResponseStore, _ random: inout SeededGenerator
        ) async throws {
            let key = key("\(Int.random(in: 0..<30, using: &random))")
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<7:
                let size = Int.random(in: 0...40_000, using: &random)
                try await store.store(pattern(size, &random), for: key)
            case 7..<9:
                let size = Int.random(in: 1_100_000...2_500_000, using: &random)
                let entry = pattern(size, &random)
                try await store.store(entry, body: .init(entry.body), for: key)
            case 9..<16:
                guard let entry = try await store.entry(for: key) else { return }
                guard isComplete(entry) else { throw Incomplete() }
            case 16: try await store.remove(key)
            case 17: try await store.removeAll(matching: .init(tag: 3))
            case 18: _ = try await store.entries(matching: .init(urlPrefix: "http://test/"))
            default: _ = try await store.usage()
            }
        }

        /// An entry whose URL has the length of its body; all bytes of the body are equal.
        private static func pattern(
            _ size: Int, _ random: inout SeededGenerator
        ) -> StoredResponse {
            var result = entry("", tag: Int.random(in: 0..<4, using: &random))
            result.url = "http://test/\(size)"
            result.body = Data(repeating: UInt8.random(in: 0...255, using: &random), count: size)
            return result
        }

        private static func isComplete(_ entry: StoredResponse) -> Bool {
            guard entry.url == "http://test/\(entry.body.count)" else { return false }
            guard let first = entry.body.first else { return true }
            return entry.body == Data(repeating: first, count: entry.body.count)
        }
    }
#endif
