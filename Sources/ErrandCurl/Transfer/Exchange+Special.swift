#if os(Linux)
    import CLibcurl
    import ErrandCore

    // The options that few requests set; whoever does leaves a mark, so that the next request does not inherit them.
    extension Exchange {
        /// Version, address, proxy and trust, as far as they depart from the defaults.
        func applyTransportOptions(_ request: TransportRequest) throws(RequestError) {
            let options = request.options
            guard !options.areUsual else { return }
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
                try applyOverride(options.addressOverrides, url: request.url)
            }
            try applyProxy(options.proxy)
            let isTunnelled = request.isSecure
            if let security = options.security, isTunnelled || options.proxySecurity == nil {
                try applySecurity(security)
            }
            if let security = options.proxySecurity {
                try applyProxySecurity(security, isTunnelled: isTunnelled)
            }
            // The next request is likely to want the same, unless it depends on the URL.
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
                try special(CURLOPT_NOPROXY, bypass.joined(separator: ","))
            }
        }

        /// Connects to other addresses than DNS would give, under a name of their own.
        ///
        /// The name keeps the connections, and libcurl's cache of addresses, apart from those of requests
        /// without the override. Host header and certificate check keep the URL's host.
        private func applyOverride(
            _ overrides: [String: [String]], url: URI
        ) throws(RequestError) {
            let host = url.host ?? ""
            let port = url.effectivePort
            guard let addresses = overrides["\(host):\(port)"], !addresses.isEmpty else { return }
            // A leading dash would have a meaning of its own to libcurl.
            let alias =
                "a"
                + String(
                    addresses.joined(separator: "-").map { $0.isLetter || $0.isNumber ? $0 : "-" })
            let list = addresses.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 }
                .joined(separator: ",")
            connectTo.removeAll()
            connectTo.append(line: "\(host):\(port):\(alias).override.invalid:\(port)")
            resolve.removeAll()
            resolve.append(line: "\(alias).override.invalid:\(port):\(list)")
            try expect(errand_set_pointer(handle, CURLOPT_CONNECT_TO, connectTo.chain()))
            try expect(errand_set_pointer(handle, CURLOPT_RESOLVE, resolve.chain()))
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
