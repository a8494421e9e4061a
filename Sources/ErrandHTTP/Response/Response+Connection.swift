import Synchronization

extension Response {
    /// A connection of a transport, as events describe it.
    public struct Connection: Sendable, Hashable, Identifiable {
        /// The number of the connection, which is unique within the process.
        public var id: UInt64 {
            get { shared.value.id }
            set { change { $0.id = newValue } }
        }
        /// The host to which the connection leads: the server, or the proxy that gets requests with complete URLs.
        ///
        /// `CurlTransport` names the server instead of the proxy if some hosts bypass the proxy, and both have the same
        /// port.
        public var host: String {
            get { shared.value.host }
            set { change { $0.host = newValue } }
        }
        /// The port of this host.
        public var port: Int {
            get { shared.value.port }
            set { change { $0.port = newValue } }
        }
        /// The peer's address as `IP:port`; `nil` if it is unknown, such as that of a Unix domain socket.
        public var remoteAddress: String? {
            get { shared.value.remoteAddress }
            set { change { $0.remoteAddress = newValue } }
        }
        /// Whether TLS protects the connection to the server; TLS to a proxy alone does not.
        public var isSecure: Bool {
            get { shared.value.isSecure }
            set { change { $0.isSecure = newValue } }
        }
        /// The HTTP version; `nil` if it is not known when the connection is opened.
        public var httpVersion: HTTPVersion? {
            get { shared.value.httpVersion }
            set { change { $0.httpVersion = newValue } }
        }

        private struct Fields: Sendable, Hashable {
            var id: UInt64
            var host: String
            var port: Int
            var remoteAddress: String?
            var isSecure: Bool
            var httpVersion: HTTPVersion?
        }

        // One reference, because each request on the connection passes it.
        private var shared: Shared<Fields>

        private mutating func change(_ change: (inout Fields) -> Void) {
            shared = shared.changed(change)
        }

        /// Whether all properties are equal.
        public static func == (one: Self, other: Self) -> Bool {
            one.shared === other.shared || one.shared.value == other.shared.value
        }

        /// Hashes all properties.
        public func hash(into hasher: inout Hasher) { hasher.combine(shared.value) }

        /// Creates the description of a connection.
        ///
        /// - Parameters:
        ///   - id: The number. Default: the next number of the process.
        ///   - host: The host to which the connection leads.
        ///   - port: The port of this host.
        ///   - remoteAddress: The peer's address as `IP:port`. Default `nil`: unknown.
        ///   - isSecure: Whether TLS protects the connection to the server.
        ///   - httpVersion: The HTTP version. Default `nil`: unknown.
        public init(
            id: UInt64? = nil, host: String, port: Int, remoteAddress: String? = nil,
            isSecure: Bool,
            httpVersion: HTTPVersion? = nil
        ) {
            shared = Shared(
                Fields(
                    id: id ?? Self.lastID.add(1, ordering: .relaxed).newValue, host: host,
                    port: port, remoteAddress: remoteAddress, isSecure: isSecure,
                    httpVersion: httpVersion))
        }

        private static let lastID = Atomic<UInt64>(0)
    }
}

extension Response.Connection: CustomStringConvertible {
    /// The number, the host and the port.
    public var description: String { "connection \(id) to \(host):\(port)" }
}

extension Response.Connection {
    /// The opening or the end of a connection.
    public struct Event: Sendable, Hashable {
        /// The name of the transport, such as `curl`.
        public var transport: String
        /// The connection.
        public var connection: Response.Connection
        /// Why the connection was closed; `nil` if it was opened.
        public var closeReason: CloseReason?
        /// The number of connections that the transport has open after this event, in use and idle.
        public var openConnections: Int
        /// The time of the event on the agent's clock (``RequestClock/uptime``), when the agent received it.
        public var uptime: Duration

        /// Creates an event.
        public init(
            transport: String, connection: Response.Connection, closeReason: CloseReason?,
            openConnections: Int, uptime: Duration = .zero
        ) {
            self.transport = transport
            self.connection = connection
            self.closeReason = closeReason
            self.openConnections = openConnections
            self.uptime = uptime
        }
    }

