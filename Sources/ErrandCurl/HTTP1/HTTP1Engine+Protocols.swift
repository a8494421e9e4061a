#if os(Linux)
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

        private func origin(of request: TransportRequest) -> ConnectionKey.Host {
            ConnectionKey.Host(name: request.host ?? "", port: request.url.effectivePort)
        }
    }
#endif
