#if os(Linux)
    import ErrandCore

    /// Decides before anything is sent whether the linked libcurl can carry a request.
    struct RequestCheck {
        let library: CurlLibrary

        /// Throws when it cannot.
        func check(_ request: TransportRequest) throws(RequestError) {
            guard request.url.isAbsoluteHTTP else {
                throw RequestError(
                    .invalidURL, stage: .transport,
                    "The URL is not an absolute http or https address. Give it a scheme and a host."
                )
            }
            if request.method == .head, request.body != nil {
                throw RequestError(
                    .invalidCombination, stage: .transport,
                    "A HEAD request cannot carry a body. Leave the body out, or use another method."
                )
            }
            try checkVersion(request)
        }

        private func checkVersion(_ request: TransportRequest) throws(RequestError) {
            let isSecure = request.url.scheme == "https"
            if isSecure, !library.hasTLS { throw unsupported("TLS") }
            switch request.options.httpVersion {
            case .automatic, .http11: return
            case .http2:
                guard library.hasHTTP2 else { throw unsupported("HTTP/2") }
                if !isSecure {
                    throw RequestError(
                        .invalidCombination, stage: .transport,
                        "HTTP/2 is agreed upon over TLS only. Use https, or http2PriorKnowledge.")
                }
            case .http2PriorKnowledge:
                guard library.hasHTTP2 else { throw unsupported("HTTP/2") }
            }
        }

        private func unsupported(_ what: String) -> RequestError {
            RequestError(
                .unsupported, stage: .transport,
                "This libcurl (\(library.version)) was built without \(what).")
        }
    }
#endif
