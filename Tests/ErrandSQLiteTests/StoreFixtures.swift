import ErrandCore
import Foundation
import Synchronization

@testable import ErrandSQLite

func key(_ name: String) -> CacheKey { CacheKey(canonical: "GET\nhttp://test/\(name)\n\n\n\n") }

func entry(_ text: String, tag: Int = 0, identity: String? = nil) -> StoredResponse {
    StoredResponse(
        status: 200, headers: [.contentType: "text/plain"], body: Data(text.utf8),
        url: "http://test/\(text.prefix(20))",
        storedAt: Date(timeIntervalSince1970: 1_700_000_000.125),
        identity: identity, tag: tag)
}

/// A response with a body of this size.
func entry(bytes: Int) -> StoredResponse { entry(String(repeating: "x", count: bytes)) }

/// The files of a database on the disk.
struct DatabaseFiles: Sendable {
    let path: String

    /// The size of the log.
    var log: Int { size("-wal") }

    /// The size of the database, its log and its index.
    var total: Int { size("") + size("-wal") + size("-shm") }

    /// The largest total while a closure runs.
    func peak(during work: () async throws -> Void) async rethrows -> Int {
        let isEnded = Atomic(false)
        async let largest = {
            var largest = 0
            while !isEnded.load(ordering: .relaxed) {
                largest = max(largest, total)
                await Task.yield()
            }
            return max(largest, total)
        }()
        defer { isEnded.store(true, ordering: .relaxed) }
        try await work()
        isEnded.store(true, ordering: .relaxed)
        return await largest
    }

    private func size(_ suffix: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
