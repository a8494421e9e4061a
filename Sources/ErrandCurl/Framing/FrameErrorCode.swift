/// An error code of RST_STREAM and GOAWAY (RFC 9113 §7); unknown codes are kept.
struct FrameErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    static let noError = Self(rawValue: 0x0)
    static let protocolError = Self(rawValue: 0x1)
    static let internalError = Self(rawValue: 0x2)
    static let flowControlError = Self(rawValue: 0x3)
    static let settingsTimeout = Self(rawValue: 0x4)
    static let streamClosed = Self(rawValue: 0x5)
    static let frameSizeError = Self(rawValue: 0x6)
    static let refusedStream = Self(rawValue: 0x7)
    static let cancel = Self(rawValue: 0x8)
    static let compressionError = Self(rawValue: 0x9)
    static let connectError = Self(rawValue: 0xA)
    static let enhanceYourCalm = Self(rawValue: 0xB)
    static let inadequateSecurity = Self(rawValue: 0xC)
    static let http11Required = Self(rawValue: 0xD)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    var description: String {
        rawValue < Self.names.count
            ? Self.names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }
}

/// A fault of the peer that ends the connection (RFC 9113 §5.4.1): the code that GOAWAY sends, and a
/// sentence for the errors of the requests.
struct SessionFault: Error, Sendable, Hashable {
    let code: FrameErrorCode
    let message: String

    init(_ code: FrameErrorCode, _ message: String) { (self.code, self.message) = (code, message) }
}
