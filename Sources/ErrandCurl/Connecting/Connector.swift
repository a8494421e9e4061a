#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    /// Opens a connection with libcurl (`CURLOPT_CONNECT_ONLY`) and hands it over.
    ///
    /// libcurl resolves the name, chooses the address, connects, and establishes tunnels and TLS.
    /// Without TLS the socket is taken over: when libcurl closes the connection, the socket stays
    /// open, and libcurl keeps nothing of it. This is not possible over TLS, where libcurl's handle
    /// stays and carries the bytes.
    final class Connector {
        /// The result of a read.
        enum ReadResult: Equatable { case bytes(Int), nothing, end, failed }

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
        let curl: Curl
        let handle: UnsafeMutableRawPointer
        unowned(unsafe) let multi: MultiHandle
        private let errorText = UnsafeMutablePointer<CChar>.allocate(
            capacity: Int(CURL_ERROR_SIZE))
        private let lists = ConnectOptions.Lists()
        private(set) var trust: PeerTrust
        private var lacksResources = false
        private(set) var facts = Facts()

        /// Starts to connect.
        ///
        /// - Parameter limit: The time for the connect, `nil` for no limit. libcurl divides it among
        ///   the addresses of the host.
        init(
            _ key: ConnectionKey, _ ticket: UInt64, limit: Duration?, multi: MultiHandle
        ) throws(RequestError) {
            guard let curl = multi.curl, let handle = curl.curl_easy_init() else {
                throw CurlFailure.cannotStart
            }
            self.curl = curl
            self.key = key
            self.ticket = ticket
            self.handle = handle
            self.multi = multi
            trust = PeerTrust(key.options, host: key.host.name)
            errorText[0] = 0
            facts.started = EventLoop.readClock()
            do throws(RequestError) {
                try applyOptions(limit)
            } catch {
                curl.curl_easy_cleanup(handle)
                throw error
            }
            guard let owner = multi.handle, curl.curl_multi_add_handle(owner, handle) == CURLM_OK
            else {
                curl.curl_easy_cleanup(handle)
                throw CurlFailure.cannotStart
            }
        }

        deinit { errorText.deallocate() }

        // MARK: - Established connections

        /// An established connection, before its protocol is spoken.
        struct Opened {
            let connector: Connector
            let socket: Int32
            /// OpenSSL's object of the connection; `nil` without TLS.
            let tls: UnsafeMutableRawPointer?
            /// Input that has arrived already.
            let early: [UInt8]
            let speaksHTTP2: Bool
        }

        /// Takes the connection over.
        ///
        /// Over TLS, the handle is attached to its connection here; otherwise libcurl closes the
        /// connection when another transfer starts. Session tickets are read with the first input. An
        /// error occurs again when an exchange reads.
        func open() throws(RequestError) -> Opened {
            guard key.usesTLS else {
                let socket = takeSocket()
                guard socket >= 0 else {
                    throw ResponseFault.noResponse.error(host: key.host.name)
                }
                return Opened(
                    connector: self, socket: socket, tls: nil, early: [],
                    speaksHTTP2: key.version == .priorKnowledge)
            }
            let socket = keepHandle()
            // The server has closed the connection, so libcurl has removed it.
            guard socket >= 0 else { throw ResponseFault.noResponse.error(host: key.host.name) }
            var early = [UInt8](repeating: 0, count: 1024)
            let result = early.withUnsafeMutableBytes { read(into: $0) }
            if case .bytes(let count) = result {
                early.removeLast(early.count - count)
            } else {
                early = []
            }
            let tls = curl.tls(handle)
            var speaksHTTP2 = key.version == .priorKnowledge
            if let library = TLSLibrary.loaded, let tls {
                library.allowMovedWrites(on: tls)
                if key.isSecure, key.mayBeShared { speaksHTTP2 = library.speaksHTTP2(tls) }
                if speaksHTTP2 { library.prepareForHTTP2(tls) }
            }
            return Opened(
                connector: self, socket: socket, tls: tls, early: early,
                speaksHTTP2: speaksHTTP2)
        }

        /// Reads bytes that TLS has protected.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
            var count = 0
            let result = curl.curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count)
            if result == CURLE_AGAIN { return .nothing }
            guard result == CURLE_OK else { return .failed }
            return count > 0 ? .bytes(count) : .end
        }

        /// Takes over the socket of an established connection and ends the connector; returns -1 if
        /// that fails.
        private func takeSocket() -> Int32 {
            var socket = curl.socket(handle)
            recordFacts()
            multi.socketToKeep = socket
            _ = curl.curl_multi_remove_handle(multi.handle, handle)
            // If libcurl has not closed the socket, it still owns it, and a duplicate is used.
            if socket >= 0, multi.socketToKeep >= 0 {
                multi.sockets.unwatch(socket)
                socket = fcntl(socket, F_DUPFD_CLOEXEC, 0)
                // libcurl closes its own, which is counted then.
                if socket >= 0 { multi.loop.connections.opened() }
            }
            multi.socketToKeep = -1
            curl.curl_easy_cleanup(handle)
            guard socket >= 0 else { return -1 }
            let flags = fcntl(socket, F_GETFL)
            _ = fcntl(socket, F_SETFL, flags | O_NONBLOCK)
            return socket
        }

        /// Takes over a connection whose handle carries its bytes; returns its socket, or -1 if it
        /// is closed already.
        private func keepHandle() -> Int32 {
            let socket = curl.socket(handle)
            recordFacts()
            guard socket >= 0 else {
                cancel()
                return -1
            }
            // The engine watches the socket from now on.
            multi.sockets.unwatch(socket)
            multi.sockets.closed(socket)
            return socket
        }

        /// Closes the connection and ends the connector.
        func cancel() {
            _ = curl.curl_multi_remove_handle(multi.handle, handle)
            curl.curl_easy_cleanup(handle)
        }

        // MARK: - Errors

        /// The error for a connection that could not be opened.
        ///
        /// - Parameter options: The options of the request with its proxy.
        func error(
            _ result: CURLcode, for request: TransportRequest, _ options: TransportOptions
        ) -> RequestError {
            let proxy = ProxyRoute(options)
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
        func alertError(
            for request: TransportRequest, _ options: TransportOptions
        ) -> RequestError? {
            let proxy =
                key.route == .absoluteForm
                ? ProxyRoute(options) : nil
            let context = context(for: request, proxy, true)
            guard CurlFailure.rejectsClientCertificate(context) else { return nil }
            return CurlFailure.error(CURLE_RECV_ERROR, context: context)
        }

        private func context(
            for request: TransportRequest, _ proxy: ProxyRoute?, _ isConnected: Bool
        ) -> CurlFailure.Context {
            return CurlFailure.Context(
                request: request, text: String(cString: errorText),
                alert: trust.observer?.alert ?? 0, isConnected: isConnected,
                proxyResponse: curl.number(handle, CURLINFO_HTTP_CONNECTCODE),
                proxyVerification: curl.number(handle, CURLINFO_PROXY_SSL_VERIFYRESULT),
                proxy: proxy, lacksResources: lacksResources)
        }

        private func recordFacts() {
            facts.nameLookedUp = duration(CURLINFO_NAMELOOKUP_TIME_T)
            facts.connected = duration(CURLINFO_CONNECT_TIME_T)
            facts.secured = key.isSecure ? duration(CURLINFO_APPCONNECT_TIME_T) : nil
            facts.peer = multi.peer.text(of: handle, curl)
        }

        private func duration(_ info: CURLINFO) -> Duration? {
            let microseconds = curl.offset(handle, info)
            return microseconds > 0 ? .microseconds(microseconds) : nil
        }

        // MARK: - Options

        private func applyOptions(_ limit: Duration?) throws(RequestError) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            let options = ConnectOptions(handle, curl)
            try options.setDefaults()
            try options.set(CURLOPT_URL, key.url.description)
            try options.set(CURLOPT_CONNECT_ONLY, 1)
            // The minimum, for what a proxy says before the tunnel. Over TLS libcurl 7.88 reads at
            // most this number of bytes at once, for the engine too. The memory exists while connecting.
            try options.set(CURLOPT_BUFFERSIZE, key.usesTLS ? 64 << 10 : 1024)
            // libcurl's ALPN offers nothing else. If HTTP/2 is offered, the TLS context has the list,
            // because libcurl would begin to speak what it has negotiated itself.
            try options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            if key.isSecure, key.mayBeShared { try options.set(CURLOPT_SSL_ENABLE_ALPN, 0) }
            if key.route == .tunnel { try options.set(CURLOPT_HTTPPROXYTUNNEL, 1) }
            try options.set(
                CURLOPT_CONNECTTIMEOUT_MS, limit?.wholeMilliseconds ?? Int(Int32.max))
            try options.set(CURLOPT_ERRORBUFFER, errorText)
            try options.set(CURLOPT_OPENSOCKETDATA, context)
            try options.expect(curl.setCallback(handle, onConnectorOpen))
            // libcurl may close a socket after the connector has ended.
            try options.set(
                CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(multi).toOpaque())
            try options.expect(curl.setCallback(handle, onConnectorClose))
            if key.usesTLS {
                // Only OpenSSL shows its contexts.
                if TLSLibrary.loaded != nil {
                    try options.set(CURLOPT_SSL_CTX_DATA, context)
                    try options.expect(curl.setCallback(handle, onConnectorHandshake))
                }
                let share = multi.sessions.share(for: key.host.name)
                try options.set(CURLOPT_SHARE, share)
                if !multi.sessions.isEnabled {
                    try options.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
                }
            }
            if !key.options.hasDefaults {
                try options.set(key.options, url: key.url, trust: trust, lists: lists)
            }
        }

        // MARK: - Callbacks

        fileprivate func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = multi.open(address)
            if socket < 0, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                lacksResources = true
            }
            trust.isNewSocket = true
            return socket
        }

        fileprivate func handshakeWillStart(_ tls: UnsafeMutableRawPointer) -> CURLcode {
            let result = trust.handshakeWillStart(tls, to: key.url, key.options)
            guard result == CURLE_OK, key.isSecure, key.mayBeShared,
                trust.observer?.isForProxy == false
            else { return result }
            // A proxy would choose HTTP/2 too, and libcurl speaks HTTP/1.1 to it.
            return TLSLibrary.loaded?.offerHTTP2(tls) == true ? CURLE_OK : CURLE_OUT_OF_MEMORY
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
        return Unmanaged<MultiHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
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
