import ErrandHTTP
import Synchronization

/// A source of the network state.
///
/// It reports the state; whether requests wait is decided by ``ConnectivityPolicy``.
public protocol Reachability: Sendable {
    /// The current status.
    var current: NetworkStatus { get }

    /// The current status, then every change, without repetitions.
    ///
    /// Each call creates a sequence of its own, which ends when the reading task ends.
    func changes() -> AsyncStream<NetworkStatus>
}

/// Holds the current status and reports changes to readers, without repetitions.
///
/// Use it to implement ``Reachability``: call ``update(_:)`` on changes and forward ``changes()``.
public final class NetworkStatusHub: Reachability {
    private struct State {
        var status: NetworkStatus
        var listeners = Subscribers<AsyncStream<NetworkStatus>.Continuation>()
    }

    private let state: Mutex<State>

    /// Creates a hub.
    ///
    /// - Parameter status: The initial status. Default unknown.
    public init(_ status: NetworkStatus = NetworkStatus(.unknown)) {
        state = Mutex(State(status: status))
    }

    /// The current status.
    public var current: NetworkStatus { state.withLock { $0.status } }

    /// Sets a new status; does nothing if it equals the current one.
    public func update(_ status: NetworkStatus) {
        // Yielding under the lock keeps the order; a stream runs no user code.
        state.withLock { state in
            guard status != state.status else { return }
            state.status = status
            for listener in state.listeners.entries.values { listener.yield(status) }
        }
    }

    /// The current status, then every change; for a slow reader the latest changes are buffered.
    ///
    /// After ``finish()`` the sequence ends after the last status.
    public func changes() -> AsyncStream<NetworkStatus> {
        Self.withoutRepetitions(
            AsyncStream.subscribed(keeping: .bufferingNewest(Self.bufferedChanges)) { stream in
                state.withLock { state in
                    stream.yield(state.status)
                    return state.listeners.add(stream)
                }
            } leave: { [weak self] id in
                _ = self?.state.withLock { $0.listeners.remove(id) }
            })
    }

    /// The number of changes buffered for a reader.
    private static let bufferedChanges = 64

    /// Removes repetitions, which occur if the buffer dropped the changes between two equal ones.
    private static func withoutRepetitions(
        _ stream: AsyncStream<NetworkStatus>
    ) -> AsyncStream<NetworkStatus> {
        let filter = LastReported()
        return AsyncStream {
            for await status in stream where filter.isNew(status) { return status }
            return nil
        }
    }

    /// The last status delivered to a reader.
    private final class LastReported: Sendable {
        private let last = Mutex<NetworkStatus?>(nil)

        func isNew(_ status: NetworkStatus) -> Bool {
            last.withLock { last in
                defer { last = status }
                return last != status
            }
        }
    }

    /// Ends every sequence, including those requested later; no more changes are reported.
    public func finish() {
        for listener in state.withLock({ $0.listeners.close() }) { listener.finish() }
    }
}
