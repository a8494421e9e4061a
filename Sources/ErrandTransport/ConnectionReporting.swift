import ErrandSystem
import Synchronization

/// A transport that reports when its connections are opened and closed, for events and metrics.
public protocol ConnectionReporting: Transport {
    /// The reports of the transport, which it creates once.
    var connectionReports: ConnectionReports { get }
}

/// Passes the reports of a transport's connections to their observers.
///
/// Without an observer, a report costs a lock. With one, observers are called one after another, in the order of the
/// reports, on a thread that no transfer needs.
public final class ConnectionReports: Sendable {
    private struct State {
        var open = 0
        var lastObserver = 0
        var observers: [Int: @Sendable (ConnectionEvent) -> Void] = [:]
    }

    private let transport: String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "errand.connections")

    /// Creates the reports of a transport without connections.
    public init(transport name: String) { transport = name }

    /// The reports of a transport, for one that passes transfers to it; none if it does not report connections.
    package static func of(_ transport: any Transport) -> ConnectionReports {
        (transport as? any ConnectionReporting)?.connectionReports
            ?? ConnectionReports(transport: transport.name)
    }

    /// The number of open connections, in use and idle.
    public var openConnections: Int { state.withLock { $0.open } }

    /// Reports that a connection is established.
    public func opened(_ connection: Response.Connection) { report(connection, nil) }

    /// Reports that a connection is closed; once for each connection that was reported as opened.
    public func closed(
        _ connection: Response.Connection, because reason: Response.Connection.CloseReason
    ) {
        report(connection, reason)
    }

    private func report(
        _ connection: Response.Connection, _ reason: Response.Connection.CloseReason?
    ) {
        state.withLock { state in
            state.open += reason == nil ? 1 : -1
            guard !state.observers.isEmpty else { return }
            let event = ConnectionEvent(
                transport: transport, connection: connection, closeReason: reason,
                openConnections: state.open)
            // Queued under the lock, so that numbers and events have the same order.
            queue.async { [observers = Array(state.observers.values)] in
                for observer in observers { observer(event) }
            }
        }
    }

    /// Calls an observer for each later report, until the observation is released.
    ///
    /// A report that precedes the release may arrive after it.
    public func observe(_ observer: @escaping @Sendable (ConnectionEvent) -> Void) -> Observation {
        let id = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = observer
            return state.lastObserver
        }
        return Observation(self, id)
    }

    private func removeObserver(_ id: Int) {
        // Released outside the lock: it may hold objects of users.
        let removed = state.withLock { $0.observers.removeValue(forKey: id) }
        withExtendedLifetime(removed) {}
    }

    /// Keeps an observer; its release removes the observer.
    public final class Observation: Sendable {
        private let reports: ConnectionReports
        private let id: Int

        fileprivate init(_ reports: ConnectionReports, _ id: Int) {
            self.reports = reports
            self.id = id
        }

        deinit { reports.removeObserver(id) }
    }
}
