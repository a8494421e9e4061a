import ErrandCore
import ErrandSystem
import HTTPTypes

/// A request from its start to its end, as the one line about it shows it; pure.
struct RequestSummary: Sendable, Equatable {
    /// How the request ended.
    enum Result: Sendable, Equatable {
        case response(status: Int, bytes: Int64?, Response.Source)
        case failure(message: String, type: String, status: Int?)
        case cancellation
    }

    private(set) var method: HTTPMethod?
    /// The latest URL that is known in full; `nil` before the request was built, and for a shared transfer.
    private(set) var url: HTTPURL?
    /// The number of transfers: attempts, redirects, and those with refreshed credentials.
    private(set) var transfers = 0
    private(set) var attempts = 0
    private(set) var isJoined = false
    private(set) var result: Result?
    private(set) var duration = Duration.zero
    private var startedAt: Duration?

    /// The number of transfers after the first.
    var resends: Int { max(0, transfers - 1) }

    /// Adds an event.
    mutating func add(_ event: RequestEvent) {
        switch event.kind {
        case .started: startedAt = event.uptime
        case .adapted(let method, let url): (self.method, self.url) = (method, url)
        case .joined: isJoined = true
        case .ended(let error): end(event, error)
        default: break
        }
    }

    /// Adds a transfer.
    mutating func send(_ method: HTTPMethod, _ url: HTTPURL, attempt: Int) {
        self.method = method
        self.url = url
        transfers += 1
        attempts = max(attempts, attempt)
    }

    private mutating func end(_ event: RequestEvent, _ error: RequestError?) {
        duration = event.uptime - (startedAt ?? event.uptime)
        attempts = max(attempts, event.response?.attempts ?? error?.attempts ?? 0)
        if let response = event.response {
            url = response.url
            result = .response(
                status: response.statusCode, bytes: Self.bytes(of: response), response.source)
        } else if let error, error.isCancellation {
            result = .cancellation
        } else if let error {
            result = .failure(
                message: error.message, type: HTTPAttribute.type(of: error),
                status: error.response?.statusCode)
        }
    }

    /// The size of the body; of a file or a stream, the number of bytes that this run received.
    private static func bytes(of response: Response) -> Int64? {
        if case .data(let data) = response.body, !response.isStreamed { return Int64(data.count) }
        return response.timings.last?.bytesReceived
    }
}
