#if os(Linux)
    import CLibcurl
    import Dispatch
    import ErrandTransport
    import Glibc
    import Synchronization

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
            sockets.suspects[Int(socket)] = SuspectConnection(tls: tls, socket: socket)
        }

        /// Closes suspect connections, unless another transfer depends on them.
        func closeSuspectConnections() {
            guard !sockets.suspects.isEmpty else { return }
            let suspects = sockets.suspects.values
            sockets.suspects.removeAll()
            for connection in suspects
            where !active.contains(where: { $0.depends(on: connection) }) {
                // libcurl then finds the connection closed: at once if it is in use, otherwise
                // before the next request.
                shutdown(connection.socket, Int32(SHUT_RDWR))
            }
        }
    }

    /// The local and peer address of a connection.
    ///
    /// libcurl does not report which socket a transfer uses, so the socket is found by these
    /// addresses.
    struct ConnectionEndpoints: Hashable {
        private let local: String
        private let peer: String

        /// The endpoints of a handle's connection; `nil` if it has none or does not use IP.
        init?(of handle: UnsafeMutableRawPointer) {
            guard let local = Self.text(handle, CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT),
                let peer = Self.text(handle, CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT)
            else { return nil }
            self.local = local
            self.peer = peer
        }

        /// The endpoints of a socket; `nil` if it is not connected.
        init?(of socket: Int32) {
            guard let local = Self.text({ getsockname(socket, $0, $1) }),
                let peer = Self.text({ getpeername(socket, $0, $1) })
            else { return nil }
            self.local = local
            self.peer = peer
        }

        private static func text(
            _ handle: UnsafeMutableRawPointer, _ address: CURLINFO, _ port: CURLINFO
        ) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            var number = 0
            errand_get_string(handle, address, &text)
            errand_get_long(handle, port, &number)
            guard let text, text[0] != 0, number > 0 else { return nil }
            return "\(String(cString: text)) \(number)"
        }

        private static func text(
            _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
        ) -> String? {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard ask(address, &length) == 0 else { return nil }
                    return name(of: address, length)
                }
            }
        }

        private static func name(
            of address: UnsafePointer<sockaddr>, _ length: socklen_t
        ) -> String? {
            var host = [CChar](repeating: 0, count: 64)
            var port = [CChar](repeating: 0, count: 16)
            let result = getnameinfo(
                address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
            guard result == 0 else { return nil }
            return host.withUnsafeBufferPointer { host in
                port.withUnsafeBufferPointer { port in
                    guard let host = host.baseAddress, let port = port.baseAddress else {
                        return nil
                    }
                    return "\(String(cString: host)) \(String(cString: port))"
                }
            }
        }
    }

    /// Closes connections that block the loop within one call of libcurl.
    ///
    /// Over HTTP/2, libcurl 7.88 continues to read within a call until a frame contains something
    /// for the transfer. Over TLS the reads are counted (``SharedReads``). With prior
    /// knowledge and without TLS, no code of the transport runs during the call. While such
    /// connections exist, another thread compares the number of the current call once per second.
    /// If one call lasts from one check to the next, the connections that have unread input are
    /// shut down.
    final class StallWatchdog: Sendable {
        private struct State {
            var sockets: Set<Int32> = []
            var isScheduled = false
            var lastNumber: UInt64 = 0
        }

        private static let interval = DispatchTimeInterval.seconds(1)

        /// Counts the starts and returns of calls: odd within a call.
        private let number = Atomic<UInt64>(0)
        private let state = Mutex(State())

        /// Records that a call of libcurl begins.
        func begin() { number.add(1, ordering: .relaxed) }

        /// Records that the call has returned.
        func end() { number.add(1, ordering: .relaxed) }

        /// Adds the socket of an HTTP/2 connection without TLS.
        func opened(_ socket: Int32) {
            let begins = state.withLock { state in
                state.sockets.insert(socket)
                defer { state.isScheduled = true }
                return !state.isScheduled
            }
            if begins { scheduleCheck() }
        }

        /// Removes a socket that is about to be closed.
        func closed(_ socket: Int32) {
            state.withLock { state in
                if !state.sockets.isEmpty { state.sockets.remove(socket) }
            }
        }

        private func scheduleCheck() {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.interval) { [weak self] in
                guard let self, check() else { return }
                scheduleCheck()
            }
        }

        /// Checks the current call; returns whether to check again.
        private func check() -> Bool {
            let number = number.load(ordering: .relaxed)
            return state.withLock { state in
                guard !state.sockets.isEmpty else {
                    state.isScheduled = false
                    return false
                }
                if !number.isMultiple(of: 2), number == state.lastNumber {
                    // The lock keeps these sockets from being closed, and their numbers from being
                    // reused, meanwhile.
                    for socket in state.sockets where errand_unread(socket) > 0 {
                        shutdown(socket, Int32(SHUT_RDWR))
                    }
                }
                state.lastNumber = number
                return true
            }
        }
    }
#endif
