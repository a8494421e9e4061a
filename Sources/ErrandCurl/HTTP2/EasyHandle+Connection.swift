#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// The connections that libcurl opens and chooses for one transfer.
    struct ConnectionUse {
        /// The ports of both ends of a connection.
        struct Ports: Hashable {
            var local: Int32
            var remote: Int32
        }

        /// The sockets that were opened for the transfer.
        private(set) var openedSockets: [Int32] = []
        /// Whether the system had no file descriptor or no memory for a socket.
        private(set) var lacksResources = false
        /// OpenSSL's object of the connection on which the request was last sent; `nil` without
        /// TLS.
        private(set) var tls: UnsafeMutableRawPointer?
        /// The ports of the connection on which the request was last sent.
        private(set) var ports: Ports?
        /// Whether HTTP/2 was negotiated for the connection, whatever the response states.
        private(set) var speaksHTTP2 = false
        /// The hook that observes the end of the connection, for a body that ends with it.
        var endHook: ConnectionHook?

        init() {}

        /// Prepares for another transfer.
        mutating func reset() {
            if !openedSockets.isEmpty { openedSockets.removeAll(keepingCapacity: true) }
            lacksResources = false
            tls = nil
            ports = nil
            speaksHTTP2 = false
            endHook = nil
            established = nil
        }

        /// Records that a socket was opened; a negative one is a failure with this error number.
        ///
        /// After a failure another address may still work; the end of the transfer decides which
        /// error this is.
        mutating func opened(_ socket: Int32, error: Int32) {
            guard socket < 0 else { return openedSockets.append(socket) }
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) { lacksResources = true }
        }

        /// Records the connection that libcurl has chosen.
        mutating func chose(_ tls: UnsafeMutableRawPointer?) { self.tls = tls }

        /// Records the ports of the chosen connection.
        mutating func uses(_ ports: Ports) { self.ports = ports }

        /// The established connection on which the request was last sent, and its socket.
        var established: (socket: Int32, connection: Response.Connection)?

        /// Records that the request is sent on the chosen connection.
        mutating func willSend(speaksHTTP2: Bool) { self.speaksHTTP2 = speaksHTTP2 }
    }

    // The connection of a transfer: its protocol, its state between two requests, and its end.
    extension EasyHandle {
        /// Opens a socket for the transfer; -1 on failure.
        func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = loop.open(address, as: use)
            connection.opened(socket, error: errno)
            trust.nextHandshakePort = errand_port(address)
            return socket
        }

        // MARK: - Trust

        /// Checks the connection against its pins; returns false and sets ``failure`` if they do
        /// not match.
        func matchesPins() -> Bool {
            guard trust.hasPins, let handle else { return true }
            do throws(RequestError) {
                for mismatch in try trust.checkPins(of: handle) {
                    receiver?.didNotice(mismatch)
                    // The receiver may have taken any time.
                    loop.sockets.expireIdleCheck()
                }
                return true
            } catch {
                if failure == nil { failure = error }
                return false
            }
        }

        /// Called before a TLS handshake, with its `SSL_CTX`; returns an error if the peer's
        /// certificate cannot be checked.
        func handshakeWillStart(_ tls: UnsafeMutableRawPointer) -> CURLcode {
            guard let request = transfer?.request else { return CURLE_ABORTED_BY_CALLBACK }
            return trust.handshakeWillStart(tls, to: request.url, request.options)
        }

        // MARK: - Protocol

        /// Whether the connection uses HTTP/2 if the request requires it.
        ///
        /// This is the last check before the server receives the request.
        var usesRequiredProtocol: Bool {
            guard transfer?.request.options.httpVersion == .http2,
                let library = TLSLibrary.loaded, let tls = connection.tls
            else { return true }
            return library.speaksHTTP2(tls)
        }

        /// The protocol on the socket, which uses TLS if the server or the proxy does.
        var use: SocketTable.Use {
            guard let request = transfer?.request, !request.isSecure else { return .secure }
            let isSecured =
                switch request.options.proxy {
                case .none: false
                case .environment: CurlLibrary.linked.environmentNamesProxy
                case .url(let url, _): url.lowercasedASCII().starts(withBytes: "https:")
                }
            if isSecured { return .secure }
            return request.options.httpVersion == .http2PriorKnowledge ? .shared : .plain
        }

        /// Whether a response on this connection may use HTTP/2.
        var mayBeHTTP2: Bool {
            connection.speaksHTTP2 || TLSLibrary.loaded == nil && transfer?.request.isSecure == true
        }

        var opensConnection: Bool {
            var connections = 0
            errand_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
            return connections > 0
        }

        var sharesConnection: Bool {
            guard transfer?.request.options.httpVersion != .http2PriorKnowledge else { return true }
            guard let tls = connection.tls else { return false }
            return TLSLibrary.loaded?.speaksHTTP2(tls) ?? false
        }

        // MARK: - Between two requests

        /// Marks a new connection as HTTP/1 after its first complete response, so that unsolicited
        /// data closes it.
        ///
        /// Plain connections are marked when they open. Over TLS the negotiated protocol decides.
        func markHTTP1Connection() {
            guard !connection.speaksHTTP2, TLSLibrary.loaded != nil, let transfer,
                transfer.request.isSecure || !transfer.request.options.hasDefaults, opensConnection
            else { return }
            var socket: curl_socket_t = -1
            errand_get_socket(handle, &socket)
            loop.sockets.markHTTP1(socket)
        }

        /// The socket of the connection, if this transfer has opened it.
        func newSocket(from localPort: Int32, to remotePort: Int32) -> Int32? {
            guard !connection.openedSockets.isEmpty,
                let socket = connection.openedSockets.last(where: {
                    errand_has_ports($0, localPort, remotePort) != 0
                })
            else { return nil }
            loop.sockets.connected(socket, from: localPort, to: remotePort)
            return socket
        }

        /// Whether the server has sent data on a kept HTTP/1 connection that is about to be reused
        /// (RFC 9112 §9.2).
        ///
        /// The loop checks idle connections before each turn that starts requests. That check does
        /// not see data that arrives later in the turn, data of a connection that libcurl gives
        /// from one request to the next, and data that OpenSSL has decrypted.
        func hasUnsolicitedData(on socket: Int32?) -> Bool {
            guard !connection.speaksHTTP2 else { return false }
            if let tls = connection.tls, let library = TLSLibrary.loaded {
                if library.hasInput(tls) { return true }
            } else if let socket, !loop.sockets.isHTTP1(socket) {
                return false
            }
            guard let socket else { return false }
            let isChecked = loop.sockets.isKnownIdle(socket)
            loop.sockets.expireIdleCheck()
            return !isChecked && errand_unread(socket) > 0
        }

        /// Makes libcurl close the connection, and the transfer start again on a new one; nothing
        /// was sent yet.
        func abandonConnection() -> Int32 {
            guard replay.abandonConnection() else {
                return abort(with: CurlFailure.lostBeforeResponse)
            }
            return CURL_PREREQFUNC_ABORT
        }

        /// Starts to observe how the connection ends, for a body that ends with its connection.
        ///
        /// An attacker on the path can close a TCP connection, but only the server can end TLS with
        /// close_notify (RFC 9112 §9.8). libcurl does not distinguish them. The hook does: after
        /// close_notify, OpenSSL does not read again, so it never sees the end of the TCP
        /// connection.
        func observeConnectionEnd() {
            guard !connection.speaksHTTP2, let handle, let tls = errand_get_tls(handle)
            else { return }
            connection.endHook = ConnectionHook.of(tls)
        }

        /// Whether the response ended with its connection without close_notify; a body with a content
        /// coding has an end marker of its own.
        var lacksCloseNotify: Bool {
            connection.endHook?.hasEnded == true && !response.body.hasEndMarker
        }

        // MARK: - Reports

        /// Reports the connection on which the request is sent, and that it was opened.
        func noteConnection(on known: Int32?) {
            var socket: curl_socket_t = known ?? -1
            if socket < 0 { errand_get_socket(handle, &socket) }
            guard socket >= 0, let request = transfer?.request else { return }
            let earlier = loop.connectionTable.connection(on: socket)
            let used = earlier ?? describeConnection(for: request)
            if earlier == nil { loop.opened(used, on: socket) }
            connection.established = (socket, used)
            receiver?.willSend(over: used, isReused: earlier != nil)
        }

        private func describeConnection(for request: TransportRequest) -> Response.Connection {
            let peer = handle.flatMap { scratch.peer.text(of: $0) }
            var (host, port) = (request.host ?? "", request.url.effectivePort)
            if let proxy = ProxyRoute(request), proxy.getsCompleteURL(of: request, peer: peer) {
                (host, port) = (proxy.host, proxy.port)
            }
            return Response.Connection(
                host: host, port: port, remoteAddress: peer, isSecure: request.isSecure,
                httpVersion: connection.speaksHTTP2 ? .http2 : .http11)
        }

        /// Records why the connection of a transfer that ends early is about to be closed; a shared one stays open.
        func noteClose(_ ending: TransferState.Ending) {
            guard let established = connection.established, !connection.speaksHTTP2 else { return }
            loop.connectionTable.willClose(established.socket, because: ending.closeReason)
        }

        /// Explains the end of a connection that libcurl has closed with the transfer.
        func explainClose(_ result: CURLcode) {
            guard let established = connection.established else { return }
            let isCancelled = transfer?.signals().contains(.cancel) == true
            loop.connectionTable.explain(
                established.connection.id,
                result == CURLE_OK ? .notPersistent : isCancelled ? .cancelled : .failed)
        }

        // MARK: - Reads and writes of the connection

        /// Installs what the request needs in the reads and writes of its TLS connection.
        func hookConnection(on socket: Int32?) {
            guard let tls = connection.tls else { return }
            trust.observer = PeerObserver.of(tls)
            if connection.speaksHTTP2 {
                guard let hook = ConnectionHook.of(tls) else { return }
                if hook.reads == nil { hook.reads = SharedReads(of: loop) }
                collectWrites(on: socket, of: tls, hook)
            } else if upload != nil {
                awaitEarlyResponse(on: socket, of: tls)
            }
        }

        /// Hooks the writes of an upload over HTTP/1; see ``FailedWrites``.
        private func awaitEarlyResponse(on socket: Int32?, of tls: UnsafeMutableRawPointer) {
            guard let socket, let hook = ConnectionHook.of(tls) else { return }
            trust.observer?.awaitsResponse = false
            hook.ignoresFailedWrites = false
            if hook.writes == nil { hook.writes = FailedWrites(on: socket) }
        }

        /// Ends the special treatment of a new connection when the peer has responded.
        func stopAwaitingResponse() {
            guard let peer = trust.observer, peer.awaitsResponse else { return }
            peer.awaitsResponse = false
            if let tls = connection.tls { ConnectionHook.stopIgnoringFailedWrites(of: tls) }
        }

        /// Collects the writes of a connection that may be shared; see ``SharedWrites``.
        private func collectWrites(
            on socket: Int32?, of tls: UnsafeMutableRawPointer, _ hook: ConnectionHook
        ) {
            guard let socket, let transfer, !hook.collectsWrites else { return }
            hook.collectsWrites = true
            // Records within the TLS connection to a proxy do not go to the socket. The addresses
            // are compared, because the socket was found by its ports.
            guard !ProxyRoute.mayUseTLS(transfer.request),
                let ends = handle.flatMap({ ConnectionEndpoints(of: $0) }),
                ends == ConnectionEndpoints(of: socket)
            else { return }
            _ = TLSLibrary.loaded?.writers?.insert(SharedWrites(on: socket, loop), in: tls)
        }
    }
#endif
