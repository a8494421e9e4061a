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
