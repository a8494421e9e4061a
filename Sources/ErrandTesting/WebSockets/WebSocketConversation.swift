import ErrandHTTP
import ErrandSystem

/// The server's side of one connection, which performs a ``WebSocketScript``, as a pure state machine.
struct WebSocketConversation: Sendable {
    enum Action: Sendable {
        case send(Data)
        case hold(Gate)
        /// Nothing to do until more bytes arrive.
        case wait
        /// The server ends the connection.
        case end
        /// The client has not done what the script expects; see ``WebSocketConversation/failure``.
        case failed
    }

    private enum Input: Sendable {
        case message(WebSocketScript.Message)
        case ping(Data)
        case close(WebSocketClose.Code)
    }

    private let steps: [WebSocketScript.Step]
    private var index = 0
    /// Bytes that are no whole frame yet; those before the offset were read.
    private var bytes: [UInt8] = []
    private var offset = 0
    private var fragments: (isText: Bool, bytes: Data)?
    private var inputs: [Input] = []
    private var output: [Data] = []
    private var hasSentClose = false
    private var isOver = false
    /// What the client has not done as the script expects, from before the action that follows.
    private(set) var failure: String?

    init(_ script: WebSocketScript) { steps = script.steps }

    // MARK: - Steps

    /// The next action; call until ``Action/wait``, ``Action/end`` or ``Action/failed``.
    mutating func next() -> Action {
        while true {
            if !output.isEmpty { return .send(output.removeFirst()) }
            if failure != nil { return .failed }
            if isOver { return .end }
            // Nothing is read meanwhile.
            if index < steps.count, case .hold(let gate) = steps[index], !gate.isOpen {
                return .hold(gate)
            }
            if hasSentClose { return awaitClose() }
            if case .ping(let payload)? = inputs.first {
                inputs.removeFirst()
                output.append(WebSocketFrames.frame(10, payload))
                continue
            }
            if case .close(let code)? = inputs.first {
                clientClosed(code)
                continue
            }
            guard index < steps.count else {
                guard case .message(let message)? = inputs.first else { return .wait }
                return fail("The client sent \(message.shown) after the last step of the script.")
            }
            if let action = perform(steps[index]) { return action }
        }
    }

    /// Performs a step; returns `nil` if it needs no action of the owner.
    private mutating func perform(_ step: WebSocketScript.Step) -> Action? {
        switch step {
        case .expect(let expected, let isExpected):
            guard let message = nextMessage() else { return .wait }
            guard isExpected(message) else {
                return fail(
                    "The script expected \(expected)\(number), but the client sent \(message.shown)."
                )
            }
        case .expectClose:
            guard let message = nextMessage() else { return .wait }
            return fail(
                "The script expected a close frame\(number), but the client sent \(message.shown).")
        case .respond(let response):
            guard let message = nextMessage() else { return .wait }
            output += response(message).map(WebSocketFrames.message)
            return nil
        case .hold: break
        case .send(let bytes): output.append(bytes)
        case .close(let bytes):
            output.append(bytes)
            hasSentClose = true
        case .disconnect: isOver = true
        }
        index += 1
        return nil
    }

    private mutating func nextMessage() -> WebSocketScript.Message? {
        guard case .message(let message)? = inputs.first else { return nil }
        inputs.removeFirst()
        return message
    }

    /// The client closes the connection, whatever is left of the script.
    private mutating func clientClosed(_ code: WebSocketClose.Code) {
        inputs.removeAll()
        isOver = true
        let missed = steps[index...].first { step in
            if case .expect = step { true } else { false }
        }
        if case .expect(let expected, _)? = missed {
            failure = "The client closed with \(code), but the script expected \(expected)."
        }
        let close = steps[index...].first { step in
            if case .expectClose = step { true } else { false }
        }
        if case .expectClose(let expected?)? = close, failure == nil, expected != code {
            failure = "The client closed with \(code), but the script expected \(expected)."
        }
        output.append(WebSocketFrames.close(code == .none ? nil : code, ""))
    }

    private mutating func awaitClose() -> Action {
        let isClosed = inputs.contains { if case .close = $0 { true } else { false } }
        inputs.removeAll()
        guard isClosed else { return .wait }
        isOver = true
        return .end
    }

    /// The number of the step, for an error.
    private var number: String { " (step \(index + 1) of \(steps.count))" }

    private mutating func fail(_ message: String) -> Action {
        failure = message
        return .failed
    }

    // MARK: - Frames of the client

    mutating func receive(_ input: some Collection<UInt8>) {
        bytes.append(contentsOf: input)
        while failure == nil, readFrame() {}
        bytes.removeFirst(offset)
        offset = 0
    }

    /// Reads a frame; returns false if none is complete.
    private mutating func readFrame() -> Bool {
        let left = bytes.count - offset
        guard left >= 2 else { return false }
        let (first, second) = (bytes[offset], bytes[offset + 1])
        let extra = second & 0x7F == 126 ? 2 : second & 0x7F == 127 ? 8 : 0
        guard left >= 6 + extra else { return false }
        guard second >= 0x80 else {
            _ = fail("The client sent a frame without a mask (RFC 6455 §5.1).")
            return false
        }
        let length =
            extra == 0
            ? Int(second & 0x7F)
            : bytes[(offset + 2)..<(offset + 2 + extra)].reduce(0) { $0 << 8 | Int($1) }
        let start = offset + 6 + extra
        guard length >= 0, bytes.count - start >= length else { return false }
        let mask = Array(bytes[(start - 4)..<start])
        var payload = Data(bytes[start..<(start + length)])
        for index in 0..<length { payload[index] ^= mask[index & 3] }
        offset = start + length
        receive(first, payload)
        return true
    }

    private mutating func receive(_ first: UInt8, _ payload: Data) {
        guard first & 0x70 == 0 else {
            _ = fail("The client sent a frame with reserved bits, but no extension was accepted.")
            return
        }
        switch first & 0xF {
        case 0, 1, 2:
            let isText = fragments?.isText ?? (first & 0xF == 1)
            guard (first & 0xF == 0) == (fragments != nil) else {
                _ = fail("The client mixed the fragments of two messages (RFC 6455 §5.4).")
                return
            }
            let whole = (fragments?.bytes ?? Data()) + payload
            fragments = first < 0x80 ? (isText, whole) : nil
            guard fragments == nil else { return }
            guard isText else { return inputs.append(.message(.binary(whole))) }
            guard let text = String(validating: whole, as: UTF8.self) else {
                _ = fail("The client sent text that is not UTF-8.")
                return
            }
            inputs.append(.message(.text(text)))
        case 8:
            let code = payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
            inputs.append(.close(payload.count < 2 ? .none : .init(rawValue: code)))
        case 9: inputs.append(.ping(payload))
        case 10: break
        default: _ = fail("The client sent a frame with the opcode \(first & 0xF).")
        }
    }
}
