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
            let abandoned = sockets.abandonedConnects
            curl_multi_socket_action(multi, socket, action, &running)
            // When libcurl 7.88 gives up an address after its part of the connect limit, it sets no
            // timer for the connect to the next one.
            if socket == CURL_SOCKET_TIMEOUT, sockets.abandonedConnects != abandoned {
                errand_multi_run_all(multi, &running)
            }
        }

        /// Reads the monotonic clock of the system.
        static func readClock() -> MonotonicTime {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return MonotonicTime(
                nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        }

        /// Opens a socket; returns -1 and sets `errno` on failure.
        func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = errand_socket(address)
            guard socket >= 0 else { return socket }
            sockets.opened(socket)
            connections.opened()
            return socket
        }

        private func close(_ socket: Int32) -> Int32 {
            connectionTable.closed(socket)
            sockets.closed(socket)
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

        /// Reports the connections that were closed in this turn.
        func reportClosedConnections() {
            for (connection, reason) in connectionTable.takeClosed() {
                reports.closed(connection, because: reason)
            }
        }
    }

    // Transfers and connectors.
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
        var transferCount: Int { engine?.active.count ?? 0 }

        /// Closes a socket of a connector, or keeps it open for the engine.
        func closeOrKeep(_ socket: Int32) -> Int32 {
            guard socket == socketToKeep else { return close(socket) }
            socketToKeep = -1
            sockets.unwatch(socket)
            sockets.closed(socket)
            return 0
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
