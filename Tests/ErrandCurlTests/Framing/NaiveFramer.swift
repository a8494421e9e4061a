/// A second opinion about frames: whole bytes in, texts out, written without a look at FrameReader.
///
/// It reads what both sides send, without the state of the connection.
enum NaiveFramer {
    struct Frame: Equatable, CustomStringConvertible {
        var kind: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        var name: String {
            let names = [
                "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING",
                "GOAWAY", "WINDOW_UPDATE", "CONTINUATION",
            ]
            return kind < 10 ? names[Int(kind)] : "UNKNOWN"
        }

        var description: String {
            var words = [name, String(stream)]
            switch kind {
            case 0: words += [String(decoding: payload, as: UTF8.self), end(0x1)]
            case 1: words += [end(0x1), flags & 0x4 == 0 ? "continues" : ""]
            case 3: words += [code(0)]
            case 4 where flags & 0x1 != 0: words += ["acknowledgement"]
            case 4:
                for start in stride(from: 0, to: payload.count, by: 6) {
                    words.append("\(payload[start + 1])=\(number(start + 2))")
                }
            case 6: words += [hex(payload), flags & 0x1 != 0 ? "acknowledgement" : ""]
            case 7: words += [String(number(0)), code(4)]
            case 8: words += [String(number(0))]
            default: break
            }
            return words.filter { !$0.isEmpty }.joined(separator: " ")
        }

        private func end(_ flag: UInt8) -> String { flags & flag != 0 ? "end" : "" }

        private func number(_ start: Int) -> UInt32 {
            payload[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }

        private func code(_ start: Int) -> String {
            let names = [
                "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
                "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM",
                "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
                "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
            ]
            let code = Int(number(start))
            return code < names.count ? names[code] : String(code)
        }
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The complete frames at the beginning of bytes, and the rest.
    static func frames(_ bytes: [UInt8]) -> (frames: [Frame], rest: [UInt8]) {
        var rest = bytes[...]
        var frames: [Frame] = []
        while rest.count >= 9 {
            let start = rest.startIndex
            let length = rest[start..<(start + 3)].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 9 + length else { break }
            let stream = rest[(start + 5)..<(start + 9)].reduce(0) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(
                    kind: rest[start + 3], flags: rest[start + 4], stream: stream % (1 << 31),
                    payload: Array(rest[(start + 9)..<(start + 9 + length)])))
            rest = rest[(start + 9 + length)...]
        }
        return (frames, Array(rest))
    }

