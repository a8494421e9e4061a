import ErrandHTTP

/// The connections of the agent's transport, from their events; pure.
struct ConnectionLog: Sendable {
    /// A connection.
    struct Entry: Sendable, Equatable {
        var connection: Response.Connection
        /// The time at which it was opened; `nil` if that was before the inspector was started.
        var opened: Duration?
        /// The time at which it was closed, and why; `nil` while it is open.
        var closed: Duration?
        var reason: Response.Connection.CloseReason?
    }

    /// The maximum number of closed connections.
    static let maximumClosed = 100
    /// The maximum number of open connections; the oldest are removed first.
    static let maximumOpen = 1000

    private var entries: [UInt64: Entry] = [:]
    /// The closed connections, the latest first.
    private(set) var closed: [Entry] = []

    /// The open connections, the oldest first.
    var open: [Entry] { entries.values.sorted { $0.connection.id < $1.connection.id } }

    /// Reads an event.
    mutating func read(_ event: ConnectionEvent) {
        let connection = event.connection
        guard let reason = event.closeReason else {
            entries[connection.id] = Entry(connection: connection, opened: event.uptime)
            if entries.count > Self.maximumOpen, let oldest = entries.keys.min() {
                entries[oldest] = nil
            }
            return
        }
        var entry = entries.removeValue(forKey: connection.id) ?? Entry(connection: connection)
        (entry.closed, entry.reason) = (event.uptime, reason)
        closed.insert(entry, at: 0)
        if closed.count > Self.maximumClosed { closed.removeLast() }
    }

    /// Forgets the closed connections.
    mutating func removeClosed() { closed = [] }
}

extension Response.Connection.CloseReason {
    /// The reason as a sentence.
    var sentence: String {
        switch self {
        case .idleLimit: "It was idle for too long."
        case .poolFull: "The limit of connections was reached."
        case .serverClosed: "The server closed it."
        case .unsolicitedData: "The server sent data that belongs to no request."
        case .notPersistent: "The request or the response allowed no further request."
        case .superseded: "The server has negotiated another HTTP version."
        case .cancelled: "Its request was cancelled."
        case .timedOut: "Its request exceeded a time limit."
        case .failed: "Its request failed."
        case .shutDown: "The agent or the transport was shut down."
        case .unknown: "The transport does not know the reason."
        default: rawValue
        }
    }
}
