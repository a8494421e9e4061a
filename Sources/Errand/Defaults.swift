// The default transport and store of an agent. No other file of this target names one.
// The modules are re-exported, so that choosing another transport needs no further import:
// `RequestAgent(transport: URLSessionTransport())`.
@_exported public import ErrandCurl
@_exported public import ErrandSQLite
import ErrandTransport
@_exported public import ErrandURLSession
import Foundation

extension RequestAgent {
    /// The agent that performs requests without an agent of their own.
    ///
    /// It uses the default transport of the platform, and a SQLite store in the user's cache
    /// directory, so that cached responses survive the process. If the file cannot be opened,
    /// responses are cached in memory, and the event `storeProblem` reports it. Set
    /// ``configuration`` once at the start of the program.
    public static let shared = RequestAgent(
        transport: defaultTransport(),
        store: SQLiteResponseStore(
            url: SQLiteResponseStore.defaultURL(named: ProcessInfo.processInfo.processName)))

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
