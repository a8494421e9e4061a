// Performance annotations: decision 17.

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
    import CLibcurl
    import ErrandHTTP
    import Glibc

    /// The events that the kernel watches on each socket, and the events that libcurl requests.
    ///
    /// Removal is lazy: a socket that libcurl releases stays in the epoll set until it has an event
    /// or is closed, so a kept connection costs no system call between two requests. Other changes
    /// are applied at once: a socket that is watched for writing without need would keep the loop
    /// spinning.
    struct SocketTable {
        /// The protocol on a socket.
        enum Use {
            /// HTTP/1 without TLS.
            case plain
            /// HTTP/2 without TLS; the server may send at any time.
            case shared
            /// HTTP/1 or HTTP/2 over TLS.
            case secure
        }

        private struct Entry {
            var requested: UInt32 = 0
            var watched: UInt32 = 0
            /// Whether the transport's callbacks open and close the socket, so that a reuse of its
            /// number is noticed.
            var isOurs = false
            /// Whether the socket carries HTTP/1, so that input between two requests is invalid.
            var rejectsUnsolicitedData = false
            /// The time of the last input from the peer.
            var lastInput = MonotonicTime.never
            /// The ports of its connection; 0 if unknown.
            var ports = 0
            /// The number of idle checks when libcurl released it.
            var releasedAt: UInt64 = 0
        }

        private let poll: Int32
        private var entries: [Entry] = []
        /// A socket whose peer is closed; -1 before it is first needed, or if it cannot be created.
        private var endedSocket: Int32 = -1
        /// Connections that are probably dead; see ``SuspectConnection``.
        var suspects = IntegerTable<SuspectConnection>()

        /// The sockets by the local and remote port of their connections; -1 if two have the same.
        private var sockets = IntegerTable<Int32>()
        /// The collected writes that wait until their sockets are writable.
        private var flushes = IntegerTable<SharedWrites>()
        /// The number of sockets that libcurl has closed without a call of the transport, because
        /// the connect was abandoned.
        private(set) var abandonedConnects = 0
        /// The number of checks of the idle sockets for input, and whether the last one is recent.
        private(set) var idleChecks: UInt64 = 0
        private var isIdleCheckRecent = false

        init(poll: Int32) { self.poll = poll }

        /// Records the events of a socket; returns whether libcurl requests events of it.
        mutating func recordEvents(
            _ flags: UInt32, of socket: Int32, at now: MonotonicTime
        ) -> Bool {
            guard entries.indices.contains(Int(socket)) else { return false }
            if flags & errand_epoll_in != 0 { entries[Int(socket)].lastInput = now }
            return entries[Int(socket)].requested != 0
        }

        // MARK: - Connections

        /// Records the ports of a socket's connection.
        mutating func connected(_ socket: Int32, from localPort: Int32, to remotePort: Int32) {
            let ports = Self.ports(localPort, remotePort)
            guard let index = slot(of: socket), entries[index].isOurs, ports != 0,
                entries[index].ports == 0
            else { return }
            entries[index].ports = ports
            sockets[ports] = sockets[ports] == nil ? socket : -1
        }

        /// The socket of the connection with these ports; `nil` if it is unknown.
        // Inlined, because a call copies the whole table.
        @inline(__always)
        func socket(from localPort: Int32, to remotePort: Int32) -> Int32? {
            guard let socket = sockets[Self.ports(localPort, remotePort)], socket >= 0 else {
                return nil
            }
            return socket
        }

        /// Both ports as one number.
        private static func ports(_ local: Int32, _ remote: Int32) -> Int {
            Int(local & 0xFFFF) << 16 | Int(remote & 0xFFFF)
        }

        /// Whether the socket carries HTTP/1, so that input between two requests is invalid.
        func isHTTP1(_ socket: Int32) -> Bool {
            entries.indices.contains(Int(socket)) && entries[Int(socket)].rejectsUnsolicitedData
        }

        // MARK: - Idle sockets

        /// Records that `epoll_wait` has reported all input; `isIdle` if it has reported none.
        mutating func checkedIdleSockets(isIdle: Bool) {
            idleChecks += 1
            isIdleCheckRecent = isIdle
        }

        /// Records that time has passed since the last check.
        mutating func expireIdleCheck() { isIdleCheckRecent = false }

        /// Whether a recent check has found no input on this idle socket.
        func isKnownIdle(_ socket: Int32) -> Bool {
            guard isIdleCheckRecent, entries.indices.contains(Int(socket)) else { return false }
            let entry = entries[Int(socket)]
            return entry.requested == 0 && entry.watched & errand_epoll_in != 0
                && entry.releasedAt < idleChecks
        }

        /// Whether a recent check has found no input on a socket that was watched and idle when
        /// there had been this number of checks.
        func isKnownIdle(since check: UInt64) -> Bool { isIdleCheckRecent && check < idleChecks }

        /// The socket with these endpoints, if its peer has sent nothing since this time.
        func silentSocket(
            between ends: ConnectionEndpoints, since moment: MonotonicTime
        ) -> Int32? {
            for (index, entry) in entries.enumerated() where entry.isOurs {
                guard entry.lastInput == .never || entry.lastInput <= moment else { continue }
                let socket = Int32(truncatingIfNeeded: index)
                if ConnectionEndpoints(of: socket) == ends { return socket }
            }
            return nil
        }

        /// Sets the events that libcurl requests; 0 for none.
        mutating func setRequestedEvents(_ events: UInt32, of socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index].requested = events
            if flushing(on: socket) != nil { return watch(socket, events | errand_epoll_out) }
            if events == 0 {
                entries[index].releasedAt = idleChecks
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

        /// The collected writes that wait until this socket is writable.
        func flushing(on socket: Int32) -> SharedWrites? {
            flushes[Int(socket)]
        }

        /// Records whether collected writes wait until the socket is writable.
        mutating func setFlushing(_ writes: SharedWrites?, of socket: Int32) {
            guard flushing(on: socket) !== writes, let index = slot(of: socket) else { return }
            flushes[index] = writes
            setRequestedEvents(entries[index].requested, of: socket)
        }

        /// Watches a socket that is no longer watched until the collected writes are written.
        mutating func watchFlush(_ socket: Int32) {
            guard flushing(on: socket) != nil, entries[Int(socket)].watched == 0 else { return }
            watch(socket, errand_epoll_out)
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
        mutating func opened(_ socket: Int32, as use: Use) {
            closed(socket)
            guard let index = slot(of: socket) else { return }
            entries[index] = Entry(isOurs: true, rejectsUnsolicitedData: use == .plain)
        }

        /// Records that the first response over TLS used HTTP/1.
        ///
        /// After it, the server has nothing to send between two requests: TLS session tickets
        /// arrive before the first response. If a server sends tickets or a key update later, the
        /// kept connection is closed.
        mutating func markHTTP1(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].isOurs else { return }
            entries[index].rejectsUnsolicitedData = true
        }

        /// Invalidates an idle connection whose peer has sent unsolicited data (RFC 9112 §9.2).
        ///
        /// libcurl would take the data for the response to the next request. It closes the
        /// connection when it finds the end of its input, so the descriptor is replaced by a socket
        /// that has ended.
        mutating func cutOff(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].watched != 0 else { return }
            unwatch(socket)
            guard entries[index].rejectsUnsolicitedData else { return }
            if endedSocket < 0 { endedSocket = Self.makeEndedSocket() }
            if endedSocket >= 0, dup2(endedSocket, socket) == socket {
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            } else {
                // Without the replacement, the connection is shut down: the peer receives nothing
                // more, and libcurl finds the end of its input.
                shutdown(socket, Int32(SHUT_RDWR))
            }
        }

        private static func makeEndedSocket() -> Int32 {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return -1 }
            Glibc.close(ends[1])
            return ends[0]
        }

        /// Closes the socket that the table itself has opened.
        mutating func cleanUp() {
            if endedSocket >= 0 { Glibc.close(endedSocket) }
            endedSocket = -1
        }

        /// Removes a socket that is about to be closed; the kernel removes it from the epoll set.
        mutating func closed(_ socket: Int32) {
            guard let index = slot(of: socket) else { return }
            let ports = entries[index].ports
            entries[index] = Entry()
            if ports != 0 { forget(ports) }
            suspects[index] = nil
            flushes[index] = nil
        }

        /// Removes a socket with these ports; another one that has them too is found again.
        private mutating func forget(_ ports: Int) {
            guard sockets[ports] == -1 else { return sockets[ports] = nil }
            let others = entries.indices.filter { entries[$0].ports == ports }
            guard others.count < 2 else { return }
            sockets[ports] = others.first.map { Int32(truncatingIfNeeded: $0) }
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
