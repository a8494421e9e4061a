#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // Options that few requests set. They mark the handle, so that the next request does not
    // inherit them.
    extension EasyHandle {
        /// Sets version, address, proxy and trust options that differ from the defaults.
        func applyTransportOptions(_ request: TransportRequest) throws(RequestError) {
            let options = request.options
            guard !options.hasDefaults else { return }
            switch options.httpVersion {
            case .automatic: break
            case .http11: try special(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            case .http2: try special(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            case .http2PriorKnowledge:
                try special(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
                if !CurlLibrary.linked.reusesPriorKnowledge {
                    try special(CURLOPT_FRESH_CONNECT, 1)
                    try special(CURLOPT_FORBID_REUSE, 1)
                }
            }
            guard let handle else { throw CurlFailure.cannotStart }
            var connection = ConnectOptions(handle)
            defer { if connection.isMarked { needsReset = true } }
            try connection.set(options, url: request.url, trust: trust, lists: lists)
            // The next request probably uses the same options, unless they depend on the URL.
            let dependsOnURL =
                !options.addressOverrides.isEmpty || options.security?.pins.isEmpty == false
                || options.proxySecurity != nil
            if needsReset || connection.isMarked, !dependsOnURL { specialOptions = options }
        }

        func special(_ option: CURLoption, _ value: Int) throws(RequestError) {
            needsReset = true
            try set(option, value)
        }
    }
#endif
