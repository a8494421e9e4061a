import ErrandCore
import ErrandHTTP
public import ErrandSystem

/// Stores cookies in a file with one JSON object per line, readable for its owner only.
///
///     let file = URL(fileURLWithPath: "/var/lib/app/cookies")
///     let jar = CookieJar(persistence: FileCookiePersistence(file))
///
/// Each save writes a new file in the same directory, with mode 0600, and renames it over the old
/// one, so that the file is always complete. If lines cannot be decoded, the file is copied to one
/// with the extension `broken`, and the other lines are used. If several processes share a file,
/// the last save wins.
nonisolated public struct FileCookiePersistence: CookiePersistence {
    /// The file.
    public let file: URL

    /// Creates a persistence for a file.
    ///
    /// A missing directory is created with access for its owner only.
    public init(_ file: URL) { self.file = file }

    /// Reads the file; returns no cookies if it does not exist.
    ///
    /// - Throws: ``RequestError`` with the code ``RequestError/Code/fileFailed`` if the file exists and cannot be read,
    ///   or if another user can have written it: if it is a link, belongs to another user, or is writable by others.
    public func load() throws -> [Cookie] {
        let source: SourceFile
        do throws(FileAccess.Refusal) {
            source = try SourceFile(own: file.path)
        } catch {
            if error == .failed(ENOENT) || error == .failed(ENOTDIR) { return [] }
            throw error.error(file.path)
        }
        guard let bytes = source.contents() else {
            throw FileAccess.Refusal.failed(errno).error(file.path)
        }
        let decoder = JSONReader()
        var cookies: [Cookie] = []
        var isBroken = false
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let cookie = try? decoder.decode(Cookie.self, from: Data(line)) {
                cookies.append(cookie)
            } else {
                isBroken = true
            }
        }
        if isBroken { try replace(file.appendingPathExtension("broken"), by: bytes) }
        return cookies
    }

    /// Replaces the file.
    ///
    /// - Throws: `CocoaError` or ``RequestError`` if it cannot be written, or if ``load()`` refuses the present one; the
    ///   old file is kept.
    public func save(_ cookies: [Cookie]) throws {
        do throws(FileAccess.Refusal) {
            try FileAccess.checkOwn(file.path)
        } catch { throw error.error(file.path) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        var bytes = Data()
        for cookie in cookies {
            bytes += try encoder.encode(cookie)
            bytes.append(UInt8(ascii: "\n"))
        }
        let manager = FileManager.default
        let folder = file.deletingLastPathComponent()
        if !manager.fileExists(atPath: folder.path) {
            try manager.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        try replace(file, by: bytes)
    }

    /// Replaces a file atomically by one that only its owner can read.
    private func replace(_ file: URL, by bytes: Data) throws {
        do throws(FileReplacement.Failure) {
            try FileReplacement.write(bytes, to: file.path, flush: PartFile.flush)
        } catch {
            throw RequestError(
                .fileFailed, stage: .transport,
                "\(file.path) could not be written: \(String(cString: strerror(error.code))). Free some space, or "
                    + "choose a path in a writable folder.",
                underlying: POSIXError(number: error.code))
        }
    }
}
