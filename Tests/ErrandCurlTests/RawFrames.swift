/// An HTTP/2 frame (RFC 9113 §4.1).
struct RawFrame {
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let goAway: UInt8 = 7
    }

    static let endOfStream: UInt8 = 0x01
    static let endOfHeaders: UInt8 = 0x04
    /// `:status 200` in HPACK's static table.
    static let status200: [UInt8] = [0x88]

    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var endsStream: Bool { flags & Self.endOfStream != 0 }

    var bytes: [UInt8] {
        var bytes = Array(Self.number(UInt32(payload.count)).dropFirst())
        bytes += [kind, flags]
        bytes += Self.number(stream)
        return bytes + payload
    }

    static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

/// HTTP/2 with prior knowledge, frame by frame.
extension RawConnection {
    /// Reads the connection preface and sends SETTINGS; false at the end of the connection.
    func exchangePrefaces() -> Bool {
        guard readBody(24).count == 24 else { return false }
        write(RawFrame(kind: RawFrame.Kind.settings))
        return true
    }

    /// The next frame; `nil` at the end of the connection.
    func readFrame() -> RawFrame? {
        let head = readBody(9)
        guard head.count == 9 else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) }
        let payload = readBody(length)
        guard payload.count == length else { return nil }
        return RawFrame(kind: head[3], flags: head[4], stream: stream, payload: payload)
    }

    /// Reads until the client has acknowledged the SETTINGS.
    func readSettingsAcknowledgement() {
        while let frame = readFrame() {
            if frame.kind == RawFrame.Kind.settings, frame.flags & 0x01 != 0 { return }
        }
    }

    /// The stream of the next request, after the whole request has arrived.
    func readRequest() -> UInt32? {
        while let frame = readFrame() {
            let isRequest = frame.kind == RawFrame.Kind.headers || frame.kind == RawFrame.Kind.data
            if isRequest, frame.endsStream { return frame.stream }
        }
        return nil
    }

    func write(_ frame: RawFrame) { write(frame.bytes) }

    /// Sends a 200 response without a body.
    func respond(stream: UInt32) {
        write(
            RawFrame(
                kind: RawFrame.Kind.headers,
                flags: RawFrame.endOfHeaders | RawFrame.endOfStream, stream: stream,
                payload: RawFrame.status200))
    }
}
