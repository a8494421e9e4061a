import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// Files that cannot be opened: memory is used instead, and the store reports it.
@Suite(.limited)
struct UnavailableFileTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    private func store(
        memoryBytes: Int = 1 << 20, reopenPause: Duration = .seconds(3600), busyAttempts: Int = 100
    ) -> SQLiteResponseStore {
        var limits = StoreLimits(bytes: 1 << 20, memoryBytes: memoryBytes)
        limits.reopenPause = reopenPause
        limits.busyAttempts = busyAttempts
        return SQLiteResponseStore(path: path, limits: limits, now: { Date() })
    }

    private func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    @Test func memoryIsUsedInsteadOfADirectory() async throws {
        try makeDirectory(path)
        let store = store()
        #expect(try await store.entry(for: key("a")) == nil)
        try await store.store(entry("x", tag: 3, identity: "me"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("x", tag: 3, identity: "me"))
        #expect(try await store.entries().map(\.identity) == ["me"])
        #expect(try await store.totalBytes() > 0)
        try await store.removeAll { $0.tag == 3 }
        #expect(try await store.entry(for: key("a")) == nil)
        #expect(directory.names == ["a.sqlite"])
    }

    @Test func memoryIsUsedIfTheDirectoryCannotBeCreated() async throws {
        try Data("file".utf8).write(to: URL(fileURLWithPath: directory.path("deep")))
        let store = SQLiteResponseStore(path: directory.path("deep/a.sqlite"))
        try await store.store(entry("x"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("x"))
        #expect(store.problems.count == 1)
    }

    @Test func memoryIsUsedIfTheLogCannotBeCreated() async throws {
        try makeDirectory(path + "-wal/x")
        let store = store()
        try await store.store(entry("x"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("x"))
        #expect(store.problems.count == 1)
    }

    @Test func problemIsReportedOnceWithAHint() async throws {
        try makeDirectory(path)
        let store = store(reopenPause: .zero)
        for number in 0..<5 { try await store.store(entry("x"), for: key("\(number)")) }
        let problem = try #require(store.problems.first)
        #expect(store.problems.count == 1)
        #expect(problem.code == .storeFailed)
        #expect(problem.message.contains("cannot be opened"))
        #expect(problem.message.contains("memory only, up to 1048576 bytes"))
        #expect(problem.message.contains("another path"))
        #expect(store.takeProblems().map(\.message) == [problem.message])
        #expect(store.takeProblems().isEmpty)
        #expect(store.problems.count == 1)
    }

    @Test func fileIsUsedOnceItCanBeOpened() async throws {
        try makeDirectory(path)
        let store = store(reopenPause: .zero)
        try await store.store(entry("memory"), for: key("a"))
        try FileManager.default.removeItem(atPath: path)
        // Entries in memory may be older than those of the file.
        #expect(try await store.entry(for: key("a")) == nil)
        try await store.store(entry("file"), for: key("a"))
        let other = SQLiteResponseStore(path: path)
        #expect(try await other.entry(for: key("a")) == entry("file"))
        #expect(store.problems.count == 1)
    }

    @Test(arguments: ["all", "key", "predicate"])
    func removalIsPerformedOnceTheFileCanBeOpened(removal: String) async throws {
        do {
            let first = SQLiteResponseStore(path: path)
            for (tag, name) in ["a", "b"].enumerated() {
                try await first.store(entry(name, tag: tag), for: key(name))
            }
        }
        let elsewhere = directory.path("moved")
        try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
        try makeDirectory(path)
        let store = store(reopenPause: .zero)
        switch removal {
        case "key": try await store.remove(key("a"))
        case "predicate": try await store.removeAll { $0.tag == 0 }
        default: try await store.removeAll(where: nil)
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
        #expect(try await store.entry(for: key("a")) == nil)
        #expect(
            try await store.entry(for: key("b")) == (removal == "all" ? nil : entry("b", tag: 1)))
    }

    @Test func fileIsNotOpenedAgainBeforeThePauseEnds() async throws {
        try makeDirectory(path)
        let store = store()
        try await store.store(entry("memory"), for: key("a"))
        try FileManager.default.removeItem(atPath: path)
        #expect(try await store.entry(for: key("a")) == entry("memory"))
        #expect(directory.names.isEmpty)
    }

    @Test func memoryIsUsedIfAnotherProcessNeverReleasesTheFile() async throws {
        let other = try SQLiteConnection(path: path, busyMilliseconds: 0)
        try other.execute("PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE x (y)")
        let store = store(busyAttempts: 1)
        try await store.store(entry("x"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("x"))
        #expect(store.problems.count == 1)
        withExtendedLifetime(other) {}
    }

    @Test func memoryIsUsedIfADamagedFileCannotBeRenamed() async throws {
        let text = String(repeating: "This is no database. ", count: 500)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        for number in 1...3 { try makeDirectory(path + ".broken-\(number)/x") }
        let store = store()
        try await store.store(entry("x"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("x"))
        #expect(store.problems.count == 1)
        #expect(store.problems.first?.message.contains("cannot be renamed") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test(arguments: [0, 1000])
    func entryThatDoesNotFitIntoMemoryFailsWithTheErrorOfTheFile(memoryBytes: Int) async throws {
        try makeDirectory(path)
        let store = store(memoryBytes: memoryBytes)
        let error = await #expect(throws: RequestError.self) {
            try await store.store(entry(bytes: 2000), for: key("a"))
        }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("another path") == true)
        #expect(try await store.entry(for: key("a")) == nil)
    }
}
