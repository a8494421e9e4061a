#if os(Linux)
    import CLibcurl
    import Dispatch
    import ErrandTransport
    import Glibc

    // Calls from the loop into libcurl, and libcurl's socket callbacks.
    extension EventLoop {
        /// Lets libcurl process the events of a socket, or its own timer.
        func call(_ socket: Int32, _ action: Int32 = 0) {
            var running: Int32 = 0
            readsInCall = 0
            callNumber &+= 1
            watchdog.begin()
            let abandoned = sockets.abandonedConnects
            curl_multi_socket_action(multi, socket, action, &running)
            // When libcurl 7.88 gives up an address after its part of the connect limit, it sets no
            // timer for the connect to the next one.
            if socket == CURL_SOCKET_TIMEOUT, sockets.abandonedConnects != abandoned {
                errand_multi_run_all(multi, &running)
            }
            watchdog.end()
        }

        /// Flushes the writes of a connection at the end of this turn.
        func queueFlush(of writes: SharedWrites) { unflushed.append(writes) }

        /// Forgets the writes of a connection that is closed.
        func removeFlush(of writes: SharedWrites) { unflushed.removeAll { $0 === writes } }

        /// Writes what the connections have collected in this turn.
        func flushWrites() {
            engine?.flush()
            guard !unflushed.isEmpty else { return }
            let connections = unflushed
            unflushed.removeAll(keepingCapacity: true)
            for writes in connections { writes.endTurn() }
        }

        /// Reads the monotonic clock of the system.
        static func readClock() -> MonotonicTime {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return MonotonicTime(
                nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        }

        /// Sets the limits of connections and streams.
        func setLimits(of multi: UnsafeMutableRawPointer) {
            let limits = [
                (CURLMOPT_MAX_TOTAL_CONNECTIONS, max(0, configuration.maximumConnections ?? 0)),
                (CURLMOPT_MAX_HOST_CONNECTIONS, max(0, configuration.connectionsPerHost ?? 0)),
                // A high limit: the server decides how many requests share a connection.
                (CURLMOPT_MAX_CONCURRENT_STREAMS, 1000),
            ]
            for (option, value) in limits { _ = errand_multi_set_long(multi, option, value) }
            limitIdleConnections()
        }

        /// Adds an easy handle to the multi handle.
        func attach(_ easyHandle: EasyHandle) -> Bool {
            guard let multi, let handle = easyHandle.handle else { return false }
            return curl_multi_add_handle(multi, handle) == CURLM_OK
        }

        /// Removes an easy handle from the multi handle.
        func detach(_ easyHandle: EasyHandle) {
            guard let multi, let handle = easyHandle.handle else { return }
            curl_multi_remove_handle(multi, handle)
        }

        /// Opens a socket; returns -1 and sets `errno` on failure.
        func open(_ address: UnsafePointer<curl_sockaddr>, as use: SocketTable.Use) -> Int32 {
            let socket = errand_socket(address)
            guard socket >= 0 else { return socket }
            sockets.opened(socket, as: use)
            connections.opened()
            if use == .shared { watchdog.opened(socket) }
            return socket
        }

        func close(_ socket: Int32) -> Int32 {
            connectionTable.closed(socket)
            sockets.closed(socket)
            watchdog.closed(socket)
            connections.closed()
            return Glibc.close(socket)
        }
    }

    // Reports of connections.
    extension EventLoop {
        /// Records and reports an established connection.
        func opened(_ connection: Response.Connection, on socket: Int32) {
            connectionTable.opened(connection, on: socket)
            reports.opened(connection)
        }

        /// Records the end of an idle connection that has input or whose server has closed it: it is not used any more,
        /// although libcurl closes the socket when it looks for a connection.
        ///
        /// Input of HTTP/2 is not invalid. Over TLS the input is probably the alert that ends the connection.
        func noteIdleInput(on socket: Int32) {
            guard let connection = connectionTable.connection(on: socket) else { return }
            var byte: UInt8 = 0
            let hasEnded = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
            guard hasEnded || sockets.isHTTP1(socket) else { return }
            connectionTable.willClose(
                socket, because: hasEnded || connection.isSecure ? .serverClosed : .unsolicitedData)
            connectionTable.closed(socket)
        }

        /// Reports the connections that were closed in this turn.
        func reportClosedConnections() {
            for (connection, reason) in connectionTable.takeClosed() {
                reports.closed(connection, because: reason)
            }
        }
    }

    // Requests that the HTTP/1.1 engine carries.
    extension EventLoop {
        /// Whether a caller may process a message: its request probably finds a connection, or its
        /// transfer only reads.
        func isForCaller(_ message: Mailbox.Message) -> Bool {
            switch message {
            case .start(let transfer):
                origins.contains(transfer.request.url, transfer.request.options)
            case .attend(let transfer):
                transfer.exchange != nil && transfer.signals() == [.resume, .posted]
                    && engine?.hasWaiters == false
            case .shutDown, .close: false
            }
        }

        /// The number of active transfers.
        var transferCount: Int { active.count + (engine?.active.count ?? 0) }

        /// Closes a socket of a connector, or keeps it open for the engine.
        func closeOrKeep(_ socket: Int32) -> Int32 {
            guard socket == socketToKeep else { return close(socket) }
            socketToKeep = -1
            sockets.unwatch(socket)
            sockets.closed(socket)
            return 0
        }

        /// Sets the number of connections that libcurl keeps, with those of the engine that it
        /// counts among its own.
        func limitIdleConnections() {
            guard let multi else { return }
            _ = errand_multi_set_long(
                multi, CURLMOPT_MAXCONNECTS, max(1, configuration.idleConnections) + keptHandles)
        }

        /// Lets libcurl start transfers that wait for the place of a closed connection; libcurl 8.14
        /// does not do it by itself.
        func startWaitingForPlaces() {
            guard configuration.connectionsPerHost ?? 0 > 0 else { return }
            curlTimer = min(curlTimer, now)
        }
    }

    /// The end of a transfer, and the receiver to notify.
    struct EndedTransfer {
        let receiver: any TransferReceiver
        let end: TransferEnd

        func report() { receiver.didEnd(end) }
    }

    // The ends of transfers.
    extension EventLoop {
        /// Records that a complete response arrived from the request's origin.
        func noteOrigin(of request: TransportRequest) { origins.add(request.url, request.options) }

        /// Queues the end of a transfer; its receiver is notified within this turn.
        func queueEnd(_ receiver: any TransferReceiver, _ end: consuming TransferEnd) {
            ends.append(EndedTransfer(receiver: receiver, end: end))
        }

        /// Reports all ends of a turn.
        ///
        /// Several ends are reported from a thread of the pool. Each end resumes a task, and
        /// resuming tasks from this thread would wake a pool thread for each of them. The ends of a
        /// caller's turn are reported there too, because receivers must not run on that caller's
        /// thread.
        func reportEnds(isCallerTurn: Bool = false) {
            if connectionTable.hasClosed { reportClosedConnections() }
            guard !ends.isEmpty else { return }
            closeSuspectConnections()
            if ends.count == 1, !isCallerTurn {
                ends[0].report()
            } else {
                DispatchQueue.global().async { [ends] in
                    // By index: the elements would be copied.
                    for index in ends.indices { ends[index].report() }
                }
            }
            ends.removeAll()
        }
    }
#endif
