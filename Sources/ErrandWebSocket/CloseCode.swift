/// A status code of a close frame (RFC 6455 §7.4).
package struct CloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let normal = CloseCode(rawValue: 1000)
    package static let goingAway = CloseCode(rawValue: 1001)
    package static let protocolError = CloseCode(rawValue: 1002)
    package static let unsupportedData = CloseCode(rawValue: 1003)
    /// The close frame had no code; never sent.
    package static let none = CloseCode(rawValue: 1005)
    /// The connection ended without a close frame; never sent.
    package static let abnormal = CloseCode(rawValue: 1006)
    package static let invalidPayload = CloseCode(rawValue: 1007)
    package static let policyViolation = CloseCode(rawValue: 1008)
    package static let messageTooBig = CloseCode(rawValue: 1009)
    package static let missingExtension = CloseCode(rawValue: 1010)
    package static let internalError = CloseCode(rawValue: 1011)
    package static let serviceRestart = CloseCode(rawValue: 1012)
    package static let tryAgainLater = CloseCode(rawValue: 1013)
    package static let badGateway = CloseCode(rawValue: 1014)

    package var description: String { "\(rawValue)" }

    /// Whether a close frame may have this code.
    ///
    /// RFC 6455 §7.4.1 reserves 1004, and 1005, 1006 and 1015 never are in a frame; IANA has registered 1012 to 1014.
    /// §7.4.2: the others below 3000 have no meaning yet, and 3000 to 4999 belong to libraries and applications.
    package var isOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
