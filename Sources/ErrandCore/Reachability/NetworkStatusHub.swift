import Synchronization

/// Holds the present status and hands changes to whoever listens, none twice in a row.
///
/// What a ``Reachability`` is made of: feed it and pass its sequences on.
public final class NetworkStatusHub: Reachability {
    private struct State {
        var status: NetworkStatus
        var listeners = Subscribers<AsyncStream<NetworkStatus>.Continuation>()
    }

    private let state: Mutex<State>

    /// Makes a hub.
    ///
    /// - Parameter status: What is known at first. Default unknown.
    public init(_ status: NetworkStatus = NetworkStatus(.unknown)) {
        state = Mutex(State(status: status))
    }

    /// What is known now.
    public var current: NetworkStatus { state.withLock { $0.status } }

    /// Takes a new status; nothing happens when it is the present one.
    public func update(_ status: NetworkStatus) {
        // Yielding under the lock keeps the order; a stream runs nobody's code.
        state.withLock { state in
            guard status != state.status else { return }
            state.status = status
            for listener in state.listeners.entries.values { listener.yield(status) }
        }
    }

    /// What is known now, then every change; behind ``finish()`` what was known last, and the end.
    public func changes() -> AsyncStream<NetworkStatus> {
        AsyncStream.subscribed { stream in
            state.withLock { state in
                stream.yield(state.status)
                return state.listeners.add(stream)
            }
        } leave: { [weak self] id in
            _ = self?.state.withLock { $0.listeners.remove(id) }
        }
    }

    /// No more changes come; every sequence ends.
    public func finish() {
        for listener in state.withLock({ $0.listeners.close() }) { listener.finish() }
    }
}
