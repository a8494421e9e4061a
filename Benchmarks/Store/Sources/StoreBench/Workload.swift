import ErrandCore
import Foundation

/// Keys, entries and random numbers that are the same in each run.
struct Workload {
    private var seed: UInt64 = 42
    private var version = 0
    private var value: Data

    init(bytes: Int) { value = Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }

    mutating func random(below count: Int) -> Int {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(seed >> 33) % count
    }

    static func url(_ index: Int) -> String { "https://api.example.test/items/\(index)" }

    static func key(_ index: Int) -> CacheKey { CacheKey(canonical: "GET\n\(url(index))\n\n\n\n") }

    /// Bytes that differ in each call: SQLite does not write a page that an update leaves equal.
    mutating func nextValue() -> Data {
        version += 1
        value.withUnsafeMutableBytes { $0.storeBytes(of: version, as: Int.self) }
        return value
    }

    mutating func entry(_ index: Int, tag: Int = 0) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [.contentType: "application/json"], body: nextValue(),
            url: Self.url(index), storedAt: Date(), tag: tag)
    }
}

/// The user and system time of the process, in microseconds.
func processTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1000
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
