import Errand
import ErrandTransport

/// The transports against which a test over real sockets runs.
enum TransportKind: String, CaseIterable, Codable, Sendable {
    case curl, urlSession

    func makeTransport() -> any Transport {
        switch self {
        case .curl: CurlTransport()
        case .urlSession: URLSessionTransport()
        }
    }
}
