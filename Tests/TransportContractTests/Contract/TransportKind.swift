import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transports under test.
enum TransportKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case scripted
    case urlSession
    /// `URLSessionTransport` whose requests share connections, on Linux too.
    case sharedURLSession
    case curl

    /// The transports that use sockets.
    static let wire: [TransportKind] = [.urlSession, .curl]

    /// The transports that use sockets, and reuse connections.
    static let reusing: [TransportKind] = [.sharedURLSession, .curl]

    /// The transports that use sockets and have a capability.
    static func wire(with capability: Capability) -> [TransportKind] {
        wire.filter { $0.capabilities.contains(capability) }
    }

    var testDescription: String { rawValue }

    func makeTransport() -> any Transport {
        switch self {
        case .scripted: ScriptedTransport()
        case .urlSession: URLSessionTransport(configuration: .ephemeral)
        case .sharedURLSession:
            URLSessionTransport(configuration: .ephemeral, reusesConnections: true)
        case .curl: CurlTransport()
        }
    }

    var capabilities: Set<Capability> {
        switch self {
        case .scripted: []
        case .urlSession, .sharedURLSession: Capability.ofURLSession
        case .curl: Capability.ofCurl
        }
    }
}
