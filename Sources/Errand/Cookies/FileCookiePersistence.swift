public import Foundation

/// Keeps cookies in one file that only its owner may read, a JSON object a line.
///
///     let jar = CookieJar(persistence: FileCookiePersistence(URL(fileURLWithPath: "/var/lib/app/cookies")))
///
/// Each saving writes a new file beside it, mode 0600, and puts that in the old one's place: the file is whole at
/// any moment. What cannot be read is set aside with `.broken` behind its name; lines that can be are kept. Of
/// several processes that share a file the last to save wins.
nonisolated public struct FileCookiePersistence: CookiePersistence {
    /// The file.
    public let file: URL

    /// Says which file; its folder is made when it is missing, for its owner alone.
    public init(_ file: URL) { self.file = file }

    /// Reads the file; nothing when there is none.
    ///
    /// - Throws: `CocoaError` when there is one that may not be read.
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
        if isBroken { try setAside() }
        return cookies
    }

    /// Writes the file anew.
    ///
    /// - Throws: `CocoaError` or `POSIXError` when it cannot be written; the old file stays.
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
        // Nothing is in the file before its mode is right.
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

    /// Puts one file in another's place in one step; `FileManager` has no call for it that does so everywhere.
    private func replace(_ old: URL, by fresh: URL) throws {
        guard rename(fresh.path, old.path) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    private func setAside() throws {
        let aside = file.appendingPathExtension("broken")
        try? FileManager.default.removeItem(at: aside)
        try FileManager.default.copyItem(at: file, to: aside)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: aside.path)
    }
}
