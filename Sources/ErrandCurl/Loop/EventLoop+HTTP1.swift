#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // Requests that the HTTP/1.1 engine carries.
    extension EventLoop {
        /// The engine for a request; `nil` if libcurl carries it.
        func engine(for request: TransportRequest) -> HTTP1Engine? {
            guard let http1 else { return nil }
            let isSecure = request.isSecure
            let choice = EngineChoice(
                isSecure: isSecure, version: request.options.httpVersion,
                proxy: EngineChoice.Proxy(
                    request, environmentNamesProxy: CurlLibrary.linked.environmentNamesProxy),
                hasNegotiatedHTTP11: isSecure && http1.hasLearned(request),
                coverage: http1.coverage)
            if choice == .own { return http1 }
            makeRoom(for: request)
            return nil
        }

        /// The number of active transfers.
        var transferCount: Int { active.count + (http1?.active.count ?? 0) }

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

        /// Closes idle connections of the engine that take places which a request of libcurl may
        /// need.
        private func makeRoom(for request: TransportRequest) {
            guard configuration.connectionsPerHost ?? 0 > 0, let http1 else { return }
            http1.closeIdle(
                ConnectionKey.Host(name: request.host ?? "", port: request.url.effectivePort))
        }

        /// Lets libcurl start transfers that wait for the place of a closed connection; libcurl 8.14
        /// does not do it by itself.
        func startWaitingForPlaces() {
            guard configuration.connectionsPerHost ?? 0 > 0 else { return }
            curlTimer = min(curlTimer, now)
        }

        /// Records the protocol that the connection of a request has negotiated.
        func noteProtocol(of request: TransportRequest, isHTTP2: Bool) {
            guard request.isSecure, request.options.httpVersion == .automatic else { return }
            http1?.learn(request, isHTTP11: !isHTTP2)
        }
    }
#endif
