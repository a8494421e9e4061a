import ErrandCore
public import ErrandSystem

extension SQLiteResponseStore {
    /// The default location of a cache database.
    ///
    /// On Linux `$XDG_CACHE_HOME/errand/<name>.sqlite`, where `~/.cache` is the default of the
    /// variable; on Apple platforms `errand/<name>.sqlite` in the user's Caches directory.
    ///
    /// - Parameter name: A file name. `/`, `:` and NUL become `_`; a name that is empty, begins
    ///   with a dot or has 200 bytes or more becomes `default`.
    public static func defaultURL(named name: String) -> URL {
        defaultURL(named: name, environment: ProcessInfo.processInfo.environment)
    }

    static func defaultURL(named name: String, environment: [String: String]) -> URL {
        let safe = String(
            decoding: name.utf8.map { ByteSet("/:\0").contains($0) ? UInt8(ascii: "_") : $0 },
            as: UTF8.self)
        let isUsable = !safe.isEmpty && !safe.starts(withBytes: ".") && safe.utf8.count < 200
        return cachesDirectory(environment)
            .appendingPathComponent("errand", isDirectory: true)
            .appendingPathComponent((isUsable ? safe : "default") + ".sqlite", isDirectory: false)
    }

    private static func cachesDirectory(_ environment: [String: String]) -> URL {
        #if os(Linux)
            // The XDG base directory specification requires a relative path to be ignored.
            if let path = environment["XDG_CACHE_HOME"], path.starts(withBytes: "/") {
                return URL(fileURLWithPath: path, isDirectory: true)
            }
            return FileManager.default.homeDirectoryForCurrentUser
                .appendingPathComponent(".cache", isDirectory: true)
        #else
            return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
                ?? FileManager.default.temporaryDirectory
        #endif
    }
}
