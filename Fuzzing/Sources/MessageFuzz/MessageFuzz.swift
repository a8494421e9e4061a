import TestSupport

@testable import ErrandWebSocket

/// The bytes that a server sends. The kind is 0 for a connection without compression, 1 with it, 2 for the compressed
/// bytes of one message.
extension SplitInput {
    /// Ends the process if a result violates a rule.
    fileprivate func check() {
        switch kind {
        case 0: checkConnection()
        case 1: checkSplits()
        default: checkMessage()
        }
    }

    private static let limit = 300

    private func connection(isCompressed: Bool, keepsContext: Bool = true) -> TestConnection {
        var limits = WebSocketState.Limits()
        limits.messageBytes = isCompressed ? 1 << 20 : Self.limit
        guard isCompressed else { return TestConnection(limits) }
        var agreement = DeflateExtension.Agreement(
            clientWindowBits: 15, keepsClientContext: true, threshold: 1, level: 1)
        agreement.keepsServerContext = keepsContext
        return TestConnection(limits, deflate: agreement)
    }

    private func checkConnection() {
        let expected = NaiveWebSocket.events(stream, limit: Self.limit)
        let events = expected.filter { !$0.hasPrefix("ping") }
        let pongs = expected.filter { $0.hasPrefix("ping") }.count
        for segments in [[stream], segments, stream.map { [$0] }] {
            let client = connection(isCompressed: false)
            let found = client.receive(segments)
            require(found == events, "The events differ.", found, events)
            let written = client.written()
            let count = written.filter { $0.hasPrefix("pong") }.count
            require(count == pongs, "The PONGs differ.", written, expected)
            checkEnd(events, written)
        }
    }

    private func checkSplits() {
        for keepsContext in [true, false] {
            let whole = connection(isCompressed: true, keepsContext: keepsContext)
            let events = whole.receive(stream)
            let written = whole.written()
            checkEnd(events, written)
            for segments in [segments, stream.map { [$0] }] {
                let split = connection(isCompressed: true, keepsContext: keepsContext)
                let found = split.receive(segments)
                require(found == events, "The result differs in splits.", found, events)
                let frames = split.written()
                require(frames == written, "The frames differ in splits.", frames, written)
                guard !split.state.hasEnded else { continue }
                require(
                    split.beginning == whole.beginning, "The content differs in splits.",
                    split.beginning, whole.beginning)
            }
        }
    }

    /// The bytes are those of one message, in one frame or in a frame for each segment, and of two equal messages.
    private func checkMessage() {
        var fragments: [UInt8] = []
        let parts = segments.isEmpty ? [[]] : segments
        for (index, part) in parts.enumerated() {
            fragments += ServerBytes.frame(
                index == 0 ? 2 : 0, part, final: index == parts.count - 1,
                reserved: index == 0 ? 4 : 0)
        }
        let frame = ServerBytes.frame(2, stream, reserved: 4)
        let whole = connection(isCompressed: true).receive(frame)
        require(whole.count == 1, "A message has not one event.", whole)
        let split = connection(isCompressed: true).receive(fragments)
        require(split == whole, "The result differs in fragments.", split, whole)
        let forgetful = connection(isCompressed: true, keepsContext: false).receive(frame + frame)
        guard whole.first?.hasPrefix("failed") == false else { return }
        require(forgetful == whole + whole, "The second message differs.", forgetful, whole)
    }

    /// There is at most one end, which is the last event, and at most one close frame, which is the last one.
    private func checkEnd(_ events: [String], _ written: [String]) {
        let isEnd: (String) -> Bool = { $0.hasPrefix("failed") || $0.hasPrefix("closed") }
        let ends = events.filter(isEnd).count
        let closes = written.filter { $0.hasPrefix("close") }.count
        require(
            ends <= 1 && closes == ends && (ends == 0 || events.last.map(isEnd) == true)
                && (closes == 0 || written.last?.hasPrefix("close") == true),
            "Something follows the end.", events, written)
    }

    private func require(_ isTrue: Bool, _ rule: String, _ results: Any...) {
        if isTrue { return }
        var lines = ["\(rule) Kind: \(kind), segments: \(segments)"]
        lines += results.map { "\($0)" }
        fatalError(lines.joined(separator: "\n"))
    }
}

/// Checks one input; libFuzzer's main function calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    SplitInput(UnsafeBufferPointer(start: start, count: count))?.check()
    return 0
}
