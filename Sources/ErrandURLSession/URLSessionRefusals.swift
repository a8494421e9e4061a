import ErrandTransport

/// Finds requests that `URLSession` cannot send as described.
enum URLSessionRefusals {
    /// The error for a request that cannot be sent as described; `nil` if it can be sent.
    static func refusal(of request: TransportRequest) -> RequestError? {
        if let error = mistake(in: request) { return error }
        let reason =
            upgrade(request) ?? body(request) ?? bodyOfStream(request) ?? version(request) ?? route(
                request.options)
            ?? request.options.security.flatMap(policyRefusal)
            ?? platformRefusal(of: request)
            ?? (request.options.decodesContent
                ? nil : "always decodes gzip, deflate, br and zstd")
        return reason.map { reason in
            RequestError(
                .unsupported, stage: .transport,
                "URLSession \(reason). \(advice)")
        }
    }

    private static func mistake(in request: TransportRequest) -> RequestError? {
        do throws(RequestError) {
            try request.checkForMistakes()
        } catch {
            return error
        }
        guard WireRequest.url(of: request) != nil else {
            return RequestError(
                .invalidURL, stage: .build,
                "\(request.url.redacted) is not a URL that Foundation can connect to.")
        }
        return nil
    }

    private static func upgrade(_ request: TransportRequest) -> String? {
        request.options.isUpgrade ? "hands no connection over to a WebSocket" : nil
    }

    private static func body(_ request: TransportRequest) -> String? {
        if request.body?.trailerSource != nil { return "cannot send trailers" }
        return request.body != nil && request.method == .get ? "cannot send a body with GET" : nil
    }

    /// The transport copies such a body before it sends any of it; see ``BodyBuffer``.
    private static func bodyOfStream(_ request: TransportRequest) -> String? {
        guard request.options.isStreamed, case .stream(length: nil, _) = request.body?.storage
        else { return nil }
        return "cannot stream a response while it sends a body of unknown length"
    }

    private static func version(_ request: TransportRequest) -> String? {
        switch request.options.httpVersion {
        case .automatic: nil
        // Without TLS, URLSession always uses HTTP/1.1.
        case .http11 where request.url.scheme == "http": nil
        case .http11: "cannot be restricted to HTTP/1.1 over TLS"
        case .http2: "cannot require HTTP/2"
        case .http2PriorKnowledge: "does not support HTTP/2 without TLS"
        }
    }

    private static func route(_ options: TransportOptions) -> String? {
        if options.proxy != .environment { return "uses only the proxy of the environment" }
        if options.proxySecurity != nil {
            return "supports only the system's certificate authorities for proxies"
        }
        if !options.addressOverrides.isEmpty { return "does not support address overrides" }
        if options.addressFamily != .any { return "cannot choose between IPv4 and IPv6" }
        if options.unixSocketPath != nil { return "cannot connect to Unix sockets" }
        return nil
    }
}
