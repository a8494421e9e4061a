import ErrandCurl
package import ErrandTransport
import ErrandURLSession

/// The transports against which a test over real sockets runs.
package enum TransportKind: String, CaseIterable, Codable, Sendable {
    case curl, urlSession

    package func makeTransport() -> any Transport {
        switch self {
        case .curl: CurlTransport()
        case .urlSession: URLSessionTransport()
        }
    }
}
