public import Foundation

/// A header line as it went over the wire.
public struct LoopbackHeader: Sendable, Hashable, CustomStringConvertible {
    /// The name, in the case in which it was written.
    public var name: String
    /// The value, without white space around it.
    public var value: String

    /// Makes a header line.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The line as it is written.
    public var description: String { "\(name): \(value)" }
}

/// A request as ``LoopbackServer`` received it.
public struct LoopbackRequest: Sendable {
    /// Counts all requests of the server, from 0.
    public var number: Int
    /// Counts the server's connections, from 0: two requests with the same one shared it.
    public var connection: Int
    /// The method, as written.
    public var method: String
    /// The target, as written: path and query.
    public var target: String
    /// What stood behind the target, such as `HTTP/1.1`.
    public var version: String
    /// All header lines, in order, as often as they came.
    public var headers: [LoopbackHeader]
    /// The body, without its transfer coding: at most its first 64 MiB.
    public var body = Data()
    /// How many bytes of body came.
    public var bodyBytes = 0
    /// Whether the body came to its end.
    public var isComplete = false

    /// Makes a request as if it had come, to try a handler without a server.
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

    /// The target up to its query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// What follows the first `?` of the target; `nil` when there is none.
    public var query: String? {
        guard let mark = target.firstIndex(of: "?") else { return nil }
        return String(target[target.index(after: mark)...])
    }

    /// The values of all header lines of that name, in order; case does not matter.
    public func values(of name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The value of the first header line of that name; case does not matter.
    public func header(_ name: String) -> String? { values(of: name).first }

    static let maximumRecordedBody = 64 << 20
}
