#if os(Linux)
    import ErrandTransport

    // Errors of the HTTP version.
    extension CurlFailure {
        /// The error for a request that requires HTTP/2 over a connection that negotiated another
        /// protocol, and was possibly sent on an earlier connection.
        static func noHTTP2(wasSent: Bool) -> RequestError {
            RequestError(
                wasSent ? .badServerResponse : .unsupported, stage: .transport,
                "The server does not support HTTP/2 over TLS\(wasSent ? " any more" : ""), which the request requires. "
                    + (wasSent ? "" : "Nothing was sent. ") + "Use the automatic version.")
        }

        /// The error for a request whose server does not accept the extended CONNECT, and that cannot use HTTP/1.1; nothing
        /// was sent.
        static func noExtendedConnect(_ request: TransportRequest) -> RequestError {
            RequestError(
                .unsupported, stage: .transport,
                "\(request.host ?? "The server") does not accept other protocols over HTTP/2 (RFC 8441). "
                    + "Use the automatic version, or .http11.")
        }

        /// The error for a request that the server requires over HTTP/1.1, and that is not sent
        /// again in this way.
        static func needsHTTP11(_ request: TransportRequest) -> RequestError {
            let reason =
                request.options.httpVersion == .automatic
                ? "It was not sent again, because it is not idempotent or its body cannot be read again. Use .http11."
                : "The request requires HTTP/2. Use the automatic version, or .http11."
            return RequestError(
                .badServerResponse, stage: .transport,
                "\(request.host ?? "The server") requires HTTP/1.1 for the request (HTTP_1_1_REQUIRED). "
                    + reason)
        }

    }
#endif
