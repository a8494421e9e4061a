import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// Random operations on stores, compared with a dictionary.
@Suite(.limited)
struct ModelTests {
    /// The seeds: 6, or as many as `ERRAND_MODEL_SEEDS` says.
    static var seeds: Range<UInt64> {
        let variable = ProcessInfo.processInfo.environment["ERRAND_MODEL_SEEDS"]
        return 0..<(variable.flatMap { UInt64($0) } ?? 6)
    }

    enum Kind: String, CaseIterable, Sendable {
        case memory, sqlite, sqliteWithoutMemory, sqliteWithSmallParts
    }

    @Test(arguments: Kind.allCases)
    func storesReturnWhatTheModelContains(kind: Kind) async throws {
        for seed in Self.seeds {
            var run = try ModelRun(kind, seed: seed)
            do { try await run.perform(150) } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }
}

/// A sequence of operations with one seed.
private struct ModelRun {
    struct Difference: Error {
        var operation: String
        var found: String
    }

    private let kind: ModelTests.Kind
    private let directory: TemporaryFolder
    private var random: SeededGenerator
    private var model: [CacheKey: StoredResponse] = [:]
    private var stores: [any ResponseStore]
    private var operation = ""

    init(_ kind: ModelTests.Kind, seed: UInt64) throws {
        self.kind = kind
        directory = try TemporaryFolder()
        random = SeededGenerator(seed: seed)
        stores = []
        stores = (0..<(kind == .memory ? 1 : 2)).map { _ in makeStore() }
    }

    private func makeStore() -> any ResponseStore {
        guard kind != .memory else { return MemoryResponseStore(maximumBytes: 64 << 20) }
        var limits = StoreLimits(
            bytes: 64 << 20, memoryBytes: kind == .sqlite ? 1 << 20 : 0, accessGranularity: 0)
        if kind == .sqliteWithSmallParts { limits.partsThreshold = 100 }
        limits.maintenancePause = 0
        return SQLiteResponseStore(
            path: directory.path("a.sqlite"), limits: limits, now: { Date() })
    }

    private mutating func number(_ range: Range<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    mutating func perform(_ count: Int) async throws {
        for step in 0..<count {
            let store = stores[number(0..<stores.count)]
            try await performOne(on: store)
            try await compare(stores[number(0..<stores.count)], step: step)
        }
    }

    private mutating func performOne(on store: any ResponseStore) async throws {
        let key = key("\(number(0..<12))")
        switch number(0..<14) {
        case 0..<5:
            let entry = randomEntry(upTo: 3000)
            operation = "store \(key), \(entry.body.count) bytes"
            try await store.store(entry, for: key)
            model[key] = entry
        case 5..<8:
            let entry = randomEntry(upTo: number(0..<8) == 0 ? 1_500_000 : 4000)
            operation = "store \(key) in parts, \(entry.body.count) bytes"
            try await store.store(entry, body: .init(entry.body), for: key)
            model[key] = entry
        case 8:
            operation = "remove \(key)"
            try await store.remove(key)
            model[key] = nil
        case 9:
            let selection = randomSelection()
            operation = "remove \(selection)"
            let count = try await store.removeAll(matching: selection)
            let matches = model.filter { selection.contains(StoredEntryInfo(key: $0, entry: $1)) }
            try expect(count == matches.count, "\(count) removed instead of \(matches.count)")
            for key in matches.keys { model[key] = nil }
        case 10:
            let tag = number(0..<3)
            operation = "remove by predicate, tag \(tag)"
            try await store.removeAll { $0.tag == tag }
            model = model.filter { $1.tag != tag }
        case 11 where number(0..<4) == 0:
            operation = "remove all"
            try await store.removeAll(where: nil)
            model = [:]
        case 12 where kind != .memory:
            operation = "reopen"
            stores[number(0..<stores.count)] = makeStore()
        default: operation = "read"
        }
    }

    private mutating func compare(_ store: any ResponseStore, step: Int) async throws {
        operation = "step \(step), after: \(operation)"
        let key = key("\(number(0..<12))")
        let found = try await store.entry(for: key)
        try expect(found == model[key], "another entry for \(key)")
        if let opened = try await store.open(key), let expected = model[key] {
            let count = expected.body.count
            let start = number(0..<(count + 1))
            let range = start..<number(start..<(count + 1))
            let bytes = try await opened.body.bytes(in: range)
            try expect(bytes == expected.body[range], "other bytes \(range) for \(key)")
        }
        let selection = randomSelection()
        let infos = try await store.entries(matching: selection)
        let expected = model.map { StoredEntryInfo(key: $0, entry: $1) }
        try expect(
            Set(infos) == Set(expected.filter { selection.contains($0) }),
            "other entries for \(selection)")
        let usage = try await store.usage()
        try expect(usage.entries == model.count, "\(usage.entries) of \(model.count) entries")
    }

    private func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        guard condition else { throw Difference(operation: operation, found: message()) }
    }

    private mutating func randomEntry(upTo size: Int) -> StoredResponse {
        var result = entry("", tag: number(0..<3), identity: [nil, "me", "you"][number(0..<3)])
        result.url = "http://test/\(["a", "b", "ä"][number(0..<3)])/\(number(0..<5))"
        result.body = Data(repeating: UInt8(number(0..<256)), count: number(0..<(size + 1)))
        result.storedAt = time()
        result.expiresAt = number(0..<2) == 0 ? nil : time()
        return result
    }

    private mutating func time() -> Date {
        Date(timeIntervalSince1970: 1_700_000_000 + Double(number(0..<400_000)))
    }

    private mutating func randomSelection() -> StoredEntryInfo.Selection {
        var selection = StoredEntryInfo.Selection()
        if number(0..<4) == 0 {
            selection.keys = Set((0..<number(0..<5)).map { _ in key("\(number(0..<14))") })
        }
        if number(0..<3) == 0 {
            selection.urlPrefix = "http://test/" + ["a", "ä/1", ""][number(0..<3)]
        }
        if number(0..<3) == 0 { selection.tag = number(0..<4) }
        if number(0..<3) == 0 {
            selection.identity = [.some(.none), .user("me"), .user("x")][number(0..<3)]
        }
        if number(0..<4) == 0 { selection.storedBefore = time() }
        if number(0..<4) == 0 { selection.expiredAt = time() }
        return selection
    }
}
