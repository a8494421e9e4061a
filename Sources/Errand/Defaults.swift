// The default transport and store of an agent. No other file of this target names one.
// The modules are re-exported, so that choosing another transport needs no further import:
// `RequestAgent(transport: URLSessionTransport())`.
@_exported public import ErrandCurl
@_exported public import ErrandSQLite
import ErrandTransport
@_exported public import ErrandURLSession
import Foundation
import Synchronization

extension RequestAgent {
    /// The agent that performs requests without an agent of their own.
    ///
    /// It uses the default transport of the platform, and a SQLite store in the user's cache
    /// directory, so that cached responses survive the process. If the file cannot be opened,
    /// responses are cached in memory, and the event `storeProblem` reports it. Set
    /// ``configuration`` once at the start of the program.
    ///
    /// The file is `SQLiteResponseStore.defaultURL(named:)` with the name of the process, of at most 256 MiB, and
    /// with 8 MiB in memory: `RequestAgent.shared.store as? SQLiteResponseStore` has its `path` and its limits.
    /// ``setSharedStore(_:)`` chooses another file, other limits or another store.
    public static let shared = RequestAgent(transport: defaultTransport(), store: takeSharedStore())

    /// Sets the store of the shared agent.
    ///
    /// Call it at the start of the program, before the first use of ``shared``:
    ///
    ///     try RequestAgent.setSharedStore(
    ///         SQLiteResponseStore(path: "/var/cache/app/responses.sqlite", maximumBytes: 64 << 20))
    ///
    /// - Parameter store: The store; `nil` for none, so that nothing is cached.
    /// - Throws: ``RequestError/Code/invalidConfiguration`` after the first use of ``shared``, which keeps its store.
    public static func setSharedStore(_ store: (any ResponseStore)?) throws(RequestError) {
        let isSet = sharedStore.withLock { choice in
            guard !choice.isTaken else { return false }
            choice.store = .some(store)
            return true
        }
        guard isSet else {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "RequestAgent.shared is in use and keeps its store. Call setSharedStore before the first use of "
                    + "RequestAgent.shared, or create an agent of your own with the store.")
        }
    }

    private struct SharedStoreChoice {
        /// The store that was set; the outer optional is `nil` before.
        var store: (any ResponseStore)??
        /// Whether ``shared`` has its store.
        var isTaken = false
    }

    private static let sharedStore = Mutex(SharedStoreChoice())

    private static func takeSharedStore() -> (any ResponseStore)? {
        let chosen = sharedStore.withLock { choice in
            choice.isTaken = true
            return choice.store
        }
        return chosen
            ?? SQLiteResponseStore(
                url: SQLiteResponseStore.defaultURL(named: ProcessInfo.processInfo.processName))
    }

    /// Creates an agent with the default transport of the platform: libcurl on Linux, URLSession on
    /// Apple platforms.
    public convenience init(
        configuration: Configuration = Configuration(),
        store: (any ResponseStore)? = MemoryResponseStore()
    ) {
        self.init(
            configuration: configuration, transport: Self.defaultTransport(), store: store)
    }

    private static func defaultTransport() -> any Transport {
        #if os(Linux)
            CurlTransport()
        #else
            URLSessionTransport()
        #endif
    }
}
