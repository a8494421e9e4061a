public import Foundation

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
    /// - Throws: `CocoaError` if the file exists and cannot be read.
    public func load() throws -> [Cookie] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        let bytes = try Data(contentsOf: file)
        let decoder = JSONDecoder()
        var cookies: [Cookie] = []
        var isBroken = false
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let cookie = try? decoder.decode(Cookie.self, from: Data(line)) {
                cookies.append(cookie)
            } else {
                isBroken = true
            }
        }
        if isBroken { try copyBrokenFile() }
        return cookies
    }

    /// Replaces the file.
    ///
    /// - Throws: `CocoaError` or `POSIXError` if it cannot be written; the old file is kept.
    public func save(_ cookies: [Cookie]) throws {
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
        let fresh = folder.appendingPathComponent(
            ".\(file.lastPathComponent).\(UUID().uuidString)")
        do {
            try write(bytes, to: fresh)
            try replace(file, by: fresh)
        } catch {
            try? manager.removeItem(at: fresh)
            throw error
        }
    }

    private func write(_ bytes: Data, to fresh: URL) throws {
        // Create the file with its mode before anything is written to it.
        guard
            FileManager.default.createFile(
                atPath: fresh.path, contents: Data(), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        let handle = try FileHandle(forWritingTo: fresh)
        do {
            try handle.write(contentsOf: bytes)
            try handle.synchronize()
            try handle.close()
        } catch {
            try? handle.close()
            throw error
        }
    }

    /// Replaces a file atomically.
    ///
    /// `FileManager` has no call that does so on all platforms.
    private func replace(_ old: URL, by fresh: URL) throws {
        guard rename(fresh.path, old.path) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    private func copyBrokenFile() throws {
        let copy = file.appendingPathExtension("broken")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: file, to: copy)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: copy.path)
    }
}
