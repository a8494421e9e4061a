#if os(Linux)
    import CLibcurl

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

        init(poll: Int32) { self.poll = poll }

        /// Whether libcurl requests events of a socket.
        func isRequested(_ socket: Int32) -> Bool {
            entries.indices.contains(Int(socket)) && entries[Int(socket)].requested != 0
        }

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
#endif
