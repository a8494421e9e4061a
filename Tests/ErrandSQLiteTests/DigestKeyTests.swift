import ErrandCore
import ErrandSQLite
import Foundation
import TestSupport
import Testing

/// The random bytes of a file, which all stores over it share.
@Suite(.limited) struct DigestKeyTests {
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("store.sqlite").path)
    }

    @Test func storesOfAFileMakeItOnce() async throws {
        try await withPath { path in
            let keys = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await SQLiteResponseStore(path: path).digestKey() }
                }
                return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
            }
            #expect(keys.count == 1 && keys.first?.count == 32)
            let store = SQLiteResponseStore(path: path)
            try await store.removeAll(where: nil)
            #expect(try await store.digestKey() == keys.first)
            #expect(try await SQLiteResponseStore(path: path).digestKey() == keys.first)
        }
        try await withPath { first in
            try await withPath { second in
                let keys = [
                    try await SQLiteResponseStore(path: first).digestKey(),
                    try await SQLiteResponseStore(path: second).digestKey(),
                ]
                #expect(keys[0] != keys[1])
            }
        }
    }

    @Test func storesInMemoryHaveTheirOwn() async throws {
        let store = MemoryResponseStore()
        let key = try await store.digestKey()
        #expect(key.count == 32)
        #expect(try await store.digestKey() == key)
        #expect(try await MemoryResponseStore().digestKey() != key)
    }

    /// While a directory is in place of the file.
    @Test func fileThatCannotBeOpenedHasBytesOfTheProcess() async throws {
        try await withPath { path in
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            let key = try await SQLiteResponseStore(path: path).digestKey()
            #expect(key.count == 32)
            #expect(try await SQLiteResponseStore(path: path).digestKey() == key)
        }
    }
}