    /// Why a connection was closed.
    ///
    /// Reasons may be added. One that this version does not know is decoded with its name.
    public struct CloseReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The name, such as `idleLimit`.
        public var rawValue: String

        /// Creates a reason with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name.
        public var description: String { rawValue }

        /// The connection was idle for longer than the transport's limit.
        public static let idleLimit = CloseReason(rawValue: "idleLimit")
        /// The limit of connections was reached: of idle ones, or for another host.
        public static let poolFull = CloseReason(rawValue: "poolFull")
        /// The server closed the connection, between two requests or before it responded.
        public static let serverClosed = CloseReason(rawValue: "serverClosed")
        /// The server sent data that belongs to no request (RFC 9112 §9.2).
        public static let unsolicitedData = CloseReason(rawValue: "unsolicitedData")
        /// The request or the response allowed no further request, such as with `Connection: close` (RFC 9112 §9.3).
        public static let notPersistent = CloseReason(rawValue: "notPersistent")
        /// The server has negotiated another HTTP version, so that the connection has no use.
        public static let superseded = CloseReason(rawValue: "superseded")
        /// The request on the connection was cancelled.
        public static let cancelled = CloseReason(rawValue: "cancelled")
        /// The request on the connection exceeded a time limit.
        public static let timedOut = CloseReason(rawValue: "timedOut")
        /// The request on the connection failed.
        public static let failed = CloseReason(rawValue: "failed")
        /// The agent, or the transport, was shut down or released.
        public static let shutDown = CloseReason(rawValue: "shutDown")
        /// The transport does not know the reason.
        public static let unknown = CloseReason(rawValue: "unknown")
    }
}

/// The opening or the end of a connection.
public typealias ConnectionEvent = Response.Connection.Event

extension Response.Connection: Codable {
    /// Reads a connection; an unknown HTTP version is `nil`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decodeIfPresent(String.self, forKey: .httpVersion)
        self.init(
            id: try values.decode(UInt64.self, forKey: .id),
            host: try values.decode(String.self, forKey: .host),
            port: try values.decode(Int.self, forKey: .port),
            remoteAddress: try values.decodeIfPresent(String.self, forKey: .remoteAddress),
            isSecure: try values.decode(Bool.self, forKey: .isSecure),
            httpVersion: version.flatMap { HTTPVersion(rawValue: $0) })
    }

    /// Writes the connection.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(host, forKey: .host)
        try values.encode(port, forKey: .port)
        try values.encodeIfPresent(remoteAddress, forKey: .remoteAddress)
        try values.encode(isSecure, forKey: .isSecure)
        try values.encodeIfPresent(httpVersion?.rawValue, forKey: .httpVersion)
    }

    private enum CodingKeys: String, CodingKey {
        case id, host, port, remoteAddress, isSecure, httpVersion
    }
}

extension Response.Connection.CloseReason: Codable {}

extension Response.Connection.Event: Codable {
    /// Reads an event.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        transport = try values.decode(String.self, forKey: .transport)
        connection = try values.decode(Response.Connection.self, forKey: .connection)
        closeReason = try values.decodeIfPresent(
            Response.Connection.CloseReason.self, forKey: .closeReason)
        openConnections = try values.decode(Int.self, forKey: .openConnections)
        uptime = .nanoseconds(try values.decode(Int64.self, forKey: .uptime))
    }

    /// Writes the event; `uptime` is a number of nanoseconds.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(transport, forKey: .transport)
        try values.encode(connection, forKey: .connection)
        try values.encodeIfPresent(closeReason, forKey: .closeReason)
        try values.encode(openConnections, forKey: .openConnections)
        try values.encode(uptime.wholeNanoseconds, forKey: .uptime)
    }

    private enum CodingKeys: String, CodingKey {
        case transport, connection, closeReason, openConnections, uptime
    }
}
