import ErrandCore
import ErrandSQLite
import Foundation

/// The time of operations on stores with more and more entries of 200 bytes.
struct Growth {
    static let bytes = 200
    /// How often each operation is performed.
    static let operations = 2000
    static let groupSize = 20

    let folder: URL

    private struct Failed: Error {}

    func run(maximum: Int) async throws {
        let names = [
            "open", "read", "replace", "evict", "by key", "by prefix", "by tag", "all, per entry",
            "usage",
        ]
        print("   entries  MiB" + names.map { Self.column($0) }.joined() + "  (microseconds)")
        var count = 1000
        while count <= maximum {
            let folder = folder.appendingPathComponent("\(count)")
            let result = try await measure(folder.appendingPathComponent("a.sqlite").path, count)
            try FileManager.default.removeItem(at: folder)
            let times = names.map { Self.column(String(format: "%.2f", result[$0] ?? 0)) }
            print(
                String(format: "%10d %4d", count, Int(result["MiB"] ?? 0)) + times.joined())
            count *= 10
        }
    }

    private static func column(_ text: String) -> String {
        String(repeating: " ", count: max(1, 15 - text.count)) + text
    }

    /// An entry in a group of 20, which have a tag and a URL prefix in common.
    private static func entry(_ index: Int, _ workload: inout Workload) -> StoredResponse {
        var entry = workload.entry(index, tag: 1 + index / groupSize)
        entry.url = "\(prefix(index / groupSize))\(index)"
        return entry
    }

    private static func prefix(_ group: Int) -> String {
        "https://api.example.test/groups/\(group)/"
    }

    private func fill(_ path: String, _ count: Int, _ workload: inout Workload) async throws {
        let store = SQLiteResponseStore(
            path: path, maximumBytes: 16 << 30, maximumMemoryBytes: 0)
        for index in 0..<count {
            try await store.store(Self.entry(index, &workload), for: Workload.key(index))
        }
    }

    /// Fills a store with `count` entries and measures there.
    private func measure(_ path: String, _ count: Int) async throws -> [String: Double] {
        var workload = Workload(bytes: Self.bytes)
        try await fill(path, count, &workload)
        var result: [String: Double] = [:]
        let opening = ContinuousClock.now
        // Full, so that each further entry evicts another one.
        let store = SQLiteResponseStore(
            path: path, maximumBytes: 16 << 30, maximumMemoryBytes: 0, maximumEntries: count)
        guard try await store.usage().entries == count else { throw Failed() }
        result["open"] = Self.microseconds(ContinuousClock.now - opening)
        result["MiB"] = Double(try await store.totalBytes() >> 20)
        result["read"] = try await time {
            guard try await store.entry(for: Workload.key(workload.random(below: count))) != nil
            else { throw Failed() }
        }
        result["replace"] = try await time {
            let index = workload.random(below: count)
            try await store.store(Self.entry(index, &workload), for: Workload.key(index))
        }
        result["by key"] = try await time {
            let keys = Set((0..<20).map { _ in Workload.key(workload.random(below: count)) })
            let found = try await store.entries(matching: .init(keys: keys))
            guard found.count == keys.count else { throw Failed() }
        }
        let groups = count / Self.groupSize
        result["by prefix"] = try await time {
            let prefix = Self.prefix(workload.random(below: groups))
            let found = try await store.entries(matching: .init(urlPrefix: prefix))
            guard found.count == Self.groupSize else { throw Failed() }
        }
        result["by tag"] = try await time {
            let tag = 1 + workload.random(below: groups)
            let found = try await store.entries(matching: .init(tag: tag))
            guard found.count == Self.groupSize else { throw Failed() }
        }
        result["usage"] = try await time { _ = try await store.usage() }
        let listing = ContinuousClock.now
        guard try await store.entries().count == count else { throw Failed() }
        result["all, per entry"] =
            Self.microseconds(ContinuousClock.now - listing) / Double(count)
        // Last, because it replaces entries by others. Each one removes another entry.
        var next = count
        result["evict"] = try await time {
            try await store.store(workload.entry(next), for: CacheKey(canonical: "new \(next)"))
            next += 1
        }
        return result
    }

    private func time(_ work: () async throws -> Void) async throws -> Double {
        for _ in 0..<100 { try await work() }
        let start = ContinuousClock.now
        for _ in 0..<Self.operations { try await work() }
        return Self.microseconds(ContinuousClock.now - start) / Double(Self.operations)
    }

    private static func microseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e6 + Double(attoseconds) / 1e12
    }
}
