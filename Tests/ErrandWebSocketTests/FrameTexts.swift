import TestSupport

@testable import ErrandWebSocket

/// The items of the parser as texts.
enum FrameTexts {
    /// The frames of some segments, with joined payloads; `take` chooses how much of a part is taken.
    static func read(
        _ segments: [[UInt8]], allowsCompression: Bool = false,
        take: (Int) -> Int = { $0 }
    ) -> [String] {
        var parser = WebSocketFrameParser(allowsCompression: allowsCompression)
        var texts: [String] = []
        var payload: [UInt8] = []
        var failed = false
        for segment in segments where !failed {
            segment.withUnsafeBytes { bytes in
                var input = bytes
                while !failed {
                    switch parser.next(&input) {
                    case .needsInput:
                        if !input.isEmpty { texts.append("\(input.count) bytes are left") }
                        return
                    case .header(let header):
                        texts.append(text(of: header))
                        if header.length == 0 { texts.append("end ") }
                    case .payload(let part):
                        let count = take(part.count)
                        payload += part[..<count]
                        if parser.take(count, from: &input) {
                            texts.append("end \(NaiveWebSocket.shown(payload))")
                            payload = []
                        }
                    case .control(let opcode, let bytes):
                        texts.append("\(opcode) \(NaiveWebSocket.shown(bytes))")
                    case .failed(let fault):
                        texts.append("failed \(fault.code)")
                        failed = true
                    }
                }
            }
        }
        if !payload.isEmpty { texts.append("part \(NaiveWebSocket.shown(payload))") }
        if !failed { texts.append(parser.isAtFrameBoundary ? "boundary" : "within a frame") }
        return texts
    }

    private static func text(of header: WebSocketFrameParser.Header) -> String {
        "\(header.opcode) \(header.length)\(header.endsMessage ? " final" : "")"
            + (header.isCompressed ? " compressed" : "")
    }
}
