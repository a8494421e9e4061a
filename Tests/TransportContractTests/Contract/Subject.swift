import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transports that the contract is about.
enum Subject: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case scripted
    case urlSession
    case curl

    /// Those that talk over a wire.
    static let wire: [Subject] = [.urlSession, .curl]

    /// Those on a wire that have a capability.
    static func wire(with capability: Capability) -> [Subject] {
        wire.filter { $0.capabilities.contains(capability) }
    }

    var testDescription: String { rawValue }

    func makeTransport() -> any Transport {
        switch self {
        case .scripted: ScriptedTransport()
        case .urlSession: URLSessionTransport(configuration: .ephemeral)
        case .curl: CurlTransport()
        }
    }

    var capabilities: Set<Capability> {
        switch self {
        case .scripted: []
        case .urlSession: Capability.ofURLSession
        case .curl: Capability.ofCurl
        }
    }
}
