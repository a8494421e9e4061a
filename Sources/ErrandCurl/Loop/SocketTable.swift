#if os(Linux)
    import CLibcurl
    import Glibc

    /// Which events of which sockets the kernel watches and which ones libcurl wants.
    ///
    /// Removal is lazy: a socket that libcurl lets go stays in the epoll set until it makes itself heard or is
    /// closed, so a kept-alive connection costs no system call between two requests. Any other change is applied
    /// at once: a socket that is watched for writing in vain would keep the loop spinning.
    struct SocketTable {
        private struct Entry {
            var wanted: UInt32 = 0
            var watched: UInt32 = 0
            /// Opened and closed through our callbacks, so that a number used again is noticed.
            var isOurs = false
            /// It carries HTTP/1 as it is, so that what comes between two requests can only be wrong.
            var isPlain = false
        }

        private let poll: Int32
        private var entries: [Entry] = []

        init(poll: Int32) { self.poll = poll }

        /// Whether libcurl wants to hear of the socket now.
        func isWanted(_ socket: Int32) -> Bool {
            entries.indices.contains(Int(socket)) && entries[Int(socket)].wanted != 0
        }

        /// libcurl's wish has changed; 0 wants nothing.
        mutating func want(_ events: UInt32, of socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index].wanted = events
            if events == 0 {
                if !entries[index].isOurs { unwatch(socket) }
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
        mutating func opened(_ socket: Int32, isPlain: Bool) {
            guard let index = slot(of: socket) else { return }
            entries[index] = Entry(isOurs: true, isPlain: isPlain)
        }

        /// The peer of an idle connection has said something: nobody asked, so it answers nothing (RFC 9112 §9.2).
        ///
        /// libcurl would take it for the answer to the next request. It closes the connection when it finds its end,
        /// so the number gets another socket, which has ended.
        mutating func cutOff(_ socket: Int32) {
            guard let index = slot(of: socket), entries[index].watched != 0 else { return }
            unwatch(socket)
            guard entries[index].isPlain else { return }
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return }
            close(ends[1])
            dup2(ends[0], socket)
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            close(ends[0])
        }

        /// The socket is about to be closed, with which the kernel forgets it.
        mutating func closed(_ socket: Int32) {
            guard let index = slot(of: socket) else { return }
            entries[index] = Entry()
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
