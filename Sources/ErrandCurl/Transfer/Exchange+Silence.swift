#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Glibc

    /// A shared connection that somebody has given up.
    struct DoubtedConnection {
        /// OpenSSL's object of it, which tells who uses it.
        let tls: UnsafeMutableRawPointer
        let socket: Int32
    }

    // NB: libcurl ends a stream that is given up and keeps its connection, also one whose server is gone or hangs: every
    // later request to the host would wait there for its own limit. So who gives up looks whether the whole connection
    // has been silent as long as the request was, and if so nobody begins on it any more.
    extension Exchange {
        /// How long a connection has to be silent before a request that is cancelled speaks against it.
        private static let leastSilence = Duration.seconds(1)

        /// Doubts its connection where it is given up for silence, and takes the handle back from libcurl.
        func detachAndDoubt(_ ending: TransferState.Ending) {
            if !head.isComplete { forgetRefusal() }
            if isGivenUpForSilence(ending), let handle, let tls = sharedConnection,
                let ends = ConnectionEnds(of: handle)
            {
                // The greetings of a new connection may have come behind the request: they speak for it, but not for long.
                let silence = loop.now.since(deadlines.lastActivity)
                loop.doubt(
                    tls, between: ends,
                    silentSince: deadlines.lastActivity.advanced(by: silence / 2))
            }
            loop.detach(self)
        }

        private func isGivenUpForSilence(_ ending: TransferState.Ending) -> Bool {
            guard speaksHTTP2, !isReceivingPaused, !isSendingPaused else { return false }
            return switch ending {
            case .timedOut(.idle): true
            case .cancelled: deadlines.isSilent(for: Self.leastSilence, at: loop.now)
            case .complete, .failed, .shutDown, .timedOut: false
            }
        }

        private var sharedConnection: UnsafeMutableRawPointer? {
            handle.flatMap { errand_get_tls($0) }
        }

        /// Whether it would lose something with that connection, and could not begin again on another one.
        func isTied(to connection: DoubtedConnection) -> Bool {
            let canMove =
                mayReplay && hasShared && !hasBegunAgain && !head.hasBegun && state.isLive
            return !canMove && sharedConnection == connection.tls
        }
    }

    extension EventLoop {
        /// Somebody gives a connection up, and has heard nothing since that moment.
        func doubt(
            _ tls: UnsafeMutableRawPointer, between ends: ConnectionEnds,
            silentSince moment: MonotonicTime
        ) {
            guard let socket = sockets.silentSocket(between: ends, since: moment) else { return }
            sockets.doubted[socket] = DoubtedConnection(tls: tls, socket: socket)
        }

        /// Ends doubted connections, unless somebody there would lose by it.
        func settleDoubts() {
            guard !sockets.doubted.isEmpty else { return }
            let doubted = sockets.doubted
            sockets.doubted.removeAll()
            for connection in doubted.values
            where !active.contains(where: { $0.isTied(to: connection) }) {
                // libcurl finds the end there: before the next request, or at once while it is in use.
                shutdown(connection.socket, Int32(SHUT_RDWR))
            }
        }
    }
#endif
