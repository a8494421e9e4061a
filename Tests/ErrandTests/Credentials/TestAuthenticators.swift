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
final class GatedAuthenticator: Authenticator {
    private let applying: Gate?
    private let refreshing: Gate?
    let refreshTimeout: Duration?

    init(
        applying: Gate? = nil, refreshing: Gate? = nil, refreshTimeout: Duration? = .seconds(60)
    ) {
        self.applying = applying
        self.refreshing = refreshing
        self.refreshTimeout = refreshTimeout
    }

    func apply(to request: inout TransportRequest) async throws { try await applying?.passed() }

    func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
        try await refreshing?.passed()
        return false
    }
}
