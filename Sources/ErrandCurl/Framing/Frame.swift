/// A frame from the server, checked by the rules that need no state of the connection (RFC 9113 §6).
enum Frame {
    /// A part of the content of a DATA frame; large frames have several parts.
    case data(DataPart)
    /// The complete header block of HEADERS and its CONTINUATION frames.
    case headers(stream: UInt32, block: UnsafeRawBufferPointer, endsStream: Bool)
    case priority(stream: UInt32)
    case reset(stream: UInt32, code: FrameErrorCode)
    /// The parameters of SETTINGS, six bytes each.
    case settings(UnsafeRawBufferPointer)
    case settingsAcknowledgement
    case ping(UInt64)
    case pingAcknowledgement(UInt64)
    case goAway(lastStream: UInt32, code: FrameErrorCode)
    /// An increment of at least 1.
    case windowUpdate(stream: UInt32, increment: Int)
    /// A frame of an unknown type, which has no meaning (RFC 9113 §4.1, §5.5).
    case unknown
    /// A frame whose fault concerns only its stream (RFC 9113 §5.4.2).
    case faulty(stream: UInt32, SessionFault)

    struct DataPart {
        let stream: UInt32
        let bytes: UnsafeRawBufferPointer
        /// The length of the payload, with the padding, which is what flow control counts (§6.9.1), for the
        /// first part of a frame; 0 for the others.
        let frameLength: Int
        /// The length of the content of the whole frame for its first part; 0 for the others.
        let contentLength: Int
        let isFirst: Bool
        let endsStream: Bool
    }

    /// The types of frames (RFC 9113 §6).
    enum Kind {
        static let data: UInt8 = 0x0
        static let headers: UInt8 = 0x1
        static let priority: UInt8 = 0x2
        static let reset: UInt8 = 0x3
        static let settings: UInt8 = 0x4
        static let pushPromise: UInt8 = 0x5
        static let ping: UInt8 = 0x6
        static let goAway: UInt8 = 0x7
        static let windowUpdate: UInt8 = 0x8
        static let continuation: UInt8 = 0x9
    }

    /// The flags of frames.
    enum Flag {
        static let endStream: UInt8 = 0x1
        static let acknowledgement: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    /// The number of bytes of a frame header (RFC 9113 §4.1).
    static let headerCount = 9
    /// The largest payload until SETTINGS change it (RFC 9113 §4.2).
    static let defaultMaximum = 1 << 14

    static func name(_ kind: UInt8) -> String {
        let names = [
            "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING",
            "GOAWAY", "WINDOW_UPDATE", "CONTINUATION",
        ]
        return kind < names.count ? names[Int(kind)] : "0x" + String(kind, radix: 16)
    }
}
