#if os(Linux)
    import ErrandTransport

    // Requests that the HTTP/1.1 engine carries.
    extension EventLoop {
        /// The engine for a request; `nil` if libcurl carries it.
        func engine(for request: TransportRequest) -> HTTP1Engine? {
            guard let http1 else { return nil }
            let options = request.options
            let choice = EngineChoice(
                isSecure: request.isSecure, version: options.httpVersion,
                proxy: EngineChoice.Proxy(
                    options.proxy,
                    environmentNamesProxy: CurlLibrary.linked.environmentNamesProxy),
                hasNegotiatedHTTP11: false, coverage: .plain)
            return choice == .own ? http1 : nil
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
    }
#endif
