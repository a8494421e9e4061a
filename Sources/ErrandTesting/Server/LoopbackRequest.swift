import ErrandHTTP
public import ErrandSystem

/// A header field line as it was sent.
public struct LoopbackHeader: Sendable, Hashable, CustomStringConvertible {
    /// The name, in its original case.
    public var name: String
    /// The value, without leading white space.
    public var value: String

    /// Creates a header field line.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The line's text: `name: value`.
    public var description: String { "\(name): \(value)" }
}

/// A request as ``LoopbackServer`` received it.
public struct LoopbackRequest: Sendable {
    /// The request's number on the server, from 0.
    public var number: Int
    /// The number of the connection, from 0.
    ///
    /// Requests on the same connection have the same number.
    public var connection: Int
    /// The method, as sent.
    public var method: String
    /// The request target, as sent: usually path and query.
    public var target: String
    /// The protocol version of the request line, such as `HTTP/1.1`.
    public var version: String
    /// All header lines, in order, with duplicates.
    public var headers: [LoopbackHeader]
    /// The body without its transfer coding; at most the first 64 MiB.
    public var body = Data()
    /// The trailer lines after a chunked body, in order; complete with the body.
    public var trailers: [LoopbackHeader] = []
    /// The number of received body bytes.
    public var bodyBytes = 0
    /// Whether the body was received completely.
    public var isComplete = false

    /// Creates a request, to test a handler without a server.
    public init(
        number: Int = 0, connection: Int = 0, method: String = "GET", target: String = "/",
        version: String = "HTTP/1.1", headers: [LoopbackHeader] = []
    ) {
        self.number = number
        self.connection = connection
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    /// The target without its query.
    public var path: String {
        String(target.prefix(upToByte: "?"))
    }

    /// The part of the target after the first `?`; `nil` without a `?`.
    public var query: String? {
        guard let mark = target.firstIndex(ofByte: "?") else { return nil }
        return String(target[target.utf8.index(after: mark)...])
    }

    /// The values of all header lines with the name, in order.
    ///
    /// Names are compared without case.
    public func values(of name: String) -> [String] {
        headers.filter { $0.name.lowercasedASCII() == name.lowercasedASCII() }.map(\.value)
    }

    /// The value of the first header line with the name.
    ///
    /// Names are compared without case.
    public func header(_ name: String) -> String? { values(of: name).first }

    static let maximumRecordedBody = 64 << 20
}
