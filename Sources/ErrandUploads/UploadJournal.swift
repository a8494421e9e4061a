import ErrandCore
import ErrandHTTP
import ErrandSystem

/// The data required to continue an upload in another process: a small file, removed at the end.
///
/// It contains no headers, no credentials and no metadata. The URL of the upload is stored because
/// nothing else identifies the upload; only the user who wrote the file can read it.
struct UploadJournal: Sendable, Hashable, Codable {
    /// The version of this format.
    static let currentFormat = 1

    var format = Self.currentFormat
    /// The URL that created the upload, without user info, query and fragment.
    var endpoint: String
    /// The SHA-256 of that URL with its query; `nil` in a journal of an earlier version.
    var endpointDigest: String?
    var file: UploadSource.Identity
    /// The SHA-256 of `Upload-Metadata`; `nil` without metadata.
    var metadata: String?
    var remote: TusUploadState.Remote

    /// Decodes a journal; `nil` for invalid or contradictory data.
    init?(decoding data: Data) {
        guard data.count < 64 << 10,
            let journal = try? JSONReader().decode(Self.self, from: data),
            journal.format == Self.currentFormat, journal.file.size >= 0,
            0...journal.file.size ~= journal.remote.offset,
            journal.remote.offset...journal.file.size ~= journal.remote.sent,
            let url = try? HTTPURL(parsing: journal.remote.url), url.isAbsoluteHTTP,
            let endpoint = try? HTTPURL(parsing: journal.endpoint), url.isHTTPS || !endpoint.isHTTPS
        else { return nil }
        self = journal
    }

    init(
        endpoint: HTTPURL, file: UploadSource.Identity, metadata: String?,
        remote: TusUploadState.Remote
    ) {
        self.endpoint = endpoint.redacted
        endpointDigest = Self.digest(of: endpoint)
        self.file = file
        self.metadata = metadata
        self.remote = remote
    }

    func encoded() -> Data { (try? JSONEncoder().encode(self)) ?? Data() }

    /// Whether this is a journal of the same upload: of the same creating URL, file and metadata.
    func belongs(to upload: UploadJournal) -> Bool {
        var journal = self
        // The redacted URL identifies the upload only if no query was removed from it.
        if endpointDigest == nil, !endpoint.contains(byte: "?") {
            journal.endpointDigest = upload.endpointDigest
        }
        journal.remote = upload.remote
        return journal == upload
    }

    /// The SHA-256 of a URL without user info and fragment, which the server does not receive as its URL.
    private static func digest(of url: HTTPURL) -> String {
        var url = url
        url.userInfo = nil
        url.fragment = nil
        return SHA256.hex(Data(url.string.utf8))
    }

    /// The longest part of a name in the default name of a journal, in bytes: file systems allow 255.
    private static let maximumStem = 180

    /// The default file of a journal: hidden, next to the file, and different for each creating URL.
    static func location(of file: URL, endpoint: HTTPURL) -> URL {
        let name = file.lastPathComponent
        let key = endpoint.query == nil ? endpoint.redacted : Self.digest(of: endpoint)
        let digest = SHA256.hex(Data((key + "\n" + name).utf8)).prefix(16)
        // A name of few characters may have many bytes.
        let stem =
            name.utf8.count <= maximumStem
            ? name : FileName.beginning(of: String(name.prefix(40)), bytes: maximumStem)
        return file.deletingLastPathComponent().appendingPathComponent(
            ".\(stem).\(digest).errand-upload", isDirectory: false)
    }
}

/// The file of a journal, locked against other runs in any process.
///
/// The journal is replaced by a rename, so that a killed process leaves the old or the new one. It is
/// synced before a piece is sent, so that it never records less than the server can have.
final class UploadJournalFile: Sendable {
    private let url: URL
    private let lock: URL
    private let descriptor: Int32

    /// Locks the journal; it need not exist.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if another run has locked it, its folder cannot be
    ///   written, or another user can have put it there.
    init(_ url: URL) throws(RequestError) {
        self.url = url
        lock = url.appendingPathExtension("lock")
        do throws(FileAccess.Refusal) {
            try FileAccess.checkOwn(url.path)
        } catch { throw error.error(url.path) }
        descriptor = try FileLock.openLocked(lock)
    }

    deinit {
        // Removed while it is locked: another run locks a file only if it still has its name.
        unlink(lock.path)
        FileLock.close(descriptor, lock)
    }

    /// The journal; `nil` if there is none, or it is invalid.
    func read() -> UploadJournal? {
        // Journals are small: a larger file is not one.
        SourceFile.beginning(ofOwn: url.path, 64 << 10).flatMap(UploadJournal.init(decoding:))
    }

    func write(_ journal: UploadJournal) throws(RequestError) {
        do throws(FileReplacement.Failure) {
            try FileReplacement.write(
                journal.encoded(), to: url.path, through: url.path + "-new", flush: PartFile.flush)
        } catch { throw failure(error.stage == .create ? "created" : "written", error.code) }
        FilePlacement.syncDirectory(url.deletingLastPathComponent())
    }

    func remove() {
        unlink(url.path + "-new")
        unlink(url.path)
    }

    private func failure(_ verb: String, _ code: Int32) -> RequestError {
        .file(
            "The journal of the upload could not be \(verb): \(String(cString: strerror(code))). "
                + "Override journal with a file in a writable folder.",
            underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }
}
