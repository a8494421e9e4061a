import Errand
import ErrandCore
import ErrandSQLite
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

/// The file of a checkpoint store: crashes, other versions, damage, rights.
@Suite(.limited)
struct CheckpointFileTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("chains.sqlite")
    }

    private static func row(_ step: Int, chain: String = "a") -> Checkpoint {
        // Each output differs from the one of the previous checkpoint.
        Checkpoint(
            chain: chain, revision: UUID(), definition: ["\(step)"],
            outputs: (0..<step % 50).map { Data("\(step) \($0)".utf8) })
    }

    private static func isComplete(_ row: Checkpoint) -> Bool {
        guard row.definition.count == 1 else { return false }
        return row.outputs == Self.row(step(of: row), chain: row.chain).outputs
    }

    /// The number of a checkpoint, which is its definition.
    private static func step(of row: Checkpoint) -> Int {
        row.definition.first.flatMap { Int($0) } ?? 0
    }

    private func failure(
        of work: (SQLiteCheckpointStore) async throws(RequestError) -> Void
    ) async -> RequestError? {
        do throws(RequestError) {
            try await work(SQLiteCheckpointStore(path: path))
            return nil
        } catch {
            return error
        }
    }

    @Test func fileOfANewerVersionIsRefusedAndLeftAlone() async throws {
        do {
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
            try connection.execute(
                """
                CREATE TABLE checkpoints (chain TEXT, future TEXT);
                INSERT INTO checkpoints VALUES ('a', 'b');
                PRAGMA application_id = \(0x4552_5243);
                PRAGMA user_version = 2;
                """)
        }
        chmod(path, 0o640)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let errors = [
            await failure { (store) throws(RequestError) in
                _ = try await store.save(Self.row(1), replacing: nil)
            },
            await failure { (store) throws(RequestError) in _ = try await store.checkpoint(of: "a")
            },
            await failure { (store) throws(RequestError) in
                try await store.removeCheckpoint(of: "a")
            },
            await failure { (store) throws(RequestError) in _ = try await store.unfinishedChains()
            },
        ]
        for error in errors {
            #expect(error?.code == .storeFailed)
            #expect(
                error?.message
                    == "The checkpoint store at \(path) failed: it was written by a newer "
                    + "version of Errand (schema 2; this version reads up to 1). Update this program, or give "
                    + "it a file of its own.")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(directory.names == ["chains.sqlite"])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test func databaseOfAnotherApplicationIsRefusedAndLeftAlone() async throws {
        do {
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
            try connection.execute("CREATE TABLE notes (text TEXT)")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = await failure { (store) throws(RequestError) in
            _ = try await store.save(Self.row(1), replacing: nil)
        }
        #expect(
            error?.message
                == "The checkpoint store at \(path) failed: it is the database of another "
                + "application. Give the checkpoint store a path of its own.")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func damagedFileIsRefusedAndLeftAlone() async throws {
        let before = Data(String(repeating: "not a database ", count: 500).utf8)
        try before.write(to: URL(fileURLWithPath: path))
        let error = await failure { (store) throws(RequestError) in
            _ = try await store.unfinishedChains()
        }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("the chains in it then start at their first step") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func onlyTheOwnerCanReadTheFile() async throws {
        let store = SQLiteCheckpointStore(path: path)
        #expect(try await store.save(Self.row(3), replacing: nil))
        for name in directory.names {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func unchangedOutputsAreNotWrittenAgain() async throws {
        let store = SQLiteCheckpointStore(path: path)
        let large = Data(repeating: 7, count: 1 << 20)
        var row = Checkpoint(
            chain: "a", revision: UUID(), definition: ["f"], outputs: [large])
        #expect(try await store.save(row, replacing: nil))
        let before = try Self.logSize(path)
        for step in 2...20 {
            let previous = row.revision
            row.revision = UUID()
            row.outputs.append(Data("\(step)".utf8))
            #expect(try await store.save(row, replacing: previous))
        }
        #expect(try Self.logSize(path) < before + (1 << 20))
        #expect(try await store.checkpoint(of: "a")?.outputs == row.outputs)
    }

    private static func logSize(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    }

    #if os(Linux)
        /// Processes that are killed at random moments leave whole checkpoints, and the last one that was saved.
        @Test func killedProcessLeavesAWholeCheckpoint() async throws {
            if let role = TestProcess.role, let path = role["path"], let seed = role["seed"] {
                await Self.work(path: path, seed: UInt64(seed) ?? 0)
            }
            var seed = UInt64.random(in: 0...(.max))
            var last = 0
            for _ in 0..<8 {
                seed &+= 1
                let child = try TestProcess(
                    running: "CheckpointFileTests/killedProcessLeavesAWholeCheckpoint",
                    as: ["path": path, "seed": "\(seed)"])
                let end = await child.ended()
                #expect(end == .signal(SIGKILL), "seed \(seed): \(child.output.suffix(2000))")
                let store = SQLiteCheckpointStore(path: path)
                for name in ["a", "b"] {
                    let row = try await store.checkpoint(of: name)
                    #expect(row.map(Self.isComplete) ?? true, "seed \(seed)")
                }
                // The process reports each checkpoint after it was saved.
                let reported = child.output.split(separator: "\n")
                    .compactMap { $0.hasPrefix("saved ") ? Int($0.dropFirst(6)) : nil }.last
                let found = try await store.checkpoint(of: "a").map(Self.step(of:)) ?? 0
                #expect(found >= reported ?? last, "seed \(seed)")
                last = found
            }
            #expect(last > 0, "seed \(seed)")
        }

        private static func put(
            _ row: Checkpoint, _ store: SQLiteCheckpointStore
        ) async throws {
            let previous = try await store.checkpoint(of: row.chain)?.revision
            guard try await store.save(row, replacing: previous) else { exit(EXIT_FAILURE) }
        }

        /// Saves checkpoints until another thread kills the process.
        private static func work(path: String, seed: UInt64) async -> Never {
            var random = SeededGenerator(seed: seed)
            let saves = Int.random(in: 1...30, using: &random)
            let microseconds = UInt32.random(in: 0...5_000, using: &random)
            let isDue = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for _ in 0..<saves { isDue.wait() }
                usleep(microseconds)
                kill(getpid(), SIGKILL)
            }
            let store = SQLiteCheckpointStore(path: path)
            do {
                var step = try await store.checkpoint(of: "a").map(Self.step(of:)) ?? 0
                while true {
                    step += 1
                    try await put(row(step), store)
                    print("saved \(step)")
                    fflush(nil)
                    if step % 7 == 0 { try await store.removeCheckpoint(of: "b") }
                    try await put(row(step, chain: "b"), store)
                    isDue.signal()
                }
            } catch {
                print("operation failed: \(error)")
                exit(EXIT_FAILURE)
            }
        }
    #endif
}
