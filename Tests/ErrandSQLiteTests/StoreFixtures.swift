import ErrandCore
import Foundation

@testable import ErrandSQLite

/// A temporary directory that is removed at deallocation.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-store-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    var names: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [])
    }
}

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

    private func size(_ suffix: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
