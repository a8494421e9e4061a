import ErrandHTTP
import TestSupport

@testable import ErrandWebSocket

/// A connection whose events and frames are texts.
final class TestConnection {
    private(set) var state: WebSocketState
    var output = WebSocketBuffer()
    var now: Duration
    private var message: [UInt8] = []
    /// The largest content of one event.
    private(set) var largestPart = 0

    init(
        _ limits: WebSocketState.Limits = WebSocketState.Limits(),
        deflate: DeflateExtension.Agreement? = nil, at now: Duration = .seconds(100)
    ) {
        self.now = now
        state = WebSocketState(limits, deflate: deflate, at: now)
    }

    /// The events of bytes; the parts of a message are joined.
    func receive(_ bytes: [UInt8]) -> [String] {
        var events: [String] = []
        bytes.withUnsafeBytes { bytes in
            var input = bytes
            while true {
                let event = state.next(&input, at: now, into: &output)
                switch event {
                case .needsInput:
                    if !input.isEmpty { events.append("\(input.count) bytes are left") }
                    return
                case .content(let content):
                    message += content.bytes
                    largestPart = max(largestPart, content.bytes.count)
                    guard content.endsMessage else { continue }
                    events.append(
                        "\(content.isText ? "text" : "binary") \(NaiveWebSocket.shown(message))")
                    message = []
                case .roundTrip(let duration): events.append("round trip \(duration)")
                case .ended(let end): events.append(Self.text(of: end))
                }
            }
        }
        return events
    }

    /// The bytes of a message that is not complete.
    var beginning: String { NaiveWebSocket.shown(message) }

    func receive(_ segments: [[UInt8]]) -> [String] { segments.flatMap { receive($0) } }

    /// The frames that were written since the last call.
    func written() -> [String] {
        defer { output.removeAll() }
        return NaiveWebSocket.clientFrames(Array(output.contents))
    }

    /// The payload of the only frame that was written since the last call.
    func takeFrame() -> [UInt8] {
        defer { output.removeAll() }
        return NaiveWebSocket.frame(Array(output.contents)[...])?.0.payload ?? []
    }

    func send(_ bytes: [UInt8], isText: Bool = false) -> Bool {
        bytes.withUnsafeBytes { state.send($0, isText: isText, into: &output) }
    }

    func send(fragment bytes: [UInt8], isText: Bool = false, ends: Bool = false) -> Bool {
        bytes.withUnsafeBytes {
            state.sendFragment($0, isText: isText, endsMessage: ends, into: &output)
        }
    }

    func close(_ code: CloseCode, _ reason: String = "") -> Bool {
        state.close(code, reason: reason, at: now, into: &output)
    }

    func check() -> String {
        switch state.check(at: now, into: &output) {
        case .wait(let end): end.map { "wait until \($0)" } ?? "wait"
        case .ended(let end): Self.text(of: end)
        }
    }

    func inputEnded() -> String? { state.inputEnded().map(Self.text) }

    func setReading(_ isReading: Bool) { state.setReading(isReading, at: now) }

    static func text(of end: WebSocketState.End) -> String {
        if end.isClean { return "closed \(end.code) \(end.reason)" }
        return end.fault == nil ? "lost \(end.code)" : "failed \(end.code)"
    }
}
