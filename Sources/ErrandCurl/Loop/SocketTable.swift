#if os(Linux)
    import CLibcurl
    import Glibc

    /// Which events of which sockets the kernel watches and which ones libcurl wants.
    ///
    /// Removal is lazy: a socket that libcurl lets go stays in the epoll set until it makes itself heard or is
    /// closed, so a kept-alive connection costs no system call between two requests. Any other change is applied
    /// at once: a socket that is watched for writing in vain would keep the loop spinning.
    struct SocketTable {
        /// What goes over a socket.
        enum Use {
            /// HTTP/1 as it is.
            case plain
            /// HTTP/2 as it is: its server may say something at any time.
            case shared
            /// Something in TLS, which may be either.
            case secure
        }

        private struct Entry {
            var wanted: UInt32 = 0
            var watched: UInt32 = 0
            /// Opened and closed through our callbacks, so that a number used again is noticed.
            var isOurs = false
            /// It carries HTTP/1, so that what comes between two requests can only be wrong.
            var isSilentBetween = false
            /// When its peer was last heard.
            var heard = MonotonicTime.never
        }

        private let poll: Int32
        private var entries: [Entry] = []
        /// A socket that has ended; -1 before the first is needed, and while there is none to be had.
        private var ended: Int32 = -1
        /// Connections that somebody has given up; see Exchange+Silence.swift.
        var doubted: [Int32: DoubtedConnection] = [:]

        init(poll: Int32) { self.poll = poll }

        /// Something has happened to the socket; whether libcurl wants to hear of it now.
        mutating func notes(_ flags: UInt32, of socket: Int32, at now: MonotonicTime) -> Bool {
            guard entries.indices.contains(Int(socket)) else { return false }
            if flags & errand_epoll_in != 0 { entries[Int(socket)].heard = now }
            return entries[Int(socket)].wanted != 0
        }

        /// The socket of that connection.
        func socket(between ends: ConnectionEnds) -> Int32? {
            silentSocket(between: ends, since: .never)
        }

        /// The socket of that connection, if its peer has said nothing since that moment.
        func silentSocket(between ends: ConnectionEnds, since moment: MonotonicTime) -> Int32? {
            for (index, entry) in entries.enumerated() where entry.isOurs {
                guard entry.heard == .never || entry.heard <= moment else { continue }
                let socket = Int32(truncatingIfNeeded: index)
                if ConnectionEnds(of: socket) == ends { return socket }
            }
            return nil
        }

        /// libcurl's wish has changed; 0 wants nothing.
        mutating func want(_ events: UInt32, of socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index].wanted = events
            if events == 0 {
                if !entries[index].isOurs { return unwatch(socket) }
                // An idle socket can always be written to; what it has to say is what matters.
                if entries[index].watched & errand_epoll_out != 0,
                    errand_epoll_modify(poll, socket, errand_epoll_in) == 0
                {
                    entries[index].watched = errand_epoll_in
                }
                return
            }
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

        /// The kernel need not watch the socket any more.
        mutating func unwatch(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].watched != 0 else { return }
            _ = errand_epoll_remove(poll, socket)
            entries[index].watched = 0
        }

        /// A new socket; whatever had its number before is gone.
        mutating func opened(_ socket: Int32, as use: Use) {
            guard let index = slot(of: socket) else { return }
            entries[index] = Entry(isOurs: true, isSilentBetween: use == .plain)
        }

        /// The first answer over TLS has come, and it was one of HTTP/1.
        ///
        /// TLS itself has nothing to say any more: the tickets of a session come before the first answer. Whoever sends
        /// them later, or changes keys between two requests, loses a kept connection.
        mutating func carriesHTTP1(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].isOurs else { return }
            entries[index].isSilentBetween = true
        }

        /// The peer of an idle connection has said something: nobody asked, so it answers nothing (RFC 9112 §9.2).
        ///
        /// libcurl would take it for the answer to the next request. It closes the connection when it finds its end,
        /// so the number gets another socket, which has ended.
        mutating func cutOff(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].watched != 0 else { return }
            unwatch(socket)
            guard entries[index].isSilentBetween else { return }
            if ended < 0 { ended = Self.makeEnded() }
            if ended >= 0, dup2(ended, socket) == socket {
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            } else {
                // No descriptor is left for that: the peer at least hears nothing more, and libcurl what it has said.
                shutdown(socket, Int32(SHUT_RDWR))
            }
        }

        private static func makeEnded() -> Int32 {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return -1 }
            Glibc.close(ends[1])
            return ends[0]
        }

        /// Gives back what the table itself has opened.
        mutating func cleanUp() {
            if ended >= 0 { Glibc.close(ended) }
            ended = -1
        }

        /// The socket is about to be closed, with which the kernel forgets it.
        mutating func closed(_ socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index] = Entry()
            doubted[socket] = nil
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
#endif
