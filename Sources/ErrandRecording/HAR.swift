import ErrandCore
public import ErrandHTTP
import ErrandJSON
public import ErrandSystem

/// An HTTP archive: requests and responses in the format HAR 1.2.
///
/// Browsers, proxies and other tools read and write it. Members that a tool leaves out have empty values. For
/// example, the slowest request of an archive:
///
///     let archive = try HAR(contentsOf: file)
///     let slowest = archive.log.entries.max { $0.time < $1.time }
///     print(slowest?.request.url ?? "")
public struct HAR: Sendable, Hashable, Codable {
    /// The only member of the document.
    public var log: Log

    /// Creates an archive of entries.
    public init(entries: [Entry] = []) { log = Log(entries: entries) }

    /// Reads an archive from a file.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if the file cannot be read, or is not an archive.
    public init(contentsOf file: URL) throws(RequestError) {
        do {
            let bytes = try FileAccess.contents(of: file)
            self = try JSONReader().decode(HAR.self, from: bytes)
        } catch {
            throw RequestError(
                .fileFailed, stage: .transport,
                "\(file.lastPathComponent) cannot be read as an HTTP archive (HAR 1.2): \(error)",
                underlying: error)
        }
    }

    /// The document's content.
    public struct Log: Sendable, Hashable, Codable {
        /// The version of the format, `1.2`.
        public var version = "1.2"
        /// The application that wrote the archive.
        public var creator = Creator()
        /// The requests, in the order in which they ended.
        public var entries: [Entry]
        /// A remark about the archive.
        public var comment: String?

        init(entries: [Entry]) { self.entries = entries }
    }

    /// The application that wrote an archive.
    public struct Creator: Sendable, Hashable, Codable {
        /// The name.
        public var name = "Errand"
        /// The version.
        public var version = DefaultHeaders.version

        init() {}
    }

    /// A request and its response.
    public struct Entry: Sendable, Hashable, Codable {
        /// The time at which the request started (ISO 8601).
        public var startedDateTime: String
        /// The duration in milliseconds, the sum of the phases.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response; its status is 0 if there was none.
        public var response: Response
        /// The use of the cache; empty for a request that was sent.
        public var cache: Cache
        /// The duration of the phases.
        public var timings: Timings
        /// The server's address.
        public var serverIPAddress: String?
        /// The number of the connection, which entries on one connection share; `nil` if it is unknown.
        public var connection: String?
        /// The interim responses (status 100 to 199) before the response, at most 100; `nil` without any.
        public var interimResponses: [InterimResponse]?
        /// The missing parts of the entry, with the reason.
        public var comment: String?
        /// The kind of cache that the response comes from, `disk` or `memory`; `nil` for a request that was sent.
        public var fromCache: String?
        /// The code of the error that ended the request; `nil` for a complete response.
        public var error: String?
        /// The kind of resource, as Chromium writes it: `websocket` for a WebSocket; otherwise `nil`.
        public var resourceType: String?
        /// The messages of a WebSocket, as Chromium writes them; `nil` for other entries.
        public var webSocketMessages: [WebSocketMessage]?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
            case resourceType = "_resourceType"
            case webSocketMessages = "_webSocketMessages"
            case connection
            case interimResponses = "_interimResponses"
            case fromCache = "_fromCache"
            case error = "_error"
        }

