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
            switch options.addressFamily {
            case .any: break
            case .ipv4: try special(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
            case .ipv6: try special(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
            }
            if let path = options.unixSocketPath {
                try special(CURLOPT_UNIX_SOCKET_PATH, path)
            }
            if !options.addressOverrides.isEmpty {
                try applyOverride(options, url: request.url)
            }
            try applyProxy(options.proxy)
            let isTunnelled = request.isSecure
            if let security = options.security, isTunnelled || options.proxySecurity == nil {
                try applySecurity(security)
            }
            if let security = options.proxySecurity {
                try applyProxySecurity(security, isTunnelled: isTunnelled)
            }
            // The next request probably uses the same options, unless they depend on the URL.
            let dependsOnURL =
                !options.addressOverrides.isEmpty || options.security?.pins.isEmpty == false
                || options.proxySecurity != nil
            if needsReset, !dependsOnURL { specialOptions = options }
        }

        private func applyProxy(_ proxy: TransportOptions.ProxyPolicy) throws(RequestError) {
            switch proxy {
            case .environment: break
            case .none: try special(CURLOPT_PROXY, "")
            case .url(let url, let bypass):
                try special(CURLOPT_PROXY, url)
                try special(CURLOPT_NOPROXY, AddressOverride.bypass(bypass))
            }
        }

        /// Connects to addresses that override DNS.
        ///
        /// Several addresses get an alias, which separates their connections and their entry in
        /// libcurl's DNS cache from those of requests without the override. A proxy does not know
        /// the alias and gets the first address. The Host header and the certificate check use the
        /// URL's host.
        private func applyOverride(_ options: TransportOptions, url: URI) throws(RequestError) {
            guard
                let route = AddressOverride.route(
                    to: url, options,
                    environmentNamesProxy: CurlLibrary.linked.environmentNamesProxy)
            else { return }
            connectTo.removeAll()
            connectTo.append(line: route.connectTo)
            try expect(errand_set_pointer(handle, CURLOPT_CONNECT_TO, connectTo.chain()))
            if let line = route.resolve {
                resolve.removeAll()
                resolve.append(line: line)
                try expect(errand_set_pointer(handle, CURLOPT_RESOLVE, resolve.chain()))
            }
            needsReset = true
        }

        func special(_ option: CURLoption, _ value: Int) throws(RequestError) {
            needsReset = true
            try set(option, value)
        }

        func special(_ option: CURLoption, _ value: String) throws(RequestError) {
            needsReset = true
            try setText(option, value)
        }
    }
#endif
