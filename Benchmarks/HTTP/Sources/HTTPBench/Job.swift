import Errand
import Foundation

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
    let address: String
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
        address = arguments[5]
        self.size = size
        options = Self.options(workload)
    }

    var url: EndpointURL { EndpointURL(raw: address) }

    /// The authorities of a server with TLS are in the file of the variable `HTTP_BENCH_CA`.
    let options: TransportOptions

    private static func options(_ workload: String) -> TransportOptions {
        var options = TransportOptions()
        if let file = ProcessInfo.processInfo.environment["HTTP_BENCH_CA"] {
            var security = SecurityPolicy()
            security.authorityFile = file
            options.security = security
        }
        if workload == "W6h1" { options.httpVersion = .http11 }
        return options
    }

    /// The request body of an upload is the file of the variable `HTTP_BENCH_UPLOAD`.
    var upload: URL? {
        guard workload == "W6u" else { return nil }
        return ProcessInfo.processInfo.environment["HTTP_BENCH_UPLOAD"]
            .map { URL(fileURLWithPath: $0) }
    }

    /// Whether the response is read as a stream.
    var isStream: Bool { workload.hasPrefix("S") || workload == "W6d" && mode != .bare }
}
