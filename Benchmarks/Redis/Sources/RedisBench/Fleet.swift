import ErrandCore
import ErrandRedis
import Foundation
import Synchronization

/// One process of a fleet: requests with Zipf-distributed keys, and an origin that takes 5 ms.
struct Fleet {
    static let keys = 10_000
    static let tasks = 8
    static let requests = 40_000

    /// The result of one process, written as a line of JSON.
    struct Result: Codable {
        var loads = 0
        /// The duration of each request, in microseconds.
        var times: [Int] = []
    }

    let store: RedisResponseStore

    init(socket: String, memoryBytes: Int) throws {
        var settings = RedisResponseStore.Configuration(address: .unixSocket(socket))
        settings.maximumMemoryBytes = memoryBytes
        settings.commandLimit = .seconds(5)
        store = try RedisResponseStore(settings)
    }

    func run() async throws -> Result {
        let weights = Self.cumulativeWeights
        return try await withThrowingTaskGroup(of: Result.self) { group in
            for _ in 0..<Self.tasks {
                group.addTask {
                    var result = Result()
                    for _ in 0..<(Self.requests / Self.tasks) {
                        let key = Self.key(weights)
                        let start = ContinuousClock.now
                        if try await load(key) { result.loads += 1 }
                        let time = (ContinuousClock.now - start).components
                        result.times.append(
                            Int(time.seconds) * 1_000_000
                                + Int(time.attoseconds / 1_000_000_000_000))
                    }
                    return result
                }
            }
            var all = Result()
            for try await part in group {
                all.loads += part.loads
                all.times += part.times
            }
            return all
        }
    }

    /// Returns whether the origin was asked.
    private func load(_ key: CacheKey) async throws -> Bool {
        for _ in 0..<3 {
            if try await store.entry(for: key) != nil { return false }
            switch await store.acquireFetchLease(for: key) {
            case .released: continue
            case .unavailable: break
            case .granted(let token):
                if try await store.entry(for: key) != nil {
                    await store.releaseFetchLease(token, for: key)
                    return false
                }
            }
            break
        }
        try await Task.sleep(for: .milliseconds(5))
        try await store.store(Self.entry(bytes: 2000), for: key)
        return true
    }

    static func entry(bytes: Int) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [.contentType: "application/json"],
            body: Data(repeating: 120, count: bytes), url: "https://api.example.com/items",
            storedAt: Date())
    }

    /// The distribution with exponent 1.
    private static var cumulativeWeights: [Double] {
        var sum = 0.0
        return (1...keys).map { rank in
            sum += 1 / Double(rank)
            return sum
        }
    }

    private static func key(_ weights: [Double]) -> CacheKey {
        let point = Double.random(in: 0..<(weights.last ?? 1))
        var (low, high) = (0, weights.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if weights[middle] > point { high = middle } else { low = middle + 1 }
        }
        return CacheKey(canonical: "GET\nhttps://api.example.com/items/\(low)\n*/*\nen\n\n")
    }
}
