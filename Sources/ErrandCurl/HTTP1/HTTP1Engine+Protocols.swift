#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // The requests that the engine carries.
    extension HTTP1Engine {
        /// The requests that the engine carries, with or without TLS.
        func coverage(isSecure: Bool) -> EngineChoice.Coverage {
            // Over TLS the transport needs functions of OpenSSL, which are looked up for the first
            // such request.
            guard isSecure, TLSLibrary.loaded != nil else {
                return [.plain, .absoluteForm, .tunnels]
            }
            return usesLearned ? [.secure, .learned, .tunnels] : [.secure, .tunnels]
        }

        /// Records whether a new connection for a request has negotiated HTTP/1.1.
        func learn(_ request: TransportRequest, isHTTP11: Bool) {
            let origin = origin(of: request)
            // Their connections would be chosen for later requests; libcurl is in a callback now.
            if !isHTTP11, learned.contains(origin) { formerOrigins.append(origin) }
            learned.negotiated(origin, isHTTP11: isHTTP11, at: loop.now)
        }

        /// Whether the engine has taken over the connection with these ports.
        func holdsConnection(_ ports: ConnectionUse.Ports) -> Bool {
            loop.keptHandles > 0 && connections.contains { $0?.adoptedPorts == ports }
        }

        /// Whether the origin of a request has negotiated HTTP/1.1 recently.
        func hasLearned(_ request: TransportRequest) -> Bool {
            !learned.isEmpty && learned.haveHTTP11(origin(of: request), at: loop.now)
        }

        /// Lets libcurl negotiate the protocol for a transfer whose server may not accept HTTP/1.1
        /// any more; returns whether it does.
        func moves(_ exchange: HTTP1Transfer, after result: CURLcode) -> Bool {
            let request = exchange.transfer.request
            guard result == CURLE_SSL_CONNECT_ERROR, request.options.httpVersion == .automatic,
                request.isSecure, !loop.isShutDown, !exchange.hasReplayed
            else { return false }
            learn(request, isHTTP11: false)
            exchange.giveUp()
            loop.start(exchange.transfer)
            // The time spent on the connect counts.
            exchange.transfer.easyHandle?.deadlines = exchange.deadlines
            return true
        }

        private func origin(of request: TransportRequest) -> ConnectionKey.Host {
            ConnectionKey.Host(name: request.host ?? "", port: request.url.effectivePort)
        }
    }
#endif
