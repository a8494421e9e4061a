import ErrandHTTP
import ErrandTransport
import HTTPTypes

/// The head of a request in HTTP/2 (RFC 9113 §8.3.1).
///
/// The initializer refuses what must not be sent, before a stream is opened: the table of the encoder
/// must not contain fields that the peer does not get. Fields of HTTP/1.1 connections have no
/// meaning in HTTP/2 and are left out (§8.2.2), like `Host`, `Content-Length` and
/// `Transfer-Encoding`, which the transport decides. `Expect: 100-continue` is left out if there is
/// no body (RFC 9110 §10.1.1).
final class RequestHead: Sendable {
    /// The body, as the head announces it.
    struct Body: Sendable, Hashable {
        /// The number of bytes; `nil` if it is unknown.
        var length: Int64?
        /// The names of the trailers.
        var trailers: [String] = []

        /// Whether no DATA follows the head.
        var isEmpty: Bool { length == 0 && trailers.isEmpty }
    }

    let method: String
    let scheme: String
    /// The protocol of an extended CONNECT (RFC 8441 §4).
    let protocolName: String?
    private let url: HTTPURL
    let fields: [HTTPField]
    /// What the stream has to know.
    let stream: StreamState.Request

    /// Creates the head of a request.
    ///
    /// - Parameters:
    ///   - body: The announced body; `nil` if there is none.
    ///   - codings: The field that announces content codings, unless the request names its own.
    ///   - protocolName: The protocol of an extended CONNECT, such as `websocket`.
    init(
        _ request: TransportRequest, body: Body?, codings: HTTPField?, protocolName: String? = nil
    ) throws(RequestError) {
        try request.method.check()
        try request.checkURL()
        url = request.url
        self.protocolName = protocolName
        method = protocolName == nil ? request.method.rawValue : "CONNECT"
        scheme = request.isSecure ? "https" : "http"
        let body = body?.isEmpty == true ? nil : body
        var stream = StreamState.Request()
        stream.isHead = request.method == .head
        stream.isConnect = protocolName != nil
        stream.hasBody = body != nil || protocolName != nil
        stream.maximumHeadBytes = request.options.maximumHeadBytes
        self.stream = stream
        fields = try Self.fields(
            of: request, body: body, codings: codings, isTunnel: protocolName != nil)
    }

    /// The port, unless it is the default (RFC 9110 §4.2.3).
    private var port: Int? {
        guard let port = url.port, port != (url.isHTTPS ? 443 : 80) else { return nil }
        return port
    }

    /// Host and port.
    var authority: String { HeaderEncoder.authority(url.host ?? "", port) }

    private static func fields(
        of request: TransportRequest, body: Body?, codings: HTTPField?, isTunnel: Bool
    ) throws(RequestError) -> [HTTPField] {
        let headers = request.headers
        var fields: [HTTPField] = []
        fields.reserveCapacity(headers.count + 3)
        var contentType = request.body?.contentType
        var announcesCodings = request.options.decodesContent
        let trailers = body?.trailers ?? []
        for field in headers {
            let name = field.name.canonicalName
            // Comparing lengths costs less than comparing strings.
            switch name.utf8.count {
            case 2 where name == "te":
                guard field.value.lowercasedASCII() == "trailers" else { continue }
            case 4 where name == "host": continue
            case 6 where name == "expect" && body == nil && isContinue(field): continue
            case 7 where name == "upgrade" || name == "trailer" && !trailers.isEmpty: continue
            case 10 where name == "connection" || name == "keep-alive": continue
            case 12 where name == "content-type": contentType = nil
            case 14 where name == "content-length" || name == "http2-settings": continue
            case 16 where name == "proxy-connection": continue
            case 17 where name == "transfer-encoding": continue
            // RFC 8441 §5: the stream takes the place of the key.
            case 17 where name == "sec-websocket-key" && isTunnel: continue
            case 19 where name == "proxy-authorization":
                throw TransportRequest.hasProxyAuthorization
            // A range selects bytes of the encoded form (RFC 9110 §14.2), and a part of it could not be
            // decoded.
            case 15 where name == "accept-encoding": announcesCodings = false
            case 5 where name == "range": announcesCodings = false
            default: break
            }
            guard isValid(field) else {
                throw RequestError(
                    .invalidHeader, stage: .build,
                    "The value of the header \(field.name.rawName) contains CR, LF or NUL.")
            }
            fields.append(field)
        }
        if let contentType { fields.append(HTTPField(name: .contentType, value: contentType)) }
        if announcesCodings, let codings { fields.append(codings) }
        if !trailers.isEmpty {
            try TrailerSource.check(trailers)
            fields.append(HTTPField(name: .trailer, value: trailers.joined(separator: ", ")))
        }
        if let length = body?.length {
            fields.append(HTTPField(name: .contentLength, value: String(length)))
        } else if body == nil, !isTunnel,
            request.method == .post || request.method == .put || request.method == .patch
        {
            // A method that expects a body announces an empty one (RFC 9110 §8.6).
            fields.append(HTTPField(name: .contentLength, value: "0"))
        }
        return fields
    }

    private static func isContinue(_ field: HTTPField) -> Bool {
        field.value.lowercasedASCII() == "100-continue"
    }

    private static func isValid(_ field: HTTPField) -> Bool {
        field.withUnsafeBytesOfValue { value in
            value.allSatisfy { $0 > 0x0D || $0 != 0x0D && $0 != 0x0A && $0 != 0 }
        }
    }

    /// The size of the field section, as `SETTINGS_MAX_HEADER_LIST_SIZE` limits it (RFC 9113 §6.5.2).
    var listSize: Int {
        let path = max(1, url.path.utf8.count) + (url.query.map { $0.utf8.count + 1 } ?? 0)
        var size = ":method:scheme:authority:path".utf8.count + 4 * 32
        size += method.utf8.count + scheme.utf8.count + authority.utf8.count + path
        if let protocolName { size += ":protocol".utf8.count + protocolName.utf8.count + 32 }
        for field in fields {
            size +=
                field.name.canonicalName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 32
        }
        return size
    }

    /// Writes the fields of the head.
    ///
    /// - Parameter scratch: A buffer for the path, which is overwritten.
    func write(with encoder: inout HeaderEncoder, scratch: TextBuffer, into output: TextBuffer) {
        encoder.append(method: method, into: output)
        encoder.append(scheme: scheme, into: output)
        encoder.append(host: url.host ?? "", port: port, into: output)
        scratch.removeAll()
        scratch.appendTarget(of: url)
        encoder.append(path: scratch.contents, into: output)
        if let protocolName { encoder.append(protocolName: protocolName, into: output) }
        for field in fields { encoder.append(field, into: output) }
    }
}
