import Foundation

/// A temporary folder that is removed with this object.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Parameter name: A part of the name of the folder.
    init(_ name: String) throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(name)-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
