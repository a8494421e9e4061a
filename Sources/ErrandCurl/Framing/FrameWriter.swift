/// Writes frames into a buffer of the caller (RFC 9113 §4, §6).
enum FrameWriter {
    /// The first bytes of a connection (RFC 9113 §3.4).
    static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// The identifiers of SETTINGS (RFC 9113 §6.5.2, RFC 8441 §3).
    enum Setting {
        static let headerTableSize: UInt16 = 0x1
        static let enablePush: UInt16 = 0x2
        static let maximumStreams: UInt16 = 0x3
        static let initialWindow: UInt16 = 0x4
        static let maximumFrame: UInt16 = 0x5
        static let maximumHeaderList: UInt16 = 0x6
        static let enableConnectProtocol: UInt16 = 0x8
    }

    static func writePreface(into output: TextBuffer) {
        preface.withUTF8Buffer { output.append(UnsafeRawBufferPointer($0)) }
    }

    static func writeSettings(_ settings: [(UInt16, Int)], into output: TextBuffer) {
        writeHeader(
            settings.count * 6, Frame.Kind.settings, flags: 0, stream: 0, into: output)
        for (identifier, value) in settings {
            output.append(UInt8(truncatingIfNeeded: identifier >> 8))
            output.append(UInt8(truncatingIfNeeded: identifier))
            output.append(number: UInt32(truncatingIfNeeded: value))
        }
    }

    static func writeSettingsAcknowledgement(into output: TextBuffer) {
        writeHeader(
            0, Frame.Kind.settings, flags: Frame.Flag.acknowledgement, stream: 0, into: output)
    }

    static func writePing(_ data: UInt64, isAcknowledgement: Bool, into output: TextBuffer) {
        writeHeader(
            8, Frame.Kind.ping, flags: isAcknowledgement ? Frame.Flag.acknowledgement : 0,
            stream: 0, into: output)
        output.append(number: UInt32(truncatingIfNeeded: data >> 32))
        output.append(number: UInt32(truncatingIfNeeded: data))
    }

    static func writeReset(_ stream: UInt32, _ code: FrameErrorCode, into output: TextBuffer) {
        writeHeader(4, Frame.Kind.reset, flags: 0, stream: stream, into: output)
        output.append(number: code.rawValue)
    }

    static func writeGoAway(_ code: FrameErrorCode, into output: TextBuffer) {
        writeHeader(8, Frame.Kind.goAway, flags: 0, stream: 0, into: output)
        // The server opens no streams.
        output.append(number: 0)
        output.append(number: code.rawValue)
    }

    static func writeWindowUpdate(
        _ stream: UInt32, increment: Int, into output: TextBuffer
    ) {
        writeHeader(4, Frame.Kind.windowUpdate, flags: 0, stream: stream, into: output)
        output.append(number: UInt32(truncatingIfNeeded: increment))
    }

    /// Writes HEADERS with a block that a closure writes; a block that is larger than the peer's
    /// largest frame continues in CONTINUATION frames (RFC 9113 §4.3).
    static func writeHeaders(
        _ stream: UInt32, endsStream: Bool, maximum: Int, into output: TextBuffer,
        block: (TextBuffer) -> Void
    ) {
        let start = output.count
        var flags = endsStream ? Frame.Flag.endStream : 0
        writeHeader(0, Frame.Kind.headers, flags: 0, stream: stream, into: output)
        block(output)
        let count = output.count - start - Frame.headerCount
        guard count > maximum else {
            flags |= Frame.Flag.endHeaders
            return output.write(
                frameHeader: count, Frame.Kind.headers, flags: flags, stream: stream, at: start)
        }
        let bytes = Array(output.contents[(start + Frame.headerCount)...])
        output.truncate(to: start)
        var kind = Frame.Kind.headers
        for first in stride(from: 0, to: bytes.count, by: maximum) {
            let part = bytes[first..<min(first + maximum, bytes.count)]
            if part.endIndex == bytes.count { flags |= Frame.Flag.endHeaders }
            writeHeader(part.count, kind, flags: flags, stream: stream, into: output)
            part.withUnsafeBytes { output.append($0) }
            kind = Frame.Kind.continuation
            flags = 0
        }
    }

    /// Writes DATA with content that a closure writes; the closure gets room for exactly `limit` bytes,
    /// and returns the number of bytes and whether the stream ends, or `nil` for no frame.
    static func writeData(
        _ stream: UInt32, limit: Int, into output: TextBuffer,
        fill: (UnsafeMutableRawBufferPointer) -> (count: Int, endsStream: Bool)?
    ) -> (count: Int, endsStream: Bool)? {
        let start = output.count
        writeHeader(0, Frame.Kind.data, flags: 0, stream: stream, into: output)
        var result: (count: Int, endsStream: Bool)?
        output.append(upTo: limit) { room in
            result = fill(room)
            return min(result?.count ?? 0, limit)
        }
        guard let (count, endsStream) = result else {
            output.truncate(to: start)
            return nil
        }
        output.write(
            frameHeader: min(count, limit), Frame.Kind.data,
            flags: endsStream ? Frame.Flag.endStream : 0, stream: stream, at: start)
        return (min(count, limit), endsStream)
    }

    private static func writeHeader(
        _ length: Int, _ kind: UInt8, flags: UInt8, stream: UInt32, into output: TextBuffer
    ) {
        let start = output.count
        output.append(upTo: Frame.headerCount) { _ in Frame.headerCount }
        output.write(frameHeader: length, kind, flags: flags, stream: stream, at: start)
    }
}

extension TextBuffer {
    /// Appends a number in network byte order.
    fileprivate func append(number: UInt32) {
        append(upTo: 4) { room in
            room.storeBytes(of: number.bigEndian, as: UInt32.self)
            return 4
        }
    }

    /// Writes a frame header over the bytes at an offset (RFC 9113 §4.1).
    fileprivate func write(
        frameHeader length: Int, _ kind: UInt8, flags: UInt8, stream: UInt32, at offset: Int
    ) {
        let bytes = UnsafeMutableRawPointer(bytes + offset)
        let first = UInt32(truncatingIfNeeded: length) << 8 | UInt32(kind)
        bytes.storeBytes(of: first.bigEndian, as: UInt32.self)
        bytes.storeBytes(of: flags, toByteOffset: 4, as: UInt8.self)
        bytes.storeBytes(of: stream.bigEndian, toByteOffset: 5, as: UInt32.self)
    }
}
