import CHiredisPlain
import ErrandCore
import ErrandRedis
import Foundation

/// Reads of one entry: a plain `GET` with hiredis, and the store without its memory tier.
struct SingleReads {
    static let rounds = 9
    static let reads = 5000

    let socket: String

    func run() async throws {
        for size in [1000, 20_000] {
            var settings = RedisResponseStore.Configuration(address: .unixSocket(socket))
            settings.maximumMemoryBytes = 0
            settings.commandLimit = .seconds(5)
            let store = try RedisResponseStore(settings)
            let inMemory = try RedisResponseStore(
                RedisResponseStore.Configuration(address: .unixSocket(socket)))
            let key = CacheKey(canonical: "GET\nhttps://api.example.com/items/1\n*/*\nen\n\n")
            try await store.store(Fleet.entry(bytes: size), for: key)
            guard let context = redisConnectUnix(socket), context.pointee.err == 0 else { return }
            defer { redisFree(context) }
            try plainWrite(context, size)
            var samples: [String: [Double]] = [:]
            for _ in 0..<Self.rounds {
                samples["hiredis GET", default: []].append(measure { plainRead(context) })
                samples["store, one after another", default: []].append(
                    try await measure { _ = try await store.entry(for: key) })
                samples["store, 32 at once", default: []].append(
                    try await measureTogether(32) { _ = try await store.entry(for: key) })
                samples["memory tier", default: []].append(
                    try await measure { _ = try await inMemory.entry(for: key) })
            }
            guard let base = samples["hiredis GET"].map(median) else { return }
            print("\(size) bytes, microseconds per read (median of \(Self.rounds) rounds)")
            for (name, times) in samples.sorted(by: { $0.key < $1.key }) {
                let time = median(times)
                print(
                    "  \(name.padding(toLength: 26, withPad: " ", startingAt: 0))"
                        + String(format: "%8.2f  ratio %.2f", time, time / base))
            }
        }
    }

    private func plainWrite(_ context: UnsafeMutablePointer<redisContext>, _ size: Int) throws {
        let value = String(repeating: "x", count: size)
        perform(context, ["SET", "plain", value])
    }

    private func plainRead(_ context: UnsafeMutablePointer<redisContext>) {
        perform(context, ["GET", "plain"])
    }

    private func perform(_ context: UnsafeMutablePointer<redisContext>, _ words: [String]) {
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var arguments = copies.map { UnsafePointer($0) }
        let reply = redisCommandArgv(context, Int32(words.count), &arguments, nil)
        freeReplyObject(reply)
    }

    private func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }

    private func measure(_ work: () -> Void) -> Double {
        let start = ContinuousClock.now
        for _ in 0..<Self.reads { work() }
        return perRead(ContinuousClock.now - start)
    }

    private func measure(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        for _ in 0..<Self.reads { try await work() }
        return perRead(ContinuousClock.now - start)
    }

    private func measureTogether(
        _ count: Int, _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { for _ in 0..<(Self.reads / count) { try await work() } }
            }
            try await group.waitForAll()
        }
        return perRead(ContinuousClock.now - start)
    }

    private func perRead(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return (Double(seconds) * 1e6 + Double(attoseconds) / 1e12) / Double(Self.reads)
    }
}
