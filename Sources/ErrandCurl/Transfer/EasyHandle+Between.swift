#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // The state of a connection between two requests, and its end.
    extension EasyHandle {
        /// Marks a new connection as HTTP/1 after its first complete response, so that unsolicited
        /// data closes it.
        ///
        /// Plain connections are marked when they open. Over TLS the negotiated protocol decides.
        func markHTTP1Connection() {
            guard !speaksHTTP2, TLSLibrary.loaded != nil, let transfer,
                transfer.request.isSecure || !transfer.request.options.hasDefaults, opensConnection
            else { return }
            var socket: curl_socket_t = -1
            errand_get_socket(handle, &socket)
            loop.sockets.markHTTP1(socket)
        }

        /// The socket of the connection, if this transfer has opened it.
        func newSocket(from localPort: Int32, to remotePort: Int32) -> Int32? {
            guard !openedSockets.isEmpty,
                let socket = openedSockets.last(where: {
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
            guard !speaksHTTP2 else { return false }
            if let connection, let library = TLSLibrary.loaded {
                if library.hasInput(connection) { return true }
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
            guard !hasReplayed else { return abort(with: CurlFailure.lostBeforeResponse) }
            sendCount -= 1
            needsOtherConnection = true
            return CURL_PREREQFUNC_ABORT
        }

        /// Starts to observe how the connection ends, for a body that ends with its connection.
        ///
        /// An attacker on the path can close a TCP connection, but only the server can end TLS with
        /// close_notify (RFC 9112 §9.8). libcurl does not distinguish them. The hook does: after
        /// close_notify, OpenSSL does not read again, so it never sees the end of the TCP
        /// connection.
        func observeConnectionEnd() {
            guard !speaksHTTP2, let handle, let connection = errand_get_tls(handle) else { return }
            endHook = ConnectionHook.of(connection)
        }

        /// Whether the response ended with its connection without close_notify; a content coding
        /// has an end marker of its own.
        var lacksCloseNotify: Bool { endHook?.hasEnded == true && !body.isDecoding }
    }
#endif
