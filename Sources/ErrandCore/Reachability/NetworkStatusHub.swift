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

    /// What is known now, then every change; of a reader who is far behind the latest ones are kept.
    ///
    /// After ``finish()`` the sequence ends behind what was known last.
    public func changes() -> AsyncStream<NetworkStatus> {
        Self.withoutRepetitions(
            AsyncStream.subscribed(keeping: .bufferingNewest(Self.kept)) { stream in
                state.withLock { state in
                    stream.yield(state.status)
                    return state.listeners.add(stream)
                }
            } leave: { [weak self] id in
                _ = self?.state.withLock { $0.listeners.remove(id) }
            })
    }

    /// How many changes wait for a reader.
    private static let kept = 64

    /// What was dropped may have stood between two that are the same.
    private static func withoutRepetitions(
        _ stream: AsyncStream<NetworkStatus>
    ) -> AsyncStream<NetworkStatus> {
        let told = Told()
        return AsyncStream {
            for await status in stream where told.isNew(status) { return status }
            return nil
        }
    }

    /// What a reader was told last.
    private final class Told: Sendable {
        private let last = Mutex<NetworkStatus?>(nil)

        func isNew(_ status: NetworkStatus) -> Bool {
            last.withLock { last in
                defer { last = status }
                return last != status
            }
        }
    }

    /// No more changes come; every sequence ends, also those that are asked for later.
    public func finish() {
        for listener in state.withLock({ $0.listeners.close() }) { listener.finish() }
    }
}
