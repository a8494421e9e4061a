import Errand

/// Writes one line for each request: method, URL without query, status, source and duration.
struct RequestLog: Interceptor {
    /// The result of a request, as one line of the log.
    struct Entry: Sendable {
        var request: String
        var status: String
        var source: String
        var duration: Duration
    }

    let write: @Sendable (Entry) -> Void

    func intercept(_ request: TransportRequest, next: TransportRequest.Next) async throws
        -> Response
    {
        let start = ContinuousClock.now
        func entry(_ status: String, _ source: String) -> Entry {
            Entry(
                request: "\(request)", status: status, source: source,
                duration: start.duration(to: .now))
        }
        do {
            let response = try await next(request)
            write(entry("\(response.statusCode)", response.source.rawValue))
            return response
        } catch {
            write(entry(error.status.map { "\($0.code)" } ?? "---", "\(error.code)"))
            throw error
        }
    }
}
