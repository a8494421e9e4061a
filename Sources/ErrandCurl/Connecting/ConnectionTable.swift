// Performance annotations: decision 17.

import ErrandTransport

/// The established connections of a loop by socket, and why they are closed, as pure state.
///
/// Connections are closed within the calls of their exchanges. A closed one is reported at the end of the turn.
struct ConnectionTable {
    typealias Reason = Response.Connection.CloseReason

    private struct Entry {
        var connection: Response.Connection
        var reason: Reason?
    }

    private var open = IntegerTable<Entry>()
    private var closing: [Entry] = []
    /// Whether all connections are closed because the loop ends.
    var isShuttingDown = false

    /// Adds an established connection.
    mutating func opened(_ connection: Response.Connection, on socket: Int32) {
        open[Int(socket)] = Entry(connection: connection)
    }

    /// The connection on a socket; `nil` if it is not established.
    func connection(on socket: Int32) -> Response.Connection? {
        open[Int(socket)]?.connection
    }

    /// Records why the connection on a socket is about to be closed; the first reason counts.
    mutating func willClose(_ socket: Int32, because reason: Reason) {
        guard let entry = open[Int(socket)], entry.reason == nil else { return }
        open[Int(socket)]?.reason = reason
    }

    /// Records that the socket of a connection is closed, or will not be used by it any more.
    mutating func closed(_ socket: Int32) {
        if let entry = open.removeValue(for: Int(socket)) { closing.append(entry) }
    }

    /// Whether closed connections wait for their report.
    var hasClosed: Bool { !closing.isEmpty }

    /// Takes the connections that were closed in this turn.
    mutating func takeClosed() -> [(connection: Response.Connection, reason: Reason)] {
        defer { closing = [] }
        return closing.map {
            ($0.connection, $0.reason ?? (isShuttingDown ? .shutDown : .unknown))
        }
    }
}