        init(
            started: Date, request: Request, response: Response, timings: Timings,
            cache: Cache = Cache()
        ) {
            startedDateTime = HAR.text(of: started)
            time = timings.total
            self.request = request
            self.response = response
            self.cache = cache
            self.timings = timings
        }
    }

    /// A request.
    public struct Request: Sendable, Hashable, Codable {
        /// The method.
        public var method: String
        /// The absolute URL without fragment.
        public var url: String
        /// The HTTP version, such as `HTTP/1.1`.
        public var httpVersion: String
        /// The cookies.
        public var cookies: [Cookie]
        /// The header fields.
        public var headers: [NameValue]
        /// The query arguments, decoded.
        public var queryString: [NameValue]
        /// The body; `nil` without one.
        public var postData: PostData?
        /// The size of the head in bytes; -1 if unknown.
        public var headersSize: Int64 = -1
        /// The size of the body in bytes; -1 if unknown.
        public var bodySize: Int64 = -1
    }

    /// A response.
    public struct Response: Sendable, Hashable, Codable {
        /// The status code; 0 without a response.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The HTTP version, such as `HTTP/1.1`.
        public var httpVersion: String
        /// The cookies that the response sets.
        public var cookies: [Cookie]
        /// The header fields.
        public var headers: [NameValue]
        /// The body.
        public var content: Content
        /// The URL of a redirect; empty without one.
        public var redirectURL: String
        /// The size of the head in bytes; -1 if unknown.
        public var headersSize: Int64 = -1
        /// The number of received bytes of the body, before content decoding; -1 if unknown.
        public var bodySize: Int64 = -1
        /// The trailer fields; `nil` without any.
        public var trailers: [NameValue]?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL
            case headersSize, bodySize
            case trailers = "_trailers"
        }
    }

    /// An interim response (RFC 9110 §15.2), such as 103 (Early Hints).
    public struct InterimResponse: Sendable, Hashable, Codable {
        /// The status code.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The header fields.
        public var headers: [NameValue]
    }

    /// A message of a WebSocket.
    public struct WebSocketMessage: Sendable, Hashable, Codable {
        /// The direction: `send` or `receive`; other tools also write `error`.
        public var type: String
        /// The time in seconds since 1970.
        public var time: Double
        /// The opcode of RFC 6455 §5.2: 1 for text, 2 for a binary message.
        public var opcode: Int
        /// The text, or the bytes in base64; empty if they were not recorded, with the reason in ``comment``.
        public var data: String
        /// Why ``data`` is missing; `nil` if it is not.
        public var comment: String?
    }

    /// A name and a value.
    public struct NameValue: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// A cookie.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The attribute `Path`.
        public var path: String?
        /// The attribute `Domain`.
        public var domain: String?
        /// The expiry date (ISO 8601).
        public var expires: String?
        /// The attribute `HttpOnly`.
        public var httpOnly: Bool?
        /// The attribute `Secure`.
        public var secure: Bool?
    }

    /// The body of a request.
    public struct PostData: Sendable, Hashable, Codable {
        /// The content type.
        public var mimeType: String
        /// The fields of a form; `nil` for other bodies.
        public var params: [Param]?
        /// The body as text; `nil` if it is withheld, or a form of parts.
        public var text: String?
        /// The missing parts, with the reason.
        public var comment: String?
        /// The encoding of ``text``, `base64` for bytes that are not text; `nil` for text.
        public var encoding: String?

        private enum CodingKeys: String, CodingKey {
            case mimeType, params, text, comment
            case encoding = "_encoding"
        }
    }

    /// A field of a form.
    public struct Param: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value, or the content of a file; `nil` if it is withheld or too large, with the reason in ``comment``.
        public var value: String?
        /// The name of a file.
        public var fileName: String?
        /// The content type of a part.
        public var contentType: String?
        /// The encoding of ``value``, `base64` for bytes that are not text; `nil` for text.
        public var encoding: String?
        /// The number of bytes of a file; `nil` if it is unknown.
        public var size: Int64?
        /// Why the value is missing; `nil` if it is not.
        public var comment: String?

        private enum CodingKeys: String, CodingKey {
            case name, value, fileName, contentType, comment
            case encoding = "_encoding"
            case size = "_size"
        }
    }

    /// The body of a response.
    public struct Content: Sendable, Hashable, Codable {
        /// The number of bytes after content decoding.
        public var size: Int64
        /// The number of bytes that the content coding has saved; `nil` if unknown.
        public var compression: Int64?
        /// The content type.
        public var mimeType: String
        /// The body as text; `nil` if it is withheld.
        public var text: String?
        /// The encoding of ``text``, `base64` for bytes that are not text; `nil` for text.
        public var encoding: String?
        /// The missing parts, with the reason.
        public var comment: String?
    }

    /// The use of the cache.
    public struct Cache: Sendable, Hashable, Codable {
        /// The stored response before the request; `nil` if there was none.
        public var beforeRequest: State?

        /// A stored response.
        public struct State: Sendable, Hashable, Codable {
            /// The time of the last use (ISO 8601).
            public var lastAccess: String
            /// The entity tag.
            public var eTag: String
            /// The number of uses.
            public var hitCount: Int
            /// The reason for which the stored response was used.
            public var comment: String?
        }
    }

    /// The duration of the phases in milliseconds; -1 for a phase that did not take place.
    public struct Timings: Sendable, Hashable, Codable {
        /// The wait for a connection.
        public var blocked: Double?
        /// The lookup of the host's address.
        public var dns: Double?
        /// The establishment of the connection, with ``ssl``.
        public var connect: Double?
        /// The sending of the request.
        public var send: Double = 0
        /// The wait for the response.
        public var wait: Double = 0
        /// The reading of the response.
        public var receive: Double = 0
        /// The TLS handshake.
        public var ssl: Double?

        /// The sum of the phases.
        var total: Double {
            [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1 ?? 0) }
        }
    }

    /// A time in the archive's form: ISO 8601 with milliseconds.
    static func text(of date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

// Other tools leave out members that the format requires.

extension HAR.Request {
    /// Reads a request; missing lists are empty, missing sizes unknown.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        cookies = try values.decodeIfPresent([HAR.Cookie].self, forKey: .cookies) ?? []
        headers = try values.decodeIfPresent([HAR.NameValue].self, forKey: .headers) ?? []
        queryString = try values.decodeIfPresent([HAR.NameValue].self, forKey: .queryString) ?? []
        postData = try values.decodeIfPresent(HAR.PostData.self, forKey: .postData)
        headersSize = try values.decodeIfPresent(Int64.self, forKey: .headersSize) ?? -1
        bodySize = try values.decodeIfPresent(Int64.self, forKey: .bodySize) ?? -1
    }
}

