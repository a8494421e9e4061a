#if os(Linux)
    import CLibcurl
    import ErrandCore

    // What is to be expected of a connection between two requests, and at its end.
    extension Exchange {
        /// The first answer over a new connection is whole, and libcurl keeps the connection.
        ///
        /// Of plain connections the loop knows from the beginning that they have nothing to say unasked; in TLS it depends on
        /// what was agreed upon.
        func noteSilence() {
            guard !speaksHTTP2, TLSLibrary.loaded != nil, let transfer,
                transfer.request.isSecure || !transfer.request.options.areUsual, opensConnection
            else { return }
            var socket: curl_socket_t = -1
            errand_get_socket(handle, &socket)
            loop.sockets.carriesHTTP1(socket)
        }

        /// The body that comes now ends with its connection.
        ///
        /// Anybody on the way can close a connection; in TLS only the server can say that it is over (RFC 9112 §9.8). libcurl has
        /// OpenSSL make no difference, but a goodbye is read, and behind it nothing is.
        func watchEnd() {
            guard !speaksHTTP2, let handle, let connection = errand_get_tls(handle) else { return }
            endHook = ConnectionHook.of(connection)
        }

        /// Whether the answer's end was the connection's, and nobody has said so; an encoding says where it ends by itself.
        var isEndUnsaid: Bool { endHook?.hasEnded == true && !body.isDecoding }
    }
#endif
