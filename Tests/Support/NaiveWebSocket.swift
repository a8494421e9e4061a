/// A second opinion about WebSocket: all bytes of one side at once, in texts, written without a look at
/// WebSocketFrameParser and WebSocketState, and without compression.
package enum NaiveWebSocket {
    package struct Frame: Equatable {
        package var first: UInt8
        package var isMasked: Bool
        package var mask: [UInt8]
        /// What the length field says, and whether it is shorter in another form.
        package var length: UInt64
        package var isMinimal: Bool
        /// The payload that has arrived, unmasked.
        package var payload: [UInt8]

        package var opcode: Int { Int(first & 0xF) }
        package var isFinal: Bool { first >= 0x80 }
        package var isControl: Bool { opcode >= 8 }
        package var isComplete: Bool { UInt64(payload.count) == length }
    }

    /// The first frame of some bytes and the number of its bytes; `nil` if its header is not complete.
    package static func frame(_ bytes: ArraySlice<UInt8>) -> (Frame, Int)? {
        let bytes = Array(bytes)
        guard bytes.count >= 2 else { return nil }
        let short = bytes[1] & 0x7F
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        let isMasked = bytes[1] >= 0x80
        let headerCount = 2 + extra + (isMasked ? 4 : 0)
        guard bytes.count >= headerCount else { return nil }
        var length = UInt64(short)
        if extra > 0 {
            length = 0
            for byte in bytes[2..<(2 + extra)] { length = length * 256 + UInt64(byte) }
        }
        let isMinimal =
            switch extra {
            case 2: length >= 126
            case 8: length >= 65_536
            default: true
            }
        let mask = isMasked ? Array(bytes[(2 + extra)..<headerCount]) : []
        let available = Array(bytes[headerCount...].prefix(Int(clamping: length)))
        let payload = available.enumerated().map { isMasked ? $1 ^ mask[$0 % 4] : $1 }
        return (
            Frame(
                first: bytes[0], isMasked: isMasked, mask: mask, length: length,
                isMinimal: isMinimal, payload: payload), headerCount + payload.count
        )
    }

    /// The frames of a client as texts.
    package static func clientFrames(_ bytes: [UInt8]) -> [String] {
        var texts: [String] = []
        var rest = bytes[...]
        while let (frame, count) = frame(rest) {
            rest = rest.dropFirst(count)
            guard frame.isMasked, frame.isMinimal, frame.isComplete else { return ["broken"] }
            texts.append(text(of: frame))
        }
        return rest.isEmpty ? texts : ["broken"]
    }

    package static func text(of frame: Frame) -> String {
        let names = [0: "more", 1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"]
        var words = [names[frame.opcode] ?? "opcode \(frame.opcode)"]
        if !frame.isFinal { words.append("unfinished") }
        if frame.first & 0x70 != 0 { words.append("reserved \((frame.first & 0x70) >> 4)") }
        if frame.opcode == 8, frame.payload.count >= 2 {
            words.append("\(Int(frame.payload[0]) * 256 + Int(frame.payload[1]))")
        } else if !frame.payload.isEmpty {
            words.append(shown(frame.payload))
        }
        return words.joined(separator: " ")
    }

    package static func shown(_ bytes: [UInt8]) -> String {
        if bytes.count > 50_000 { return "\(bytes.count) bytes" }
        return String(validating: bytes, as: UTF8.self)
            ?? bytes.map { String($0, radix: 16) }.joined(separator: ".")
    }

    /// The messages and the end of what a server sends.
    package static func events(_ bytes: [UInt8], limit: Int) -> [String] {
        var events: [String] = []
        var message: (isText: Bool, bytes: [UInt8])?
        var rest = bytes[...]
        while true {
            if let first = rest.first {
                let opcode = first & 0xF
                if first & 0x70 != 0 || ![0, 1, 2, 8, 9, 10].contains(opcode) {
                    return events + ["failed 1002"]
                }
                if opcode >= 8, first < 0x80 { return events + ["failed 1002"] }
            }
            if rest.count >= 2 {
                let second = Array(rest)[1]
                if second >= 0x80 || (rest.first ?? 0) & 0x8 != 0 && second > 125 {
                    return events + ["failed 1002"]
                }
                if second == 127, rest.count >= 3, Array(rest)[2] >= 0x80 {
                    return events + ["failed 1002"]
                }
            }
            guard let (frame, count) = frame(rest) else { return events }
            guard frame.isMinimal else { return events + ["failed 1002"] }
            rest = rest.dropFirst(count)
            if frame.isControl {
                guard frame.isComplete else { return events }
                if frame.opcode == 8 { return events + [close(frame.payload)] }
                if frame.opcode == 9 { events.append("ping \(shown(frame.payload))") }
                continue
            }
            guard (frame.opcode == 0) == (message != nil) else { return events + ["failed 1002"] }
            var current = message ?? (frame.opcode == 1, [])
            let total = UInt64(current.bytes.count).addingReportingOverflow(frame.length)
            if total.overflow || total.partialValue > UInt64(limit) {
                return events + ["failed 1009"]
            }
            current.bytes += frame.payload
            if current.isText, !isBeginningOfText(current.bytes) { return events + ["failed 1007"] }
            message = current
            guard frame.isComplete else { return events }
            guard frame.isFinal else { continue }
            if current.isText, String(validating: current.bytes, as: UTF8.self) == nil {
                return events + ["failed 1007"]
            }
            events.append("\(current.isText ? "text" : "binary") \(shown(current.bytes))")
            message = nil
        }
    }

    private static func close(_ payload: [UInt8]) -> String {
        if payload.isEmpty { return "closed 1005 " }
        if payload.count == 1 { return "failed 1002" }
        let code = Int(payload[0]) * 256 + Int(payload[1])
        let allowed = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014]
        guard allowed.contains(code) || (3000...4999).contains(code) else { return "failed 1002" }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            return "failed 1007"
        }
        return "closed \(code) \(reason)"
    }

    /// Whether bytes are valid text, or some bytes after them make them valid.
    package static func isBeginningOfText(_ bytes: [UInt8]) -> Bool {
        let limits: [UInt8] = [0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF]
        // The text before the last four bytes has no influence.
        let cut = bytes.count - (bytes.suffix(3).lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.count)
        let head = Array(bytes.dropLast(cut))
        let tail = Array(bytes.suffix(cut))
        guard String(validating: head, as: UTF8.self) != nil else { return false }
        guard let lead = tail.first else { return true }
        // Nothing completes these.
        guard lead >= 0xC2, tail.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else {
            return String(validating: tail, as: UTF8.self) != nil
        }
        var ends: [[UInt8]] = [[]]
        ends += limits.map { [$0] }
        ends += limits.flatMap { first in limits.map { [first, $0] } }
        ends += limits.flatMap { first in
            limits.flatMap { second in limits.map { [first, second, $0] } }
        }
        return ends.contains { String(validating: tail + $0, as: UTF8.self) != nil }
    }
}
