// The default transport and store of an agent. No other file of this target names one.
// The modules are re-exported, so that choosing another transport needs no further import:
// `RequestAgent(transport: URLSessionTransport())`.
@_exported public import ErrandCurl
@_exported public import ErrandSQLite
import ErrandSystem
import ErrandTransport
import Synchronization

#if URLSession || !os(Linux)
    @_exported public import ErrandURLSession
#endif

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
    /// ``setShared(_:)`` chooses another agent, with a transport, a store and settings of its own.
    public static let shared = takeShared()

    /// Sets the shared agent.
    ///
    /// Call it at the start of the program, before the first use of ``shared``:
    ///
    ///     try RequestAgent.setShared(
    ///         RequestAgent(
    ///             configuration: Configuration(baseURL: "https://api.example.com"),
    ///             store: SQLiteResponseStore(path: "/var/cache/app/responses.sqlite")))
    ///
    /// - Throws: ``RequestError/Code/invalidConfiguration`` after the first use of ``shared``, which stays the same agent.
    public static func setShared(_ agent: RequestAgent) throws(RequestError) {
        let isSet = sharedChoice.withLock { choice in
            guard !choice.isTaken else { return false }
            choice.agent = agent
            return true
        }
        guard isSet else {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "RequestAgent.shared is in use and stays the same agent. Call setShared before its first use, change "
                    + "its configuration, or create an agent of your own.")
        }
    }

    private struct SharedChoice {
        /// The agent that was set.
        var agent: RequestAgent?
        /// Whether ``shared`` was used.
        var isTaken = false
    }

    private static let sharedChoice = Mutex(SharedChoice())

    private static func takeShared() -> RequestAgent {
        let chosen = sharedChoice.withLock { choice in
            choice.isTaken = true
            return choice.agent
        }
        return chosen
            ?? RequestAgent(
                store: SQLiteResponseStore(
                    url: SQLiteResponseStore.defaultURL(named: ProcessInfo.processInfo.processName))
            )
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
