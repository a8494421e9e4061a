import Errand
import ErrandTesting
import Synchronization

/// A bearer token that changes from `old` to `new` when it is refreshed.
final class RefreshableToken: Sendable {
    private let state = Mutex("old")
    var current: String { state.withLock { $0 } }
    func refresh() { state.withLock { $0 = "new" } }
}

/// Applies no credentials.
///
/// Each of its two operations waits at its gate, if it has one.
struct GatedAuthenticator: Authenticator {
    var applying: Gate?
    var refreshing: Gate?

    func apply(to request: inout TransportRequest) async throws { try await applying?.passed() }

    func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
        try await refreshing?.passed()
        return false
    }
}
