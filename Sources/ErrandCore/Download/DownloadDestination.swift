package import Foundation

/// Where a download ends up and what lies beside it until then.
package struct DownloadDestination: Sendable, Hashable {
    /// The finished file, unless another name must be found for it.
    package let file: URL
    /// What has come so far.
    package let part: URL
    /// What is known of the part.
    package let journal: URL

    /// - Parameter url: The address asked for: names the file when the destination is a directory
    ///   (row DL-2).
    package init(_ plan: DownloadPlan, url: URI) throws(RequestError) {
        guard plan.destination != DownloadPlan.noDestination else {
            throw .file(
                "The download has no destination. Override destination with the URL of the file, or of a directory that exists."
            )
        }
        guard plan.destination.isFileURL else {
            throw .file("The destination is no file URL; make it with URL(fileURLWithPath:).")
        }
        var file = plan.destination.standardizedFileURL
        if Self.isDirectory(file) {
            file.appendPathComponent(Self.fileName(of: url), isDirectory: false)
            guard !Self.isDirectory(file) else {
                throw .file("\(file.path) is a directory. Name the file itself as the destination.")
            }
        }
        self.file = file
        let directory = file.deletingLastPathComponent()
        let stem = Self.stem(of: file.lastPathComponent)
        part = directory.appendingPathComponent("." + stem + ".errand-part", isDirectory: false)
        journal = directory.appendingPathComponent(
            "." + stem + ".errand-journal", isDirectory: false)
    }

    /// Whether a file has the destination's name already.
    package var isTaken: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The names to try when the destination must not be replaced.
    ///
    /// For example `a.txt`, `a 2.txt`, `a 3.txt`.
    package func candidate(_ number: Int) -> URL {
        guard number > 1 else { return file }
        let name = file.lastPathComponent
        let directory = file.deletingLastPathComponent()
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return directory.appendingPathComponent("\(name) \(number)", isDirectory: false)
        }
        return directory.appendingPathComponent(
            "\(name[..<dot]) \(number)\(name[dot...])", isDirectory: false)
    }

    /// The last segment of the path, decoded, as a name that leads nowhere else.
    package static func fileName(of url: URI) -> String {
        let segment = url.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let decoded = segment.removingPercentEncoding ?? String(segment)
        return safeName(decoded) ?? "download"
    }

    /// The text as a name within a directory; `nil` where it is none.
    static func safeName(_ text: String) -> String? {
        let safe = String(
            text.unicodeScalars.map { scalar in
                let isSafe =
                    scalar.value >= 0x20 && scalar.value != 0x7f
                    && !"/\\".contains(Character(scalar))
                return isSafe ? Character(scalar) : "_"
            })
        guard !safe.isEmpty, safe != ".", safe != "..", safe.utf8.count <= 255 else { return nil }
        return safe
    }

    /// The name itself, or where that leaves no room for an ending, a digest in place of its end.
    private static func stem(of name: String) -> String {
        guard name.utf8.count > 220 else { return name }
        return String(name.prefix(40)) + "-" + SHA256.hex(Data(name.utf8)).prefix(32)
    }

    private static func isDirectory(_ url: URL) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory)
            && isDirectory.boolValue
    }
}

extension RequestError {
    /// A failure of the file system, with what to do about it.
    package static func file(_ message: String, underlying: (any Error)? = nil) -> RequestError {
        RequestError(.fileFailed, stage: .transport, message, underlying: underlying)
    }
}
