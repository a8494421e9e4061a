public import Foundation

extension SQLiteResponseStore {
    /// The usual place of a cache: `$XDG_CACHE_HOME/errand/<name>.sqlite`, by default below
    /// `~/.cache`, on Linux; the user's Caches directory on Apple systems.
    ///
    /// - Parameter name: A file name; slashes and what else leads elsewhere are replaced.
    public static func defaultURL(named name: String) -> URL {
        defaultURL(named: name, environment: ProcessInfo.processInfo.environment)
    }

    static func defaultURL(named name: String, environment: [String: String]) -> URL {
        let safe = String(name.map { $0 == "/" || $0 == "\0" || $0 == ":" ? "_" : $0 })
        let isUsable = !safe.isEmpty && !safe.hasPrefix(".") && safe.utf8.count < 200
        return cachesDirectory(environment)
            .appendingPathComponent("errand", isDirectory: true)
            .appendingPathComponent((isUsable ? safe : "default") + ".sqlite", isDirectory: false)
    }

    private static func cachesDirectory(_ environment: [String: String]) -> URL {
        #if os(Linux)
            // A relative path is to be ignored, says the XDG specification.
            if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
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
