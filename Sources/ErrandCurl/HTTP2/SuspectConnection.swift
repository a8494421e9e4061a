#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// A shared connection that is probably dead.
    ///
    /// When a stream is cancelled, libcurl keeps its connection, even if the server is gone or
    /// hangs. Every later request to the host would use this connection and wait until its own time
    /// limit. So a transfer that is cancelled or timed out checks whether the whole connection was
    /// silent for as long as the transfer. If so, the connection is closed, unless another transfer
    /// depends on it.
    struct SuspectConnection {
        /// OpenSSL's object for the connection, which identifies the transfers that use it.
        let tls: UnsafeMutableRawPointer
        let socket: Int32
    }

    extension EasyHandle {
        /// The minimum silence before a cancelled request counts against its connection.
        private static let minimumSilence = Duration.seconds(1)

        /// Removes the handle from libcurl, and marks its connection as suspect if the transfer
        /// ends because of silence.
        func detachAndMarkSuspect(_ ending: TransferState.Ending) {
            if !response.head.isComplete { replaceAfterStreamError() }
            if endsBecauseOfSilence(ending), let handle, let tls = sharedConnection,
                let ends = ConnectionEndpoints(of: handle)
            {
                // The settings of a new connection may arrive after the request, so only the second
                // half of the silence counts.
                let silence = loop.now.since(deadlines.lastActivity)
                loop.markSuspect(
                    tls, between: ends,
                    silentSince: deadlines.lastActivity.advanced(by: silence / 2))
            }
            loop.detach(self)
        }

        private func endsBecauseOfSilence(_ ending: TransferState.Ending) -> Bool {
            guard connection.speaksHTTP2, paused.isEmpty else { return false }
            return switch ending {
            case .timedOut(.idle): true
            case .cancelled: deadlines.isIdle(for: Self.minimumSilence, at: loop.now)
            case .complete, .failed, .shutDown, .timedOut: false
            }
        }

        private var sharedConnection: UnsafeMutableRawPointer? {
            handle.flatMap { errand_get_tls($0) }
        }

        /// Whether the transfer needs this connection and could not restart on another one.
        func depends(on connection: SuspectConnection) -> Bool {
            let canMove =
                state.mayCallReceiver
                && replay.canMove(hasResponseBegun: response.head.hasBegun)
            return !canMove && sharedConnection == connection.tls
        }
    }

    extension EventLoop {
        /// Marks a connection as suspect if it has received nothing since this time.
        func markSuspect(
            _ tls: UnsafeMutableRawPointer, between ends: ConnectionEndpoints,
            silentSince moment: MonotonicTime
        ) {
            guard let socket = sockets.silentSocket(between: ends, since: moment) else { return }
            sockets.suspects[socket] = SuspectConnection(tls: tls, socket: socket)
        }

        /// Closes suspect connections, unless another transfer depends on them.
        func closeSuspectConnections() {
            guard !sockets.suspects.isEmpty else { return }
            let suspects = sockets.suspects
            sockets.suspects.removeAll()
            for connection in suspects.values
            where !active.contains(where: { $0.depends(on: connection) }) {
                // libcurl then finds the connection closed: at once if it is in use, otherwise
                // before the next request.
                shutdown(connection.socket, Int32(SHUT_RDWR))
            }
        }
    }
#endif
