import Synchronization

/// A token that can be renewed once.
final class TokenBox: Sendable {
    private let state = Mutex("old")
    var current: String { state.withLock { $0 } }
    func renew() { state.withLock { $0 = "new" } }
}
