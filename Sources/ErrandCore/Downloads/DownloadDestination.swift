package import ErrandHTTP
package import ErrandSystem
package import HTTPTypes

/// The paths of a download: the finished file, the part file, and the journal.
package struct DownloadDestination: Sendable, Hashable {
    /// The finished file, unless the policy for existing files chooses another name.
    package private(set) var file: URL
    /// The folder of the finished file.
    package let folder: URL
    /// Whether the destination is a folder: the response then names the file.
    package let isFolder: Bool
    /// The part file, with the bytes received so far.
    package let part: URL
    /// The journal, which describes the part file.
    package let journal: URL
    /// The copy of a part file on another file system, until it is renamed.
    package let copy: URL

    /// - Parameters:
    ///   - url: The requested URL: names the file until the response does, if the destination is a folder.
    ///   - number: Distinguishes the part files of downloads of one URL that run at the same time.
    package init(_ plan: DownloadPlan, url: HTTPURL, number: Int = 1) throws(RequestError) {
        let destination = plan.destination.standardizedFileURL
        isFolder = Self.isDirectory(destination)
        folder = isFolder ? destination : destination.deletingLastPathComponent()
        let name = isFolder ? FileName.last(of: url) : destination.lastPathComponent
        file = folder.appendingPathComponent(name, isDirectory: false)
        var stem = Self.stem(of: name)
        let isRenamed = plan.existingFile == .rename
        if isFolder || isRenamed || plan.partFolder != nil {
            // The name alone does not distinguish the downloads whose part files are in this folder. Downloads that are
            // renamed have files of their own, so they can run at the same time.
            let rule = plan.resumableURL
            let resource = rule == .any ? name[...] : rule.resource(url.string)
            var key = isFolder ? destination.path : file.path
            if isFolder || isRenamed { key += "\n" + resource }
            stem += "-" + SHA256.hex(Data(key.utf8)).prefix(16)
        }
        if number > 1 { stem += "-\(number)" }
        let parts = plan.partFolder?.standardizedFileURL ?? folder
        part = parts.appendingPathComponent("." + stem + PartFolder.partSuffix, isDirectory: false)
        journal = parts.appendingPathComponent(
            "." + stem + PartFolder.journalSuffix, isDirectory: false)
        copy = folder.appendingPathComponent("." + stem + PartFolder.copySuffix, isDirectory: false)
        guard !isFolder || !Self.isDirectory(file) else { throw Self.directory(file) }
    }

    /// The destination with the name that a response proposes; unchanged if it is not a folder.
    package func named(_ name: String?) throws(RequestError) -> DownloadDestination {
        guard isFolder, let name, FileName.safe(name) == name else { return self }
        var destination = self
        destination.file = folder.appendingPathComponent(name, isDirectory: false)
        guard !Self.isDirectory(destination.file) else { throw Self.directory(destination.file) }
        return destination
    }

    /// The name of the file in a folder: from `Content-Disposition`, from the final URL, or from the requested URL.
    package static func name(_ headers: HTTPFields, final: HTTPURL, requested: HTTPURL) -> String {
        FileName.proposed(by: headers) ?? FileName.lastSegment(of: final)
            ?? FileName.last(of: requested)
    }

    /// The name that a response head gives to the file.
    package struct Choice: Sendable {
        /// The name; `nil` if the destination is not a folder.
        package var name: String?
        /// The existing file that is kept in place of the response's.
        package var existing: URL?
        /// The end of the download by the policy for existing files, also if the existing file is kept.
        package var error: RequestError?

        package init() {}
    }

    /// Chooses the name of the file in a folder, before the body is received.
    ///
    /// - Parameter resumed: The name that the first response gave to a file that is resumed.
    package func choose(
        _ headers: HTTPFields, final: HTTPURL, requested: HTTPURL, resumed: String?,
        _ policy: DownloadPlan.ExistingFile
    ) -> Choice {
        var choice = Choice()
        guard isFolder else { return choice }
        let name = resumed ?? Self.name(headers, final: final, requested: requested)
        choice.name = name
        do throws(RequestError) {
            let destination = try named(name)
            guard policy == .fail || policy == .keep, destination.isTaken else { return choice }
            if policy == .keep { choice.existing = destination.file }
            choice.error = FilePlacement.exists(destination.file)
        } catch {
            choice.error = error
        }
        return choice
    }

    /// Checks the headers of the request and the destination before anything is sent.
    package func check(
        _ headers: HTTPFields, _ policy: DownloadPlan.ExistingFile
    ) throws(RequestError) {
        if headers[.range] != nil || headers[.ifRange] != nil {
            throw .invalidCombination(
                "A download sets Range and If-Range itself. Remove them from the headers.")
        }
        if policy == .fail, !isFolder, isTaken { throw FilePlacement.exists(file) }
    }

    /// Whether the destination exists; a symbolic link does, also if its target does not.
    package var isTaken: Bool {
        var status = stat()
        return lstat(file.path, &status) == 0
    }

    /// The candidate names if an existing file must not be replaced.
    ///
    /// For example `a.txt`, `a 2.txt`, `a 3.txt`.
    package func candidate(_ number: Int) -> URL {
        guard number > 1 else { return file }
        let name = file.lastPathComponent
        let directory = file.deletingLastPathComponent()
        guard let dot = name.lastIndex(ofByte: "."), dot != name.startIndex else {
            return directory.appendingPathComponent("\(name) \(number)", isDirectory: false)
        }
        return directory.appendingPathComponent(
            "\(name[..<dot]) \(number)\(name[dot...])", isDirectory: false)
    }

    /// The name itself; if it leaves no room for a suffix, its beginning and a digest.
    private static func stem(of name: String) -> String {
        guard name.utf8.count > 200 else { return name }
        return FileName.beginning(of: name, bytes: 40) + "-"
            + SHA256.hex(Data(name.utf8)).prefix(32)
    }

    /// Whether the URL is that of an existing folder.
    package static func isDirectory(_ url: URL) -> Bool {
        var status = stat()
        return stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func directory(_ file: URL) -> RequestError {
        .file("\(file.path) is a directory. Name the file itself as the destination.")
    }
}

extension RequestError {
    /// A file system failure; the message says what to do.
    package static func file(_ message: String, underlying: (any Error)? = nil) -> RequestError {
        RequestError(.fileFailed, stage: .transport, message, underlying: underlying)
    }
}
