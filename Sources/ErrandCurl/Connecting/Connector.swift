#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// Opens a connection with libcurl (`CURLOPT_CONNECT_ONLY`) and hands it over.
    ///
    /// libcurl resolves the name, chooses the address, connects, and establishes tunnels and TLS.
    /// Without TLS the socket is taken over: when libcurl closes the connection, the socket stays
    /// open, and libcurl keeps nothing of it. This is not possible over TLS, where libcurl's handle
    /// stays and carries the bytes.
    final class Connector {
        /// The times of a connect, and the peer.
        struct Facts: Sendable {
            var started = MonotonicTime.never
            var nameLookedUp: Duration?
            var connected: Duration?
            var secured: Duration?
            var peer: String?
        }

        let key: ConnectionKey
        /// The number of the request for which the connect was started.
        let ticket: UInt64
        let handle: UnsafeMutableRawPointer
        unowned(unsafe) let loop: EventLoop
        private let errorText = UnsafeMutablePointer<CChar>.allocate(
            capacity: Int(CURL_ERROR_SIZE))
        private let lists = ConnectOptions.Lists()
        private(set) var trust: PeerTrust
        private var lacksResources = false
        /// Whether the handle carries the bytes of an established connection.
        private var keepsHandle = false
        private(set) var facts = Facts()

        /// Starts to connect.
        ///
        /// - Parameter limit: The time for the connect, `nil` for no limit. libcurl divides it among
        ///   the addresses of the host.
        init(
            _ key: ConnectionKey, _ ticket: UInt64, limit: Duration?, loop: EventLoop
        ) throws(RequestError) {
            guard let handle = curl_easy_init() else { throw CurlFailure.cannotStart }
            self.key = key
            self.ticket = ticket
            self.handle = handle
            self.loop = loop
            trust = PeerTrust(key.options, host: key.host.name)
            errorText[0] = 0
            facts.started = EventLoop.readClock()
            do throws(RequestError) {
                try applyOptions(limit)
            } catch {
                curl_easy_cleanup(handle)
                throw error
            }
            guard let multi = loop.multi, curl_multi_add_handle(multi, handle) == CURLM_OK else {
                curl_easy_cleanup(handle)
                throw CurlFailure.cannotStart
            }
        }

        /// Takes over the idle connection of a transfer that has ended on a handle, which is still
        /// part of libcurl's multi handle.
        ///
        /// libcurl then attaches the handle to its last connection when it sends or receives; it
        /// does so for `CURLOPT_CONNECT_ONLY` only. libcurl does not check whether another transfer
        /// uses the connection, so the caller has to.
        ///
        /// Returns `nil` if there is no connection, or if it cannot be used again.
        init?(
            adopting handle: UnsafeMutableRawPointer, _ key: ConnectionKey, _ trust: PeerTrust,
            loop: EventLoop
        ) {
            self.key = key
            self.ticket = 0
            self.handle = handle
            self.loop = loop
            self.trust = trust
            errorText[0] = 0
            var byte: UInt8 = 0
            var count = 0
            guard errand_set_long(handle, CURLOPT_CONNECT_ONLY, 1) == CURLE_OK,
                curl_easy_recv(handle, &byte, 1, &count) == CURLE_AGAIN,
                // The former values belong to the transfer.
                errand_set_pointer(handle, CURLOPT_CURLU, nil) == CURLE_OK,
                errand_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText) == CURLE_OK,
                errand_set_long(handle, CURLOPT_VERBOSE, 0) == CURLE_OK
            else { return nil }
        }

        deinit { errorText.deallocate() }

        // MARK: - Established connections

        /// Takes over the socket of an established connection and ends the connector; returns -1 if
        /// that fails.
        func takeSocket() -> Int32 {
            var socket: curl_socket_t = -1
            errand_get_socket(handle, &socket)
            recordFacts()
            loop.socketToKeep = socket
            curl_multi_remove_handle(loop.multi, handle)
            // If libcurl has not closed the socket, it still owns it, and a duplicate is used.
            if socket >= 0, loop.socketToKeep >= 0 {
                loop.sockets.unwatch(socket)
                socket = fcntl(socket, F_DUPFD_CLOEXEC, 0)
                // libcurl closes its own, which is counted then.
                if socket >= 0 { loop.connections.opened() }
            }
            loop.socketToKeep = -1
            curl_easy_cleanup(handle)
            guard socket >= 0 else { return -1 }
            let flags = fcntl(socket, F_GETFL)
            _ = fcntl(socket, F_SETFL, flags | O_NONBLOCK)
            return socket
        }

        /// Takes over a connection whose handle carries its bytes; returns its socket, or -1 if it
        /// is closed already.
        func keepHandle() -> Int32 {
            var socket: curl_socket_t = -1
            errand_get_socket(handle, &socket)
            recordFacts()
            guard socket >= 0 else {
                cancel()
                return -1
            }
            // The engine watches the socket from now on.
            loop.sockets.unwatch(socket)
            loop.sockets.closed(socket)
            keepsHandle = true
            loop.keptHandles += 1
            return socket
        }

        /// Closes the connection and ends the connector.
        func cancel() {
            curl_multi_remove_handle(loop.multi, handle)
            curl_easy_cleanup(handle)
            guard keepsHandle else { return }
            loop.keptHandles -= 1
            loop.startWaitingForPlaces()
        }

        // MARK: - Errors

        /// The error for a connection that could not be opened.
        func error(_ result: CURLcode, for request: TransportRequest) -> RequestError {
            let proxy = ProxyRoute(request)
            if let observer = trust.observer, observer.hasRefusedName {
                let isProxy = observer.isForProxy || key.route == .absoluteForm
                return CurlFailure.unnamedHost(
                    request.host ?? "", proxy: isProxy ? proxy?.name ?? "" : nil, result)
            }
            var result = result
            // The host of the connection is the proxy.
            if key.route == .absoluteForm, result == CURLE_COULDNT_RESOLVE_HOST {
                result = CURLE_COULDNT_RESOLVE_PROXY
            }
            return CurlFailure.error(result, context: context(for: request, proxy, false))
        }

        /// The error for the peer's alert that it rejects the client certificate; `nil` if there was
        /// none.
        func alertError(for request: TransportRequest) -> RequestError? {
            let proxy = key.route == .absoluteForm ? ProxyRoute(request) : nil
            let context = context(for: request, proxy, true)
            guard CurlFailure.rejectsClientCertificate(context) else { return nil }
            return CurlFailure.error(CURLE_RECV_ERROR, context: context)
        }

        private func context(
            for request: TransportRequest, _ proxy: ProxyRoute?, _ isConnected: Bool
        ) -> CurlFailure.Context {
            var proxyResponse = 0
            errand_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &proxyResponse)
            var proxyVerification = 0
            errand_get_long(handle, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxyVerification)
            return CurlFailure.Context(
                request: request, text: String(cString: errorText),
                alert: trust.observer?.alert ?? 0, isConnected: isConnected, isHeadComplete: false,
                hasHeadBegun: false, proxyResponse: proxyResponse,
                proxyVerification: proxyVerification, proxy: proxy, lacksResources: lacksResources)
        }

        private func recordFacts() {
            facts.nameLookedUp = duration(CURLINFO_NAMELOOKUP_TIME_T)
            facts.connected = duration(CURLINFO_CONNECT_TIME_T)
            facts.secured = key.isSecure ? duration(CURLINFO_APPCONNECT_TIME_T) : nil
            facts.peer = loop.scratch.peer.text(of: handle)
        }

        private func duration(_ info: CURLINFO) -> Duration? {
            var microseconds: curl_off_t = 0
            errand_get_offset(handle, info, &microseconds)
            return microseconds > 0 ? .microseconds(microseconds) : nil
        }

        // MARK: - Options

        private func applyOptions(_ limit: Duration?) throws(RequestError) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            var options = ConnectOptions(handle)
            try options.setDefaults()
            try options.expect(errand_set_string(handle, CURLOPT_URL, key.url.description))
            try options.set(CURLOPT_CONNECT_ONLY, 1)
            // The minimum, for what a proxy says before the tunnel. Over TLS libcurl 7.88 reads at
            // most this number of bytes at once, for the engine too.
            if !key.usesTLS { try options.set(CURLOPT_BUFFERSIZE, 1024) }
            // ALPN offers nothing else.
            try options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            try options.set(
                CURLOPT_CONNECTTIMEOUT_MS, limit?.wholeMilliseconds ?? Int(Int32.max))
            try options.expect(errand_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
            try options.expect(errand_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context))
            try options.expect(errand_set_open_callback(handle, onConnectorOpen))
            // libcurl may close a socket after the connector has ended.
            try options.expect(
                errand_set_pointer(
                    handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop).toOpaque()))
            try options.expect(errand_set_close_callback(handle, onConnectorClose))
            if key.usesTLS {
                try options.expect(errand_set_pointer(handle, CURLOPT_SSL_CTX_DATA, context))
                try options.expect(
                    errand_set_tls_context_callback(handle, onConnectorHandshake))
                let share = loop.sessions.share(for: key.host.name)
                try options.expect(errand_set_pointer(handle, CURLOPT_SHARE, share))
                if !loop.sessions.isEnabled { try options.set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
            }
            // A proxy of the environment is used for tunnels only.
            if key.route != .tunnel {
                try options.expect(errand_set_string(handle, CURLOPT_PROXY, ""))
            }
            try options.setEnvironmentBypass(key.options.proxy, url: key.url)
            if !key.options.hasDefaults {
                try options.set(key.options, url: key.url, trust: trust, lists: lists)
            }
        }

        // MARK: - Callbacks

        fileprivate func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = loop.open(address, as: key.usesTLS ? .secure : .plain)
            if socket < 0, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                lacksResources = true
            }
            trust.nextHandshakePort = errand_port(address)
            return socket
        }

        fileprivate func handshakeWillStart(_ tls: UnsafeMutableRawPointer) -> CURLcode {
            trust.handshakeWillStart(tls, to: key.url, key.options)
        }
    }

    private let onConnectorOpen: errand_open_callback = { context, _, address in
        guard let context, let address else { return -1 }
        return Unmanaged<Connector>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.open(address)
        }
    }

    private let onConnectorClose: errand_close_callback = { context, socket in
        guard let context else { return -1 }
        return Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.closeOrKeep(socket)
        }
    }

    private let onConnectorHandshake: errand_tls_context_callback = { _, tls, context in
        guard let tls, let context else { return CURLE_SSL_CONNECT_ERROR }
        return Unmanaged<Connector>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.handshakeWillStart(tls)
        }
    }
#endif
