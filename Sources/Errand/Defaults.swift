// The one file that knows transports and stores: what an agent is made of when nobody says otherwise.
// They are exported, so that choosing another is one line: `RequestAgent(transport: URLSessionTransport())`.
@_exported public import ErrandCurl
@_exported public import ErrandSQLite
@_exported public import ErrandURLSession
import Foundation

extension RequestAgent {
    /// The agent of requests that name none: the platform's transport and a SQLite store in the user's cache
    /// folder, so that what is cached survives the process.
    ///
    /// Set ``configuration`` once at the start of the program.
    public static let shared = RequestAgent(
        transport: defaultTransport(),
        store: SQLiteResponseStore(
            url: SQLiteResponseStore.defaultURL(named: ProcessInfo.processInfo.processName)))

    /// Makes an agent with the platform's transport: libcurl on Linux, URLSession on Apple platforms.
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
