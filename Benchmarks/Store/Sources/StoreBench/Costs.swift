import ErrandCore
import ErrandSQLite
import Foundation
import PlainSQLite

/// CPU time of one read and of one replacement, among 10,000 entries of 2 KB.
struct Costs {
    static let keys = 10_000
    static let bytes = 2048
    static let reads = 100_000
    static let writes = 20_000

    let folder: URL

    func run(rounds: Int) async throws {
        var samples: [String: [Double]] = [:]
        for round in 0..<rounds {
            let folder = folder.appendingPathComponent("\(round)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let plain = try plainCosts(folder)
            let store = try await storeCosts(folder)
            samples["read, C", default: []].append(plain.read)
            samples["read, store", default: []].append(store.read)
            samples["read, ratio", default: []].append(store.read / plain.read)
            samples["replacement, C", default: []].append(plain.write)
            samples["replacement, store", default: []].append(store.write)
            samples["replacement, ratio", default: []].append(store.write / plain.write)
            try FileManager.default.removeItem(at: folder)
        }
        print("microseconds of CPU time, median of \(rounds) rounds")
        for (name, values) in samples.sorted(by: { $0.key < $1.key }) {
            print(
                "  \(name.padding(toLength: 20, withPad: " ", startingAt: 0))"
                    + String(
                        format: "%8.2f  (%.2f to %.2f)", median(values), values.min() ?? 0,
                        values.max() ?? 0))
        }
    }

    /// Only one kind of operation, for a profiler.
    func `repeat`(_ operation: String, count: Int) async throws {
        var workload = Workload(bytes: Self.bytes)
        let store = try await filledStore(folder, &workload)
        if operation == "read" {
            try await read(store, count, &workload)
        } else {
            try await replace(store, count, &workload)
        }
    }

    private struct Failed: Error {}

    private func plainCosts(_ folder: URL) throws -> (read: Double, write: Double) {
        var workload = Workload(bytes: Self.bytes)
        guard let store = plain_open(folder.appendingPathComponent("plain.sqlite").path) else {
            throw Failed()
        }
        defer { plain_close(store) }
        func write(_ index: Int) throws {
            let result = workload.nextValue().withUnsafeBytes {
                plain_write(store, Workload.url(index), $0.baseAddress, Int32($0.count))
            }
            guard result == 0 else { throw Failed() }
        }
        for index in 0..<Self.keys { try write(index) }
        plain_checkpoint(store)
        let start = processTime()
        for _ in 0..<Self.reads {
            let key = Workload.url(workload.random(below: Self.keys))
            guard plain_read(store, key) == Int32(Self.bytes) else { throw Failed() }
        }
        let middle = processTime()
        for _ in 0..<Self.writes { try write(workload.random(below: Self.keys)) }
        let end = processTime()
        return ((middle - start) / Double(Self.reads), (end - middle) / Double(Self.writes))
    }

    private func filledStore(_ folder: URL, _ workload: inout Workload) async throws
        -> SQLiteResponseStore
    {
        let path = folder.appendingPathComponent("store.sqlite").path
        let filling = SQLiteResponseStore(path: path, maximumMemoryBytes: 0)
        for index in 0..<Self.keys {
            try await filling.store(workload.entry(index), for: Workload.key(index))
        }
        let store = SQLiteResponseStore(path: path, maximumMemoryBytes: 0)
        guard try await store.entry(for: Workload.key(0)) != nil else { throw Failed() }
        return store
    }

    private func storeCosts(_ folder: URL) async throws -> (read: Double, write: Double) {
        var workload = Workload(bytes: Self.bytes)
        let store = try await filledStore(folder, &workload)
        let start = processTime()
        try await read(store, Self.reads, &workload)
        let middle = processTime()
        try await replace(store, Self.writes, &workload)
        let end = processTime()
        return ((middle - start) / Double(Self.reads), (end - middle) / Double(Self.writes))
    }

    private func read(
        _ store: SQLiteResponseStore, _ count: Int, _ workload: inout Workload
    ) async throws {
        for _ in 0..<count {
            let key = Workload.key(workload.random(below: Self.keys))
            guard try await store.entry(for: key)?.body.count == Self.bytes else { throw Failed() }
        }
    }

    private func replace(
        _ store: SQLiteResponseStore, _ count: Int, _ workload: inout Workload
    ) async throws {
        for _ in 0..<count {
            let index = workload.random(below: Self.keys)
            try await store.store(workload.entry(index), for: Workload.key(index))
        }
    }
}
