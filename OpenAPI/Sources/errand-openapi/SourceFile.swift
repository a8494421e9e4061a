import Foundation

/// A file of a document.
enum SourceFile {
    /// Why a file cannot be read, in the words of the system.
    struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    /// The text of a file.
    static func text(_ file: String) throws -> String {
        do {
            return try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
        } catch {
            let reason = error.localizedDescription
            throw Unreadable(
                description: reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
        }
    }
}
