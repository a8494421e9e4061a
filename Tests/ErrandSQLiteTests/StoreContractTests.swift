import ErrandCore
import ErrandSQLite
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The contract of `ResponseStore`, tested with every store.
@Suite(.limited)
struct StoreContractTests {
    enum Kind: String, CaseIterable, Sendable {
        case memory, sqlite, sqliteWithoutMemory, sqliteWithoutFile
    }

    let directory: TemporaryFolder

    init() throws { directory = try TemporaryFolder() }

    func store(_ kind: Kind, maximumBytes: Int = 32 << 20) -> any ResponseStore {
        switch kind {
        case .memory: MemoryResponseStore(maximumBytes: maximumBytes)
        case .sqlite:
            SQLiteResponseStore(path: directory.path("a.sqlite"), maximumBytes: maximumBytes)
        case .sqliteWithoutMemory:
            SQLiteResponseStore(
                path: directory.path("a.sqlite"), maximumBytes: maximumBytes, maximumMemoryBytes: 0)
        case .sqliteWithoutFile:
            // A directory is not a file.
            SQLiteResponseStore(
                path: directory.url.path, maximumBytes: maximumBytes,
                maximumMemoryBytes: 32 << 20)
        }
    }

    @Test(arguments: Kind.allCases, ResponseStoreContract.checks)
    func storeFulfilsTheContract(kind: Kind, check: ResponseStoreContract.Check) async throws {
        try await check.run { store(kind) }
    }

    @Test(arguments: [Kind.sqlite, .sqliteWithoutMemory], ResponseStoreContract.sharedChecks)
    func storesOfOneFileFulfilTheContract(
        kind: Kind, check: ResponseStoreContract.Check
    ) async throws {
        try await check.run { store(kind) }
    }

    /// Each rule finds a store that violates it.
    @Test(arguments: FaultyStore.Fault.allCases)
    func contractFindsFaultyStores(fault: FaultyStore.Fault) async throws {
        var violations: [String] = []
        for check in ResponseStoreContract.checks {
            do { try await check.run { FaultyStore(fault) } } catch {
                #expect(error is ResponseStoreContract.Violation)
                violations.append(check.name)
            }
        }
        #expect(violations.contains(fault.rawValue))
        #expect(violations.count <= fault.maximumViolations, "\(violations)")
    }

    @Test(arguments: Kind.allCases)
    func tooLargeEntryIsRejectedAndRemovesThePreviousOne(kind: Kind) async throws {
        let store = store(kind, maximumBytes: 128 << 10)
        try await store.store(entry("small"), for: key("a"))
        let error = await #expect(throws: RequestError.self) {
            try await store.store(
                entry(String(repeating: "x", count: 200 << 10)), for: key("a"))
        }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("maximumBytes") == true)
        #expect(try await store.entry(for: key("a")) == nil)
    }

    /// A larger entry would evict almost all others.
    @Test func sqliteStoreRefusesEntriesAboveHalfOfItsLimit() async throws {
        let store = store(.sqlite, maximumBytes: 256 << 10)
        let fitting = entry(bytes: (128 << 10) - 100)
        let large = entry(bytes: 128 << 10)
        #expect(fitting.size <= 128 << 10 && large.size > 128 << 10)
        try await store.store(fitting, for: key("a"))
        #expect(try await store.entry(for: key("a")) == fitting)
        let error = await #expect(throws: RequestError.self) {
            try await store.store(large, for: key("a"))
        }
        #expect(error?.code == .storeFailed)
        #expect(try await store.entry(for: key("a")) == nil)
    }
}
