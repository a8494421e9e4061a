#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // The hand-over of connections to the HTTP/1.1 engine.
    //
    // libcurl carries the first request to an `https` origin, because only the negotiation shows
    // the protocol. If it is HTTP/1.1, the engine carries the later requests, and takes over the
    // connection of the first.
    extension EasyHandle {
        /// Hands the connection over to the engine if it carries the next request to the origin;
        /// returns whether it does.
        ///
        /// Called when libcurl reports that the transfer is finished, before it can give the
        /// connection to another transfer.
        func handsOverConnection() -> Bool {
            guard let handle, let transfer, transfer.request.isSecure, !speaksHTTP2, !isHTTP2,
                failure == nil, !hasReplayed, head.isComplete, !isConnectionTaken,
                let engine = loop.engine(for: transfer.request)
            else { return false }
            let key = ConnectionKey(
                transfer.request, requiresValidChain: trust.rules?.requiresValidChain ?? true,
                environmentNamesProxy: CurlLibrary.linked.environmentNamesProxy)
            let timings = timings()
            guard let connector = Connector(adopting: handle, key, trust, loop: loop) else {
                // A connection that was attached is closed when the handle is removed.
                loop.detach(self)
                _ = errand_set_long(handle, CURLOPT_CONNECT_ONLY, 0)
                _ = errand_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
                return false
            }
            finalTimings = timings
            replaceHandle()
            engine.adopt(connector)
            return true
        }

        /// Whether libcurl has given the connection to another transfer already.
        ///
        /// It can do so before it reports the end of this one.
        private var isConnectionTaken: Bool {
            ports.local == 0
                || loop.active.contains { $0 !== self && $0.ports == ports && $0.ports.local != 0 }
        }
    }
#endif
