import ErrandTransport
import Synchronization

/// The established connections of a loop by socket, and why they are closed, as pure state.
///
/// libcurl closes sockets within its calls, and the result that shows the reason follows within the same turn of the
/// loop. So a closed connection is reported at the end of the turn.
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

    /// Explains why a connection was closed in this turn, unless that is known.
    mutating func explain(_ id: UInt64, _ reason: Reason) {
        guard let index = closing.firstIndex(where: { $0.connection.id == id }) else { return }
        if closing[index].reason == nil { closing[index].reason = reason }
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

#if os(Linux)
    /// The number of a loop's sockets that are open or being connected; read on any thread.
    final class ConnectionCount: Sendable {
        private let count = Atomic<Int>(0)

        var value: Int { count.load(ordering: .relaxed) }

        func opened() { count.add(1, ordering: .relaxed) }

        func closed() { count.subtract(1, ordering: .relaxed) }
    }
#endif
