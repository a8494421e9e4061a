import Errand

/// The parsed command line: `HTTPBench MODE WORKLOAD COUNT IN_FLIGHT URL SIZE`.
struct Job: Sendable {
    /// The API of Errand that is measured.
    enum Mode: String, Sendable {
        /// An endpoint class for each request, `await send()`.
        case async
        /// An endpoint class for each request, closures on the main actor.
        case closures
        /// Like `async`, with every step of the pipeline enabled and idle.
        case steps
        /// Like `async`, with one listener that counts the events.
        case listener
        /// Like `async`, with an inspector whose page is not open.
        case inspector
        /// The transport alone, without pipeline and classes.
        case bare
        /// An endpoint class for each request; Foundation parses the response.
        case foundation
        /// A stream of lines as text; other streams are measured in the mode `async`.
        case text
        /// A download in four parallel ranges; other downloads are measured in the mode `async`.
        case segments
        /// Requests with responses of `MemoryResponseStore`.
        case memory
        /// Requests with responses of `SQLiteResponseStore`, read from its file.
        case sqlite
    }

    let mode: Mode
    let workload: String
    let count: Int
    let inFlight: Int
    let url: EndpointURL
    let size: Int

    init?(_ arguments: [String]) {
        guard arguments.count == 7, let mode = Mode(rawValue: arguments[1]),
            let count = Int(arguments[3]), let inFlight = Int(arguments[4]),
            let size = Int(arguments[6])
        else { return nil }
        self.mode = mode
        workload = arguments[2]
        self.count = count
        self.inFlight = max(1, inFlight)
        url = EndpointURL(raw: arguments[5])
        self.size = size
    }
}
