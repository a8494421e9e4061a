package import Foundation

/// A file in its own temporary directory; both are removed with this object.
package final class TemporaryFile: Sendable {
    package let url: URL

    package init(_ contents: Data = Data(), name: String = "body.bin") throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        url = directory.appendingPathComponent(name)
        try contents.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}
