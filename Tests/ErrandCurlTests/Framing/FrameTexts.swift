@testable import ErrandCurl

/// The frames that FrameReader reads, as texts of ``NaiveFramer/read(_:)``.
enum FrameTexts {
    /// The frames of segments, as texts of ``NaiveFramer/read(_:)``; the parts of DATA are joined.
    static func read(_ segments: [[UInt8]]) -> [String] {
        var reader = FrameReader(maximumBlock: NaiveFramer.limit)
        var texts: [String] = []
        // A frame of DATA that has not ended.
        var content: (stream: UInt32, bytes: [UInt8], length: Int, left: Int)?
        func finish(ends: Bool = false) {
            guard let open = content else { return }
            texts.append(
                "data \(open.stream) \(NaiveFramer.hex(open.bytes)) \(open.length)"
                    + (ends ? " end" : ""))
            content = nil
        }
        segments: for segment in segments {
            let isOpen = segment.withUnsafeBytes { bytes in
                var input = bytes
                while true {
                    switch reader.next(&input) {
                    case .needsInput: return true
                    case .failed(let fault):
                        finish()
                        texts.append("failed \(fault.code.rawValue)")
                        return false
                    case .frame(.data(let part)):
                        if part.isFirst {
                            finish()
                            content = (part.stream, [], part.frameLength, part.contentLength)
                        }
                        content?.bytes += part.bytes
                        content?.left -= part.bytes.count
                        if content?.left == 0 { finish(ends: part.endsStream) }
                    case .frame(let frame):
                        finish()
                        texts.append(text(frame))
                    }
                }
            }
            if !isOpen { return texts }
        }
        finish()
        return texts
    }

    private static func text(_ frame: Frame) -> String {
        switch frame {
        case .data: ""
        case .headers(let stream, let block, let ends):
            "head \(stream) \(NaiveFramer.hex(block))" + (ends ? " end" : "")
        case .priority(let stream): "priority \(stream)"
        case .reset(let stream, let code):
            "reset \(stream) \(NaiveFramer.hex(Wire.number(code.rawValue)))"
        case .settings(let bytes): "settings \(NaiveFramer.hex(bytes))"
        case .settingsAcknowledgement: "settled"
        case .ping(let data): "ping \(hex(data))"
        case .pingAcknowledgement(let data): "pong \(hex(data))"
        case .goAway(let last, let code):
            "away \(NaiveFramer.hex(Wire.number(last) + Wire.number(code.rawValue)))"
        case .windowUpdate(let stream, let increment):
            "window \(stream) \(NaiveFramer.hex(Wire.number(UInt32(increment))))"
        case .unknown: "unknown"
        case .faulty(let stream, let fault): "faulty \(stream) \(fault.code.rawValue)"
        }
    }

    private static func hex(_ number: UInt64) -> String {
        NaiveFramer.hex(
            Wire.number(UInt32(number >> 32)) + Wire.number(UInt32(truncatingIfNeeded: number)))
    }
}
