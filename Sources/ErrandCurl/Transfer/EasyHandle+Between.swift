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
