#if os(Linux)
    import CLibcurl
    import ErrandCore

    // The options that few requests set.
    extension Exchange {
        /// Version, address, proxy and trust, as far as they depart from the defaults.
        func applyTransportOptions(_ request: TransportRequest) throws(RequestError) {
            let options = request.options
            if let bytes = options.receiveBufferBytes {
                // The range that libcurl takes.
                try set(CURLOPT_BUFFERSIZE, min(max(bytes, 1 << 10), 10 << 20))
                needsReset = true
            }
            try applyVersion(options.httpVersion)
        }

        private func applyVersion(_ version: TransportOptions.HTTPVersionPolicy)
            throws(RequestError)
        {
            switch version {
            case .automatic: return
            case .http11: try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            case .http2: try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            case .http2PriorKnowledge:
                try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
            }
            needsReset = true
        }
    }
#endif
