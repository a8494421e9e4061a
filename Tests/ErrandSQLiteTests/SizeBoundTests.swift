import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// The bound of the sizes that replaces measuring before each write.
struct SizeBoundTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    @Test func rowAddsItsCost() {
        let cost = RowCost(bytes: 2000)
        let start = StoreMeasure(used: 4096, file: 8192, log: 1000, otherEntries: 3)
        let sizes = start.adding(cost)
        #expect(sizes.used == 4096 + cost.database)
        #expect(sizes.file == 8192 + cost.database)
        #expect(sizes.log == 1000 + cost.log)
        #expect(sizes.otherEntries == 3)
    }

    @Test func boundHoldsForItsVersion() {
        let sizes = StoreMeasure(used: 4096, file: 8192, log: 1000)
        var bound = SizeBound()
        #expect(bound.sizes(at: 7) == nil)
        bound.committed(sizes, log: nil, version: 7)
        #expect(bound.sizes(at: 7) == sizes)
        #expect(bound.sizes(at: 8) == nil)
        #expect(bound.sizes(at: nil) == nil)
        bound.committed(sizes, log: nil, version: nil)
        #expect(bound.sizes(at: 7) == nil)
        #expect(bound.sizes(at: nil) == nil)
    }

    @Test func exactSizeOfTheLogReplacesItsBound() {
        var bound = SizeBound()
        bound.committed(StoreMeasure(used: 1, file: 1, log: 1000), log: 400, version: 7)
        #expect(bound.sizes(at: 7)?.log == 400)
        bound.logRestarts()
        #expect(bound.sizes(at: 7) == StoreMeasure(used: 1, file: 1, log: 0))
    }

    private func store(_ name: String, in database: OpenDatabase) throws {
        let key = key(name)
        try database.write { () throws(SQLiteFailure) in
            try database.store(entry(name), for: key, id: EntryRow.id(of: key), accessed: 0)
        }
    }

    /// Whether a write transaction sees the version that was known before it.
    private func isVersion(
        _ known: UInt32?, unchangedIn database: OpenDatabase
    ) throws -> Bool {
        try database.write { () throws(SQLiteFailure) in
            database.connection.seenVersion == known
        }
    }

    @Test func readingKeepsTheVersion() throws {
        let database = try OpenDatabase(path: path)
        let other = try OpenDatabase(path: path)
        try store("a", in: database)
        let known = try #require(database.connection.seenVersion)
        let id = EntryRow.id(of: key("a"))
        #expect(try database.entry(for: key("a"), id: id) != nil)
        #expect(try other.entry(for: key("a"), id: id) != nil)
        #expect(try isVersion(known, unchangedIn: database))
    }

    @Test(arguments: ["insertion", "replacement", "removal"])
    func changeOfAnotherConnectionChangesTheVersion(change: String) throws {
        let database = try OpenDatabase(path: path)
        let other = try OpenDatabase(path: path)
        try store("a", in: database)
        let known = try #require(database.connection.seenVersion)
        switch change {
        case "insertion": try store("b", in: other)
        case "replacement":
            try other.write { () throws(SQLiteFailure) in
                try other.store(
                    entry("other"), for: key("a"), id: EntryRow.id(of: key("a")), accessed: 0)
            }
        default: try other.delete(key("a"))
        }
        #expect(try !isVersion(known, unchangedIn: database))
    }

    @Test func ownRemovalChangesTheVersion() throws {
        let database = try OpenDatabase(path: path)
        try store("a", in: database)
        let known = try #require(database.connection.seenVersion)
        try database.delete(key("a"))
        #expect(try !isVersion(known, unchangedIn: database))
    }

    /// A read transaction sees the change of another connection before the next write does.
    @Test func versionChangesAlsoIfTheChangeWasReadBefore() throws {
        let database = try OpenDatabase(path: path)
        let other = try OpenDatabase(path: path)
        try store("a", in: database)
        let known = try #require(database.connection.seenVersion)
        try store("b", in: other)
        #expect(try database.entry(for: key("b"), id: EntryRow.id(of: key("b"))) != nil)
        #expect(try !isVersion(known, unchangedIn: database))
    }

    /// The sizes grow by at most the cost for which the bound counts them.
    @Test(arguments: [10, 2000, 5000, 40_000])
    func boundIsNotBelowTheSizes(bytes: Int) throws {
        let database = try OpenDatabase(path: path)
        try store("first", in: database)
        var bound = try database.measure()
        for number in 0..<200 {
            // Every third write replaces an entry.
            let key = key("\(number - (number.isMultiple(of: 3) ? 2 : 0))")
            let entry = entry(bytes: bytes)
            try database.write { () throws(SQLiteFailure) in
                try database.store(entry, for: key, id: EntryRow.id(of: key), accessed: 0)
            }
            bound = bound.adding(RowCost(entry, key: key))
            let sizes = try database.measure()
            #expect(sizes.used <= bound.used)
            #expect(sizes.file <= bound.file)
            #expect(sizes.log <= bound.log)
        }
    }

    /// Writes that fill the log several times overwrite its file.
    @Test func fullLogIsOverwritten() async throws {
        let limits = StoreLimits(bytes: 1 << 20, memoryBytes: 0)
        let store = SQLiteResponseStore(path: path, limits: limits, now: { Date() })
        let files = DatabaseFiles(path: path)
        var largest = 0
        for number in 0..<400 {
            try await store.store(entry(bytes: 2000), for: key("\(number % 10)"))
            let log = files.log
            // The file never becomes smaller.
            #expect(log >= largest)
            #expect(log <= limits.logBytes)
            largest = max(largest, log)
        }
        #expect(store.problems.isEmpty)
        #expect(try await store.entry(for: key("9")) == entry(bytes: 2000))
    }

    @Test(arguments: [true, false])
    func generationChangesWhenTheLogStartsAgain(truncating: Bool) throws {
        let database = try OpenDatabase(path: path)
        try store("a", in: database)
        let first = try #require(database.logGeneration)
        try store("b", in: database)
        #expect(database.logGeneration == first)
        #expect(try database.emptyLog(truncating: truncating))
        try store("c", in: database)
        let second = try #require(database.logGeneration)
        #expect(second != first)
    }

    /// After a transaction of another kind, the size of the file counts: it is truncated.
    @Test func logStaysWithinItsLimitBetweenOtherTransactions() async throws {
        let limits = StoreLimits(bytes: 1 << 20, memoryBytes: 0)
        let store = SQLiteResponseStore(path: path, limits: limits, now: { Date() })
        let other = SQLiteResponseStore(path: path, limits: limits, now: { Date() })
        let files = DatabaseFiles(path: path)
        for number in 0..<300 {
            try await store.store(entry(bytes: 2000), for: key("\(number)"))
            if number.isMultiple(of: 3) { try await other.remove(key("\(number)")) }
            if number.isMultiple(of: 5) { try await store.remove(key("\(number)")) }
            if number.isMultiple(of: 7) {
                try await other.store(entry(bytes: 2000), for: key("\(number - 1)"))
            }
            #expect(files.log <= limits.logBytes)
        }
        #expect(store.problems.isEmpty && other.problems.isEmpty)
    }
}