    /// What a client reads from a server's bytes, one text for each frame with a meaning; the text of a
    /// fault is the last one.
    static func read(_ bytes: [UInt8]) -> [String] {
        var texts: [String] = []
        var block: (stream: UInt32, bytes: [UInt8], ends: Bool, empty: Int)?
        var rest = bytes
        while true {
            // An incomplete frame can have a fault, too.
            if rest.count >= 9 {
                let length = rest[0..<3].reduce(0) { $0 << 8 | Int($1) }
                let header = Frame(
                    kind: rest[3], flags: rest[4],
                    stream: rest[5..<9].reduce(0) { $0 << 8 | UInt32($1) } % (1 << 31), payload: [])
                if let fault = fault(header, length, in: block?.stream) { return texts + [fault] }
                if header.kind > 9 { texts.append("unknown") }
                if header.kind == 2, length != 5 { texts.append("faulty \(header.stream) 6") }
                if header.kind == 0, header.flags & 8 != 0, rest.count > 9, Int(rest[9]) >= length {
                    return texts + ["failed 1"]
                }
                if rest.count < 9 + length { return texts + partial(header, length, rest) }
            }
            guard let frame = frames(Array(rest)).frames.first else { return texts }
            rest = Array(rest[(9 + frame.payload.count)...])
            switch frame.kind {
            case 0:
                let content = unpadded(frame) ?? []
                texts.append(
                    "data \(frame.stream) \(hex(content)) \(frame.payload.count)"
                        + (frame.flags & 1 != 0 ? " end" : ""))
            case 1:
                guard var fragment = unpadded(frame) else { return texts + ["failed 1"] }
                if frame.flags & 0x20 != 0 {
                    guard fragment.count >= 5 else { return texts + ["failed 1"] }
                    fragment.removeFirst(5)
                }
                block = (
                    frame.stream, fragment, frame.flags & 1 != 0, fragment.isEmpty ? 1 : 0
                )
                if frame.flags & 4 != 0 { block?.empty = 0 }
            case 9:
                block?.bytes += frame.payload
                if frame.payload.isEmpty { block?.empty += 1 }
            case 2 where frame.payload.count == 5: texts.append("priority \(frame.stream)")
            case 3: texts.append("reset \(frame.stream) \(hex(frame.payload))")
            case 4:
                texts.append(frame.flags & 1 != 0 ? "settled" : "settings \(hex(frame.payload))")
            case 6: texts.append((frame.flags & 1 != 0 ? "pong " : "ping ") + hex(frame.payload))
            case 7:
                let last = frame.payload[0] & 0x7F
                texts.append("away \(hex([last] + frame.payload[1..<8]))")
            case 8:
                let increment = [frame.payload[0] & 0x7F] + frame.payload[1...]
                if increment.allSatisfy({ $0 == 0 }) {
                    if frame.stream == 0 { return texts + ["failed 1"] }
                    texts.append("faulty \(frame.stream) 1")
                } else {
                    texts.append("window \(frame.stream) \(hex(increment))")
                }
            default: break
            }
            if let found = block, frame.kind == 1 || frame.kind == 9 {
                if found.empty > 8 || frame.flags & 4 == 0 && found.bytes.count > limit
                    || frame.kind == 9 && found.bytes.count > limit
                {
                    return texts + ["failed 11"]
                }
                if frame.flags & 4 != 0 {
                    texts.append(
                        "head \(found.stream) \(hex(found.bytes))" + (found.ends ? " end" : ""))
                    block = nil
                }
            }
        }
    }

    /// The largest header block of several frames.
    static let limit = 40_000

    /// The content of a DATA frame that has arrived in part.
    private static func partial(_ frame: Frame, _ length: Int, _ rest: [UInt8]) -> [String] {
        guard frame.kind == 0 else { return [] }
        var start = 9
        var end = 9 + length
        if frame.flags & 8 != 0 {
            guard rest.count > 9 else { return [] }
            start = 10
            end -= Int(rest[9])
        }
        guard rest.count > start || start == end else { return [] }
        let content = rest[start..<min(max(start, end), rest.count)]
        let ends = rest.count >= end && frame.flags & 1 != 0
        return ["data \(frame.stream) \(hex(content)) \(length)" + (ends ? " end" : "")]
    }

    private static func unpadded(_ frame: Frame) -> [UInt8]? {
        guard frame.flags & 8 != 0 else { return frame.payload }
        guard let count = frame.payload.first, Int(count) < frame.payload.count else { return nil }
        return Array(frame.payload.dropFirst().dropLast(Int(count)))
    }

    /// The code of the connection error that a frame header is, if it is one.
    private static func fault(_ frame: Frame, _ length: Int, in block: UInt32?) -> String? {
        if length > 16_384 { return "failed 6" }
        if let block {
            return frame.kind == 9 && frame.stream == block ? nil : "failed 1"
        }
        switch frame.kind {
        case 0 where frame.stream == 0, 1 where frame.stream == 0, 2 where frame.stream == 0,
            3 where frame.stream == 0, 4 where frame.stream != 0, 6 where frame.stream != 0,
            7 where frame.stream != 0, 5, 9:
            return "failed 1"
        case 0 where frame.flags & 8 != 0 && length == 0: return "failed 6"
        case 1 where length < (frame.flags & 8) / 8 + (frame.flags & 0x20) / 0x20 * 5:
            return "failed 6"
        case 3 where length != 4, 6 where length != 8, 7 where length < 8, 8 where length != 4:
            return "failed 6"
        case 4 where frame.flags & 1 != 0 && length > 0 || length % 6 != 0: return "failed 6"
        default: return nil
        }
    }
}
