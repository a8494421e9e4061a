import ErrandCore

/// A feature that not every transport supports, as listed in the table of `Errand.docc/Transports.md`.
enum Capability: String, CaseIterable, Sendable {
    case bodyWithGET, requestTrailers, ipv6Literal, repeatedRequestHeaders, repeatedResponseHeaders
    case latin1Headers, laxHeaders, trailers, cutOffHead, hugeContentLength
    case bodyOfUnusableRedirect, truncatedEncoding, paddedEncoding, undecodedContent,
        decodingRatioWithoutLength
    case versionAndAddress, phaseTimings, connectionPause, streamsWithoutSpooling
    case keptConnectionsForAllMethods
    case http11OverTLS, http2Only, http2PriorKnowledge
    case ownAuthorities, pinnedKeys, clientCertificates, minimumTLSVersion, uncheckedCertificates
    case proxyByName, secureProxies, noProxy, addressOverrides, addressFamily, unixSockets

    /// The label of the capability in the table.
    var summary: String {
        switch self {
        case .bodyWithGET: "GET with a body"
        case .requestTrailers: "Trailers after a request body, over HTTP/1.1"
        case .ipv6Literal: "IPv6 addresses in URLs, `http://[::1]/`"
        case .repeatedRequestHeaders: "Request headers in order and as often as given"
        case .repeatedResponseHeaders: "Response headers in order, as often and as written"
        case .latin1Headers: "Response headers that are not UTF-8"
        case .laxHeaders: "`Name:value` without a space, lines that end in LF only"
        case .trailers: "Trailers after a chunked response body"
        case .cutOffHead: "A connection closed within the response head"
        case .hugeContentLength: "A `Content-Length` close to 2^63"
        case .bodyOfUnusableRedirect: "The body of a redirect without a usable `Location`"
        case .paddedEncoding: "gzip with several members, or with zeros after the last"
        case .truncatedEncoding: "A truncated body in a content coding is detected"
        case .undecodedContent: "`decodesContent = false`"
        case .decodingRatioWithoutLength: "`maximumDecodingRatio` for responses without a length"
        case .versionAndAddress: "HTTP version and peer address of the response"
        case .phaseTimings: "Times of DNS, connect and TLS"
        case .connectionPause: "Pausing stops the connection, not only the receiver"
        case .streamsWithoutSpooling: "Async-sequence bodies are sent while they are produced"
        case .keptConnectionsForAllMethods: "Kept connections for POST and other methods"
        case .http11OverTLS: "`httpVersion = .http11` over TLS"
        case .http2Only: "`httpVersion = .http2`"
        case .http2PriorKnowledge: "`httpVersion = .http2PriorKnowledge`"
        case .ownAuthorities: "Own certificate authorities"
        case .pinnedKeys: "Pinned keys and certificates"
        case .clientCertificates: "Client certificates, PEM and PKCS#12"
        case .minimumTLSVersion: "A minimum TLS version above 1.2"
        case .uncheckedCertificates: "`allowInvalidCertificates`, `validatesDomainName = false`"
        case .proxyByName: "A proxy by name"
        case .secureProxies: "`https://` proxies, with authorities of their own"
        case .noProxy: "No proxy, regardless of the environment"
        case .addressOverrides: "Address overrides"
        case .addressFamily: "Choice of IPv4 or IPv6"
        case .unixSockets: "Unix sockets"
        }
    }

    /// Empty on Linux, because of limitations of FoundationNetworking in Swift 6.3.1.
    static let ofURLSession: Set<Capability> = []
    static let ofCurl = Set(Capability.allCases)

    /// `request`, changed so that it needs the capability; `nil` if `check` cannot detect the need before sending.
    func requiringRequest(from request: TransportRequest) -> TransportRequest? {
        var request = request
        var security = SecurityPolicy()
        switch self {
        case .bodyWithGET:
            request.method = .get
            request.body = .string("x")
        case .requestTrailers:
            request.method = .post
            request.body = .string("x").trailers(["X-Sum"]) { [:] }
        case .ipv6Literal: request.url.host = "[::1]"
        case .undecodedContent: request.options.decodesContent = false
        case .http11OverTLS:
            request.url.scheme = "https"
            request.options.httpVersion = .http11
        case .http2Only:
            request.url.scheme = "https"
            request.options.httpVersion = .http2
        case .http2PriorKnowledge: request.options.httpVersion = .http2PriorKnowledge
        case .ownAuthorities: security.authorityFile = "/etc/ssl/certs/ca-certificates.crt"
        case .pinnedKeys:
            let pin = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            security.pins = [
                SecurityPolicy.Pins("127.0.0.1", publicKeys: [pin], isReportOnly: true)
            ]
        case .clientCertificates:
            security.clientIdentity = .pkcs12(file: "/nowhere.p12", password: "")
        case .minimumTLSVersion: security.minimumVersion = .tls13
        case .uncheckedCertificates: security = .insecureForTests
        case .proxyByName: request.options.proxy = .url("http://127.0.0.1:1")
        case .secureProxies: request.options.proxySecurity = .insecureForTests
        case .noProxy: request.options.proxy = .none
        case .addressOverrides:
            request.options.addressOverrides = ["example.com:80": ["127.0.0.1"]]
        case .addressFamily: request.options.addressFamily = .ipv4
        case .unixSockets: request.options.unixSocketPath = "/nowhere.sock"
        default: return nil
        }
        if security != SecurityPolicy() {
            request.url.scheme = "https"
            request.options.security = security
        }
        return request
    }
}
