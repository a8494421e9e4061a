import ErrandCore
import HTTPTypes

/// Attribute names of the OpenTelemetry semantic conventions for HTTP clients, and Errand's own.
enum HTTPAttribute {
    static let method = "http.request.method"
    static let originalMethod = "http.request.method_original"
    static let status = "http.response.status_code"
    static let resendCount = "http.request.resend_count"
    static let requestBodySize = "http.request.body.size"
    static let responseBodySize = "http.response.body.size"
    static let url = "url.full"
    static let scheme = "url.scheme"
    static let address = "server.address"
    static let port = "server.port"
    static let peerAddress = "network.peer.address"
    static let peerPort = "network.peer.port"
    static let protocolVersion = "network.protocol.version"
    static let errorType = "error.type"

    static let endpoint = "errand.endpoint"
    static let task = "errand.task"
    static let tag = "errand.tag"
    static let source = "errand.source"
    static let transport = "errand.transport"
    static let outcome = "errand.outcome"
    static let direction = "errand.direction"
    static let closeCode = "errand.websocket.close_code"

    /// The methods that the conventions know; any other is `_OTHER`, so that a value from outside cannot create a series.
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    /// The value of `http.request.method`.
    static func name(of method: HTTPMethod) -> String {
        methods.contains(method.rawValue) ? method.rawValue : "_OTHER"
    }

    /// The value of `network.protocol.version`.
    static func name(of version: HTTPVersion) -> String {
        switch version {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        case .http3: "3"
        }
    }

    /// The value of `error.type`: the status code, or the code of the error.
    static func type(of error: RequestError) -> String {
        if error.code == .unacceptableStatus, let status = error.response?.status.code {
            return "\(status)"
        }
        return "\(error.code)"
    }
}

extension WebSocketClose.Code {
    /// The value of `errand.websocket.close_code`: a code that RFC 6455 and IANA name, otherwise `3xxx`, `4xxx` or
    /// `_OTHER`, so that a server cannot create any number of series.
    var bounded: String {
        switch rawValue {
        case 1000...1015: description
        case 3000...3999: "3xxx"
        case 4000...4999: "4xxx"
        default: BoundedNames.other
        }
    }
}

extension HTTPURL {
    /// The port, with the scheme's default if the URL has none.
    var observedPort: Int? { port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil) }
}
