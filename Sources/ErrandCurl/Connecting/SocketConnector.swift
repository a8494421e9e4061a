#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// Opens a connection with libcurl and hands over its socket (`CURLOPT_CONNECT_ONLY`).
    ///
    /// libcurl resolves the name, chooses the address and connects. When it closes the
    /// connection, the socket stays open, and libcurl keeps nothing of it. This is not possible over
    /// TLS.
    final class SocketConnector {
        /// The times of a connect, and the peer.
        struct Facts: Sendable {
            var started = MonotonicTime.never
            var nameLookedUp: Duration?
            var connected: Duration?
            var peer: String?
        }

        let key: ConnectionKey
        /// The number of the request for which the connect was started.
        let ticket: UInt64
        let handle: UnsafeMutableRawPointer
        private unowned(unsafe) let loop: EventLoop
        private let errorText = UnsafeMutablePointer<CChar>.allocate(
            capacity: Int(CURL_ERROR_SIZE))
        private let connectTo = HeaderList()
        private let resolve = HeaderList()
        private var lacksResources = false
        private(set) var facts = Facts()

        /// Starts to connect; returns `nil` if libcurl does not accept an option.
        ///
        /// - Parameter limit: The time for the connect, `nil` for no limit. libcurl divides it among
        ///   the addresses of the host.
        init?(_ key: ConnectionKey, _ ticket: UInt64, limit: Duration?, loop: EventLoop) {
            guard let handle = curl_easy_init() else { return nil }
            self.key = key
            self.ticket = ticket
            self.handle = handle
            self.loop = loop
            errorText[0] = 0
            facts.started = EventLoop.readClock()
            guard applyOptions(limit), let multi = loop.multi,
                curl_multi_add_handle(multi, handle) == CURLM_OK
            else {
                curl_easy_cleanup(handle)
                return nil
            }
        }

        deinit { errorText.deallocate() }

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
            }
            loop.socketToKeep = -1
            curl_easy_cleanup(handle)
            guard socket >= 0 else { return -1 }
            let flags = fcntl(socket, F_GETFL)
            _ = fcntl(socket, F_SETFL, flags | O_NONBLOCK)
            return socket
        }

        /// Abandons the connection.
        func cancel() {
            curl_multi_remove_handle(loop.multi, handle)
            curl_easy_cleanup(handle)
        }

        /// The error for a connection that could not be opened.
        func error(_ result: CURLcode, limits: Timeouts) -> RequestError {
            CurlFailure.error(
                result,
                context: CurlFailure.Context(
                    text: String(cString: errorText), host: key.host.name, port: key.host.port,
                    isConnected: false, isHeadComplete: false, hasHeadBegun: false,
                    proxyResponse: 0, lacksResources: lacksResources,
                    unixSocket: key.options.unixSocketPath, limits: limits))
        }

        private func recordFacts() {
            facts.nameLookedUp = duration(CURLINFO_NAMELOOKUP_TIME_T)
            facts.connected = duration(CURLINFO_CONNECT_TIME_T)
            facts.peer = loop.scratch.peer.text(of: handle)
        }

        private func duration(_ info: CURLINFO) -> Duration? {
            var microseconds: curl_off_t = 0
            errand_get_offset(handle, info, &microseconds)
            return microseconds > 0 ? .microseconds(microseconds) : nil
        }

        // MARK: - Options

        private func applyOptions(_ limit: Duration?) -> Bool {
            let context = Unmanaged.passUnretained(self).toOpaque()
            let url = "http://\(key.host.name):\(key.host.port)/"
            let results = [
                errand_set_string(handle, CURLOPT_URL, url),
                errand_set_long(handle, CURLOPT_CONNECT_ONLY, 1),
                errand_set_long(handle, CURLOPT_NOSIGNAL, 1),
                errand_set_long(handle, CURLOPT_QUICK_EXIT, 1),
                errand_set_long(
                    handle, CURLOPT_CONNECTTIMEOUT_MS, limit?.wholeMilliseconds ?? Int(Int32.max)),
                errand_set_string(handle, CURLOPT_PROXY, ""),
                errand_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
                errand_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context),
                errand_set_open_callback(handle, onConnectorOpen),
                // libcurl may close a socket after the connector has ended.
                errand_set_pointer(
                    handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop).toOpaque()),
                errand_set_close_callback(handle, onConnectorClose),
            ]
            return results.allSatisfy { $0 == CURLE_OK } && applyRoute()
        }

        private func applyRoute() -> Bool {
            guard !key.options.hasDefaults else { return true }
            var results: [CURLcode] = []
            switch key.options.addressFamily {
            case .any: break
            case .ipv4:
                results.append(
                    errand_set_long(handle, CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4)))
            case .ipv6:
                results.append(
                    errand_set_long(handle, CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6)))
            }
            if let path = key.options.unixSocketPath {
                results.append(errand_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, path))
            }
            let target = URI(scheme: "http", host: key.host.name, port: key.host.port)
            if let route = AddressOverride.route(
                to: target, key.options, environmentNamesProxy: false)
            {
                connectTo.append(line: route.connectTo)
                results.append(
                    errand_set_pointer(handle, CURLOPT_CONNECT_TO, connectTo.chain()))
                if let line = route.resolve {
                    resolve.append(line: line)
                    results.append(
                        errand_set_pointer(handle, CURLOPT_RESOLVE, resolve.chain()))
                }
            }
            return results.allSatisfy { $0 == CURLE_OK }
        }

        // MARK: - Callbacks

        fileprivate func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = loop.open(address, as: .plain)
            if socket < 0, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                lacksResources = true
            }
            return socket
        }
    }

    private let onConnectorOpen: errand_open_callback = { context, _, address in
        guard let context, let address else { return -1 }
        return Unmanaged<SocketConnector>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.open(address)
        }
    }

    private let onConnectorClose: errand_close_callback = { context, socket in
        guard let context else { return -1 }
        return Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.closeOrKeep(socket)
        }
    }
#endif
