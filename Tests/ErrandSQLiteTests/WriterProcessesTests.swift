#if os(Linux)
    import ErrandCore
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandSQLite

    /// The size limit with writers in several processes.
    @Suite(.limited)
    struct WriterProcessesTests {
        private static let bound = 1 << 20
        private static let entryBytes = 60_000
        /// The documented slack: the largest entry, and 128 KiB.
        private static let slack = entryBytes + (128 << 10)

        private static func makeStore(_ path: String) -> SQLiteResponseStore {
            let limits = StoreLimits(
                bytes: bound, memoryBytes: 0, checkpointPatience: .seconds(60))
            return SQLiteResponseStore(path: path, limits: limits, now: { Date() })
        }

        /// In a child process: writes entries, and exits without closing the store.
        @Test func writerProcess() async throws {
            guard let role = TestProcess.role, let path = role["limitedPath"] else { return }
            let store = Self.makeStore(path)
            for number in 0..<(Int(role["entries"] ?? "") ?? 0) {
                do {
                    try await store.store(
                        entry(bytes: Self.entryBytes), for: key("\(getpid())/\(number)"))
                } catch {
                    print("write failed: \(error)")
                    exit(EXIT_FAILURE)
                }
            }
            exit(EXIT_SUCCESS)
        }

        private static func start(_ path: String, entries: Int) throws -> TestProcess {
            try TestProcess(
                running: "WriterProcessesTests/writerProcess",
                as: ["limitedPath": path, "entries": "\(entries)"])
        }

        @Test func processesTogetherStayWithinTheLimit() async throws {
            guard TestProcess.role == nil else { return }
            let directory = try TemporaryFolder()
            let path = directory.path("a.sqlite")
            let peak = try await DatabaseFiles(path: path).peak {
                let processes = try (0..<4).map { _ in try Self.start(path, entries: 60) }
                for process in processes {
                    let end = await process.ended()
                    #expect(end == .exit(0), "\(process.output.suffix(2000))")
                }
            }
            #expect(peak <= Self.bound + Self.slack)
            // The limit was reached.
            #expect(peak > Self.bound / 2)
        }

        @Test func shortLivedProcessesStayWithinTheLimit() async throws {
            guard TestProcess.role == nil else { return }
            let directory = try TemporaryFolder()
            let path = directory.path("a.sqlite")
            let files = DatabaseFiles(path: path)
            for _ in 0..<24 {
                let process = try Self.start(path, entries: 3)
                let end = await process.ended()
                #expect(end == .exit(0), "\(process.output.suffix(2000))")
                #expect(files.total <= Self.bound + Self.slack)
            }
            // More was written than fits.
            #expect(24 * 3 * Self.entryBytes > 2 * Self.bound)
            #expect(try await !Self.makeStore(path).entries().isEmpty)
        }
    }
#endif
