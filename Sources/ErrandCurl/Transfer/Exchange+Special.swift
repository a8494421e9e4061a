#if os(Linux)
    import CLibcurl
    import ErrandCore

    // The options that few requests set.
    extension Exchange {
        /// Version, address, proxy and trust, as far as they depart from the defaults.
        func applyTransportOptions(_ request: TransportRequest) throws(RequestError) {
            let options = request.options
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
