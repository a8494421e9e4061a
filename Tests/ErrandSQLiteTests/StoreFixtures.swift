import ErrandCore
import Foundation
import Synchronization

@testable import ErrandSQLite

/// A directory that goes with the test.
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

/// Time that passes by order.
final class SteppingDate: Sendable {
    private let seconds = Mutex(1_700_000_000.0)

    func advance(_ by: Double) { seconds.withLock { $0 += by } }

    var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
}

func key(_ name: String) -> CacheKey { CacheKey(canonical: "GET\nhttp://test/\(name)\n\n\n\n") }

func entry(_ text: String, tag: Int = 0, identity: String? = nil) -> StoredResponse {
    StoredResponse(
        status: 200, headers: [.contentType: "text/plain"], body: Data(text.utf8),
        url: "http://test/\(text.prefix(20))",
        storedAt: Date(timeIntervalSince1970: 1_700_000_000.125),
        identity: identity, tag: tag)
}
