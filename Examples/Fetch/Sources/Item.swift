import ArgumentParser
import Errand
import Foundation

/// A URL of the command, with the name and the digest of its file.
struct Item {
    let url: String
    /// The name on the display; the response can give another one to the file.
    let name: String
    /// The digest of the file; `nil` if it is unknown.
    let expected: DownloadedFile.Digest?
    /// The part of the URL that identifies a part file.
    let resource: String

    /// - Throws: `ValidationError` for a URL that is not usable, and for a checksum file without its digest.
    init(_ url: String, of command: Fetch, _ checksums: ChecksumFile?) throws {
        guard let parts = URL(string: url), ["http", "https"].contains(parts.scheme?.lowercased()),
            let host = parts.host, !host.isEmpty
        else { throw ValidationError("\(url) is not a URL with http or https.") }
        // A checksum file has the names of the server's files.
        let published = parts.path.split(separator: "/").last.map(String.init) ?? host
        self.url = url
        name = command.output ?? published
        expected =
            try checksums?.digest(of: published, orOf: name) ?? command.checksum?.digest
        resource = Self.resource(url, ignoringQuery: command.ignoreQuery)
    }

    /// The part of a URL that identifies a part file.
    static func resource(_ url: String, ignoringQuery: Bool) -> String {
        guard var uri = try? HTTPURL(parsing: url) else { return url }
        uri.userInfo = nil
        uri.fragment = nil
        if ignoringQuery { uri.query = nil }
        return uri.string
    }

    /// - Throws: `ValidationError` if two URLs would use the same part file.
    static func checkResources(of items: [Item]) throws {
        var first: [String: String] = [:]
        for item in items {
            let other = first.updateValue(item.url, forKey: item.resource) ?? item.url
            guard other == item.url else {
                throw ValidationError(
                    "\(other) and \(item.url) are the same file with --ignore-query. "
                        + "Remove the option, or one of the URLs.")
            }
        }
    }
}

/// A file with digests, such as `SHA256SUMS`.
struct ChecksumFile {
    private let path: String
    private let text: String

    /// - Throws: `ValidationError` if the file cannot be read.
    init(_ path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ValidationError("The checksum file \(path) cannot be read.")
        }
        self.path = path
        self.text = text
    }

    /// The digest of a name, otherwise that of another name.
    ///
    /// - Throws: `ValidationError` if no line has one of the names.
    func digest(of name: String, orOf other: String) throws -> DownloadedFile.Digest {
        if let digest = DownloadedFile.Digest.inChecksumFile(text, for: name)
            ?? DownloadedFile.Digest.inChecksumFile(text, for: other)
        {
            return digest
        }
        let names = name == other ? name : "\(name) or \(other)"
        throw ValidationError("The checksum file \(path) has no line for \(names).")
    }
}
