import Synchronization

/// Holds the present status and hands changes to whoever listens, none twice in a row.
///
/// What a ``Reachability`` is made of: feed it and pass its sequences on.
public final class NetworkStatusHub: Reachability {
    private struct State {
        var status: NetworkStatus
        var nextID = 0
        var listeners: [Int: AsyncStream<NetworkStatus>.Continuation] = [:]
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
            for listener in state.listeners.values { listener.yield(status) }
        }
    }

    /// What is known now, then every change.
    public func changes() -> AsyncStream<NetworkStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: NetworkStatus.self)
        let id = state.withLock { state in
            state.nextID += 1
            state.listeners[state.nextID] = continuation
            continuation.yield(state.status)
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// No more changes come; every sequence ends.
    public func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
