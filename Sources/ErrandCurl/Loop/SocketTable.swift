// Performance annotations: decision 17.

import ErrandTransport
import Synchronization

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

#if os(Linux)
    import CLibcurl
    import ErrandHTTP
    import Glibc

    /// The events that the kernel watches on the sockets of connects, and the events that libcurl
    /// requests.
    ///
    /// Removal is lazy: a socket that libcurl releases stays in the epoll set until it has an event or is
    /// closed. Other changes are applied at once: a socket that is watched for writing without need
    /// would keep the loop spinning.
    struct SocketTable {
        private struct Entry {
            var requested: UInt32 = 0
            var watched: UInt32 = 0
            /// Whether the transport's callbacks open and close the socket, so that a reuse of its
            /// number is noticed.
            var isOurs = false
        }

        private let poll: Int32
        private var entries: [Entry] = []
        /// The number of sockets that libcurl has closed without a call of the transport, because
        /// the connect was abandoned.
        private(set) var abandonedConnects = 0
        /// The number of checks of the idle sockets for input, and whether the last one is recent.
        private(set) var idleChecks: UInt64 = 0
        private var isIdleCheckRecent = false

        init(poll: Int32) { self.poll = poll }

        /// Whether libcurl requests events of a socket.
        func isRequested(_ socket: Int32) -> Bool {
            entries.indices.contains(Int(socket)) && entries[Int(socket)].requested != 0
        }

        // MARK: - Idle sockets

        /// Records that `epoll_wait` has reported all input; `isIdle` if it has reported none.
        mutating func checkedIdleSockets(isIdle: Bool) {
            idleChecks += 1
            isIdleCheckRecent = isIdle
        }

        /// Records that time has passed since the last check.
        mutating func expireIdleCheck() { isIdleCheckRecent = false }

        /// Whether a recent check has found no input on a socket that was watched and idle when
        /// there had been this number of checks.
        func isKnownIdle(since check: UInt64) -> Bool { isIdleCheckRecent && check < idleChecks }

        // MARK: - Connects

        /// Sets the events that libcurl requests; 0 for none.
        mutating func setRequestedEvents(_ events: UInt32, of socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index].requested = events
            if events == 0 {
                if !entries[index].isOurs { return unwatch(socket) }
                // An idle socket is always writable; only its input matters.
                guard entries[index].watched & errand_epoll_out != 0 else { return }
                if errand_epoll_modify(poll, socket, errand_epoll_in) == 0 {
                    entries[index].watched = errand_epoll_in
                } else {
                    abandonedConnects &+= 1
                }
                return
            }
            watch(socket, events)
        }

        private mutating func watch(_ socket: Int32, _ events: UInt32) {
            let index = Int(socket)
            guard entries[index].watched != events else { return }
            if entries[index].watched == 0 {
                if errand_epoll_add(poll, socket, events) != 0 {
                    _ = errand_epoll_modify(poll, socket, events)
                }
            } else if errand_epoll_modify(poll, socket, events) != 0 {
                _ = errand_epoll_add(poll, socket, events)
            }
            entries[index].watched = events
        }

        /// Stops watching the socket.
        mutating func unwatch(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].watched != 0 else { return }
            _ = errand_epoll_remove(poll, socket)
            entries[index].watched = 0
        }

        /// Adds a new socket and discards the entry of any earlier socket with its number.
        mutating func opened(_ socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index] = Entry(isOurs: true)
        }

        /// Removes a socket that is about to be closed; the kernel removes it from the epoll set.
        mutating func closed(_ socket: Int32) {
            if let index = slot(of: socket) { entries[index] = Entry() }
        }

        private mutating func slot(of socket: Int32) -> Int? {
            guard socket >= 0 else { return nil }
            let index = Int(socket)
            if index >= entries.count {
                entries += repeatElement(Entry(), count: index + 64 - entries.count)
            }
            return index
        }
    }

    /// The number of a loop's sockets that are open or being connected; read on any thread.
    final class ConnectionCount: Sendable {
        private let count = Atomic<Int>(0)

        var value: Int { count.load(ordering: .relaxed) }

        func opened() { count.add(1, ordering: .relaxed) }

        func closed() { count.subtract(1, ordering: .relaxed) }
    }
#endif
