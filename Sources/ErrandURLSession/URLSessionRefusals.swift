import ErrandCore
import Foundation
import HTTPTypes

/// What URLSession cannot do, found before anything is sent.
enum URLSessionRefusals {
    /// Why the request cannot be carried out as it is; `nil` when it can.
    static func refusal(of request: TransportRequest) -> RequestError? {
        if let error = malformation(of: request) { return error }
        let reason =
            body(request) ?? version(request) ?? route(request.options)
            ?? request.options.security.flatMap(security)
            ?? platformRefusal(of: request)
            ?? (request.options.decodesContent
                ? nil : "always decodes gzip, deflate, br and zstd")
        return reason.map { reason in
            RequestError(
                .unsupported, stage: .transport,
                "URLSession \(reason). Use CurlTransport, or leave that setting alone.")
        }
    }

    private static func malformation(of request: TransportRequest) -> RequestError? {
        guard HTTPRequest.Method(request.method.rawValue) != nil else {
            return RequestError(
                .invalidMethod, stage: .transport,
                "The method is not a token; use letters, digits and -.")
        }
        guard request.url.isAbsoluteHTTP, WireRequest.url(of: request) != nil else {
            return RequestError(
                .invalidURL, stage: .transport,
                "\(request.url.redacted) is no absolute http or https address.")
        }
        return nil
    }

    private static func body(_ request: TransportRequest) -> String? {
        guard request.body != nil else { return nil }
        if request.method == .get { return "cannot send a body with GET" }
        if request.method == .head { return "cannot send a body with HEAD" }
        return nil
    }

    private static func version(_ request: TransportRequest) -> String? {
        switch request.options.httpVersion {
        case .automatic: nil
        // Without TLS it speaks nothing else.
        case .http11 where request.url.scheme == "http": nil
        case .http11: "cannot be held to HTTP/1.1 over TLS"
        case .http2: "cannot insist on HTTP/2"
        case .http2PriorKnowledge: "cannot speak HTTP/2 without TLS"
        }
    }

    private static func route(_ options: TransportOptions) -> String? {
        if options.proxy != .environment { return "takes its proxy from the environment only" }
        if options.proxySecurity != nil {
            return "trusts the system's certificates of proxies only"
        }
        if !options.addressOverrides.isEmpty { return "has no address overrides" }
        if options.addressFamily != .any { return "cannot choose between IPv4 and IPv6" }
        if options.unixSocketPath != nil { return "cannot connect to Unix sockets" }
        return nil
    }

    private static func security(_ policy: SecurityPolicy) -> String? {
        if policy.authorities != nil || policy.authorityFile != nil {
            return "trusts the system's certificates only"
        }
        if !policy.publicKeyPins.isEmpty || !policy.pins.isEmpty { return "cannot pin here" }
        if policy.clientCertificateFile != nil || policy.clientKeyFile != nil
            || policy.clientIdentity != nil
        {
            return "cannot show a client certificate here"
        }
        if policy.allowInvalidCertificates || !policy.validatesDomainName {
            return "always checks certificate and host name here"
        }
        if policy.minimumVersion != .tls12 { return "has no lowest TLS version to set here" }
        return nil
    }
}