extension HAR.Response {
    /// Reads a response; missing lists are empty, missing sizes unknown.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        status = try values.decode(Int.self, forKey: .status)
        statusText = try values.decodeIfPresent(String.self, forKey: .statusText) ?? ""
        httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        cookies = try values.decodeIfPresent([HAR.Cookie].self, forKey: .cookies) ?? []
        headers = try values.decodeIfPresent([HAR.NameValue].self, forKey: .headers) ?? []
        content =
            try values.decodeIfPresent(HAR.Content.self, forKey: .content)
            ?? HAR.Content(size: 0, mimeType: "")
        redirectURL = try values.decodeIfPresent(String.self, forKey: .redirectURL) ?? ""
        headersSize = try values.decodeIfPresent(Int64.self, forKey: .headersSize) ?? -1
        bodySize = try values.decodeIfPresent(Int64.self, forKey: .bodySize) ?? -1
        trailers = try values.decodeIfPresent([HAR.NameValue].self, forKey: .trailers)
    }
}

extension HAR.Entry {
    /// Reads an entry; a missing cache is empty, missing timings are zero.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        startedDateTime = try values.decode(String.self, forKey: .startedDateTime)
        request = try values.decode(HAR.Request.self, forKey: .request)
        response = try values.decode(HAR.Response.self, forKey: .response)
        timings = try values.decodeIfPresent(HAR.Timings.self, forKey: .timings) ?? HAR.Timings()
        time = try values.decodeIfPresent(Double.self, forKey: .time) ?? timings.total
        cache = try values.decodeIfPresent(HAR.Cache.self, forKey: .cache) ?? HAR.Cache()
        serverIPAddress = try values.decodeIfPresent(String.self, forKey: .serverIPAddress)
        connection = try values.decodeIfPresent(String.self, forKey: .connection)
        interimResponses = try values.decodeIfPresent(
            [HAR.InterimResponse].self, forKey: .interimResponses)
        comment = try values.decodeIfPresent(String.self, forKey: .comment)
        fromCache = try values.decodeIfPresent(String.self, forKey: .fromCache)
        error = try values.decodeIfPresent(String.self, forKey: .error)
        resourceType = try values.decodeIfPresent(String.self, forKey: .resourceType)
        webSocketMessages = try values.decodeIfPresent(
            [HAR.WebSocketMessage].self, forKey: .webSocketMessages)
    }
}
