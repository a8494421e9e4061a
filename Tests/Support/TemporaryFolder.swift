package import Foundation

/// A temporary folder that is removed with this object.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// - Parameter name: A part of the name of the folder.
    package init(_ name: String = "test") throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(name)-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// The path of a file in the folder.
    package func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// The names of the files in the folder.
    package var names: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [])
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
