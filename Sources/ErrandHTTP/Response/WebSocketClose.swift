/// The end of a WebSocket (RFC 6455 §7.1).
public struct WebSocketClose: Sendable, Hashable, Codable {
    /// The code of the peer's close frame, or ``Code/none`` without one in the frame, or ``Code/abnormal`` without a
    /// frame.
    ///
    /// If this side has ended the connection, the code that it has sent.
    public let code: Code
    /// The reason of the peer's close frame, for logs; empty without one.
    public let reason: String
    /// Whether both sides have sent close frames (RFC 6455 §7.1.4).
    public let isClean: Bool

    /// Creates a value.
    public init(code: Code, reason: String = "", isClean: Bool) {
        (self.code, self.reason, self.isClean) = (code, reason, isClean)
    }

    /// A status code of a close frame (RFC 6455 §7.4); applications have 4000 to 4999.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable,
        CustomStringConvertible
    {
        /// The number.
        public let rawValue: UInt16

        /// Creates a code from a number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// 1000: the purpose of the connection is fulfilled.
        public static let normal = Code(rawValue: 1000)
        /// 1001: the peer goes away, for example because a server shuts down.
        public static let goingAway = Code(rawValue: 1001)
        /// 1002: the peer has broken the protocol.
        public static let protocolError = Code(rawValue: 1002)
        /// 1003: the kind of a message is not accepted.
        public static let unsupportedData = Code(rawValue: 1003)
        /// 1005: the close frame had no code; never sent.
        public static let none = Code(rawValue: 1005)
        /// 1006: the connection ended without a close frame; never sent.
        public static let abnormal = Code(rawValue: 1006)
        /// 1007: text was not UTF-8, or compression was corrupt.
        public static let invalidPayload = Code(rawValue: 1007)
        /// 1008: a message violates a policy.
        public static let policyViolation = Code(rawValue: 1008)
        /// 1009: a message is too large.
        public static let messageTooBig = Code(rawValue: 1009)
        /// 1010: the server did not negotiate an extension properly.
        public static let missingExtension = Code(rawValue: 1010)
        /// 1011: an unexpected condition, for example a peer that is lost.
        public static let internalError = Code(rawValue: 1011)
        /// 1012: the service restarts.
        public static let serviceRestart = Code(rawValue: 1012)
        /// 1013: the service is overloaded.
        public static let tryAgainLater = Code(rawValue: 1013)
        /// 1014: a gateway got an invalid response.
        public static let badGateway = Code(rawValue: 1014)

        /// The number.
        public var description: String { "\(rawValue)" }

        /// Whether a close frame may have this code.
        ///
        /// RFC 6455 §7.4.1 reserves 1004, and 1005, 1006 and 1015 are never in a frame; IANA has registered 1012 to
        /// 1014. §7.4.2: the others below 3000 have no meaning yet; 3000 to 4999 belong to libraries and applications.
        public var isAllowedInFrames: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }
    }
}
