/// The bytes of HTTP/2 frames for tests (RFC 9113 §4.1, §6), valid or not.
enum Wire {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// `:status 200` in the static table.
    static let ok: [UInt8] = [0x88]

    static func frame(
        _ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = [],
        length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? payload.count
        return Array(number(UInt32(length)).dropFirst()) + [kind, flags] + number(stream) + payload
    }

    static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func data(
        _ stream: UInt32, _ text: String = "", ends: Bool = false, padding: Int? = nil
    ) -> [UInt8] {
        data(stream, bytes: Array(text.utf8), ends: ends, padding: padding)
    }

    static func data(
        _ stream: UInt32, bytes: [UInt8], ends: Bool = false, padding: Int? = nil
    ) -> [UInt8] {
        var payload = bytes
        if let padding {
            payload = [UInt8(padding)] + payload + [UInt8](repeating: 0, count: padding)
        }
        return frame(
            0, flags: (ends ? 0x1 : 0) | (padding != nil ? 0x8 : 0), stream: stream, payload)
    }

    static func headers(
        _ stream: UInt32, _ block: [UInt8] = ok, ends: Bool = false, endsHeaders: Bool = true
    ) -> [UInt8] {
        frame(
            1, flags: (ends ? 0x1 : 0) | (endsHeaders ? 0x4 : 0), stream: stream, block)
    }

    static func continuation(
        _ stream: UInt32, _ block: [UInt8] = [], endsHeaders: Bool = true
    ) -> [UInt8] {
        frame(9, flags: endsHeaders ? 0x4 : 0, stream: stream, block)
    }

    static func priority(_ stream: UInt32) -> [UInt8] {
        frame(2, stream: stream, [0, 0, 0, 0, 15])
    }

    static func reset(_ stream: UInt32, _ code: UInt32 = 0x8) -> [UInt8] {
        frame(3, stream: stream, number(code))
    }

    static func settings(_ values: (UInt16, UInt32)...) -> [UInt8] {
        frame(4, values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + number($1) })
    }

    static let settingsAcknowledgement = frame(4, flags: 0x1)

    static func ping(_ data: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8], isAcknowledgement: Bool = false)
        -> [UInt8]
    {
        frame(6, flags: isAcknowledgement ? 0x1 : 0, data)
    }

    static func goAway(_ last: UInt32, _ code: UInt32 = 0, debug: String = "") -> [UInt8] {
        frame(7, number(last) + number(code) + Array(debug.utf8))
    }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        frame(8, stream: stream, number(increment))
    }

    /// A header block with literals without Huffman code and without indexing (RFC 7541 §6.2.2).
    static func block(_ fields: (String, String)...) -> [UInt8] {
        fields.flatMap { [0] + text($0) + text($1) }
    }

    /// A string literal without Huffman code (RFC 7541 §5.2).
    static func text(_ text: String) -> [UInt8] { integer(text.utf8.count, prefix: 7) + text.utf8 }

    /// An integer (RFC 7541 §5.1).
    static func integer(_ value: Int, prefix: Int, flags: UInt8 = 0) -> [UInt8] {
        let mask = 1 << prefix - 1
        guard value >= mask else { return [flags | UInt8(value)] }
        var bytes = [flags | UInt8(mask)]
        var rest = value - mask
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return bytes + [UInt8(rest)]
    }
}
