#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    /// libcurl's multi handle, which opens connections; it belongs to the loop.
    final class MultiHandle {
        unowned(unsafe) let loop: EventLoop
        /// `nil` if memory is short.
        private(set) var handle: UnsafeMutableRawPointer?
        /// `nil` if it is not installed.
        let curl: Curl?
        /// TLS sessions for new connections.
        let sessions: TLSSessionCache
        @exclusivity(unchecked) var sockets: SocketTable
        /// The established connections, for events.
        @exclusivity(unchecked) var table = ConnectionTable()
        /// The peer address that was last converted to text.
        @exclusivity(unchecked) var peer = PeerAddress()
        /// The socket that stays open when libcurl closes it; -1 for none.
        var socketToKeep: Int32 = -1
        /// The time at which libcurl's timer ends.
        private(set) var timer = MonotonicTime.never

        init(loop: EventLoop, resumesSessions: Bool) {
            self.loop = loop
            sockets = SocketTable(poll: loop.poll)
            curl = CurlLibrary.initialized
            sessions = TLSSessionCache(curl, isEnabled: resumesSessions)
            guard let curl, let handle = curl.curl_multi_init() else { return }
            self.handle = handle
            let context = Unmanaged.passUnretained(self).toOpaque()
            curl.setMultiCallbacks(handle, onSocket, onTimer, context)
            // libcurl counts the connections whose handles carry their bytes, and must not close them; the pool
            // limits their number.
            curl.setMulti(handle, CURLMOPT_MAXCONNECTS, Int(Int32.max))
        }

        /// Frees libcurl's handles; no connection is left.
        ///
        /// It invokes callbacks, so `deinit` would be too late.
        func cleanUp() {
            if let handle { _ = curl?.curl_multi_cleanup(handle) }
            handle = nil
            reportClosed()
            sessions.close()
        }

        // MARK: - Events

        /// Serves the events of a socket that connects.
        func serve(_ socket: Int32, _ flags: UInt32) {
            guard sockets.isRequested(socket) else { return sockets.unwatch(socket) }
            var action: Int32 = 0
            if flags & errand_epoll_in != 0 { action |= CURL_CSELECT_IN }
            if flags & errand_epoll_out != 0 { action |= CURL_CSELECT_OUT }
            if flags & errand_epoll_failure != 0 { action |= CURL_CSELECT_ERR }
            call(socket, action)
        }

        func runTimer() {
            // A new connect sets a zero timeout a few times. Calling libcurl here is cheaper than
            // another `epoll_wait`.
            var rounds = 0
            while timer <= loop.now, rounds < 4 {
                timer = .never
                rounds += 1
                call(CURL_SOCKET_TIMEOUT)
            }
        }

        /// Lets libcurl process the events of a socket, or its own timer.
        private func call(_ socket: Int32, _ action: Int32 = 0) {
            var running: Int32 = 0
            let abandoned = sockets.abandonedConnects
            guard let curl, let handle else { return }
            _ = curl.curl_multi_socket_action(handle, socket, action, &running)
            // When libcurl 7.88 gives up an address after its part of the connect limit, it sets no
            // timer for the connect to the next one.
            if socket == CURL_SOCKET_TIMEOUT, sockets.abandonedConnects != abandoned {
                // Deprecated for its cost; nothing replaces it where libcurl has missed an event.
                _ = curl.curl_multi_socket_all(handle, &running)
            }
        }

        /// The next connect that has ended, and its result.
        func nextFinished() -> (handle: UnsafeMutableRawPointer, result: CURLcode)? {
            var left: Int32 = 0
            while let handle, let message = curl?.curl_multi_info_read(handle, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle
                else { continue }
                return (easy, errand_message_result(message))
            }
            return nil
        }

        fileprivate func setInterest(_ interest: Int32, _ socket: Int32) {
            var events: UInt32 = 0
            if interest != CURL_POLL_REMOVE {
                if interest & CURL_POLL_IN != 0 { events |= errand_epoll_in }
                if interest & CURL_POLL_OUT != 0 { events |= errand_epoll_out }
            }
            sockets.setRequestedEvents(events, of: socket)
        }

        fileprivate func setTimer(_ milliseconds: Int) {
            timer = milliseconds < 0 ? .never : loop.now.advanced(milliseconds: milliseconds)
        }

        // MARK: - Sockets

        /// Opens a socket; returns -1 and sets `errno` on failure.
        func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = errand_socket(address)
            guard socket >= 0 else { return socket }
            sockets.opened(socket)
            loop.connections.opened()
            return socket
        }

        /// Closes a socket of a connector, or keeps it open for its new owner.
        func closeOrKeep(_ socket: Int32) -> Int32 {
            if socket == socketToKeep {
                socketToKeep = -1
                sockets.unwatch(socket)
                sockets.closed(socket)
                return 0
            }
            table.closed(socket)
            sockets.closed(socket)
            loop.connections.closed()
            return ErrandSystem.close(socket)
        }

        // MARK: - Reports

        /// Records and reports an established connection.
        func opened(_ connection: Response.Connection, on socket: Int32) {
            table.opened(connection, on: socket)
            loop.reports.opened(connection)
        }

        /// Reports the connections that were closed in this turn.
        func reportClosed() {
            guard table.hasClosed else { return }
            for (connection, reason) in table.takeClosed() {
                loop.reports.closed(connection, because: reason)
            }
        }
    }

    private let onSocket: errand_socket_callback = { _, socket, interest, context, _ in
        guard let context else { return 0 }
        Unmanaged<MultiHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.setInterest(interest, socket)
        }
        return 0
    }

    private let onTimer: errand_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        Unmanaged<MultiHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.setTimer(milliseconds)
        }
        return 0
    }
#endif
