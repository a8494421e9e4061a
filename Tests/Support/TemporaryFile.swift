import Foundation

/// A file in its own temporary directory; both are removed with this object.
final class TemporaryFile: Sendable {
    let url: URL

    init(_ contents: Data = Data(), name: String = "body.bin") throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        url = directory.appendingPathComponent(name)
        try contents.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}
