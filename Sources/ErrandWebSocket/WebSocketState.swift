import ErrandHTTP

/// The client's side of a WebSocket after the handshake, as a pure state machine: bytes in, events and bytes out
/// (RFC 6455 §5 to §7).
///
///     open ─▶ closing ─▶ ended
///
/// The owner passes input to ``next(_:at:into:)`` until it needs more, performs the events, and sends the bytes of the
/// output buffer, also after ``Event/ended(_:)``, which is the last event. An owner that cannot send stops reading, so
/// that the responses to PINGs need no memory without bound.
package struct WebSocketState: ~Copyable, Sendable {
    /// The limits and times of a connection.
    package struct Limits: Sendable, Hashable {
        /// The largest message after decompression; `nil` for no limit.
        package var messageBytes: Int? = 1 << 20
        /// The largest ratio of a decompressed message to its bytes on the wire, as for responses.
        package var ratio: Int? = TransportOptions.defaultDecodingRatio
        /// The time between two PINGs; `nil` for none.
        package var pingInterval: Duration? = .seconds(20)
        /// The silence after a PING that ends the connection.
        package var pingTimeout = Duration.seconds(20)
        /// The time that the server has for its close frame.
        package var closeTimeout = Duration.seconds(5)

        package init() {}
    }

    /// Bytes of a message.
    package struct Content {
        package let isText: Bool
        /// The bytes, which may end within a character; valid until the next call.
        package let bytes: UnsafeRawBufferPointer
        /// Whether the message is complete; its text is valid UTF-8 then.
        package let endsMessage: Bool
        /// The number of bytes of the message's frames so far, with their headers.
        package let bytesOnWire: UInt64
    }

    /// The only end of a connection.
    package struct End: Sendable, Hashable {
        /// The code of the server's close frame, or the one that this side sent or would have sent.
        package let code: CloseCode
        /// The reason of the server's close frame.
        package let reason: String
        /// Whether both sides have sent close frames (RFC 6455 §7.1.4).
        package let isClean: Bool
        /// The reason why this side has ended the connection.
        package let fault: WebSocketFault?
    }

    package enum Event {
        case needsInput
        case content(Content)
        /// The server has sent the PONG of a PING.
        case roundTrip(Duration)
        case ended(End)
    }

    /// The result of ``check(at:into:)``.
    package enum Check: Sendable, Hashable {
        /// Call again at this time; `nil` for never.
        case wait(until: Duration?)
        case ended(End)
    }

    private enum Phase: Sendable {
        case open
        /// This side has sent a close frame.
        case closing(CloseCode, until: Duration)
        case ended
    }

    /// A message that arrives.
    private struct Incoming: Sendable {
        let isText: Bool
        let isCompressed: Bool
        /// Whether the current frame is the last one.
        var isLast: Bool
        /// The bytes on the wire, and after decompression.
        var consumed: UInt64 = 0
        var produced: UInt64 = 0
        /// The bytes of the frames' headers.
        var headers: UInt64 = 0
        /// The bytes of an uncompressed message with those that the header of the current frame announces.
        var announced: UInt64 = 0
        var text = UTF8Validator()
    }

    private struct Outgoing: Sendable {
        let isCompressed: Bool
    }

    private var limits: Limits
    private let deflate: DeflateExtension.Agreement?
    private var parser: WebSocketFrameParser
    private var phase = Phase.open
    private var incoming: Incoming?
    /// Whether the last frame of a compressed message is complete, and its end is decompressed.
    private var isFinishing = false
    private var inflater: MessageInflater?
    private var deflater: MessageDeflater?
    private var compressed = WebSocketBuffer()
    /// Whether zlib cannot compress.
    private var deflateFailed = false
    /// The message that is sent in fragments.
    private var outgoing: Outgoing?
    private var keys = MaskingKeys()
    private var timer: PingTimer

    /// Creates the state of a connection that has just been opened.
    package init(
        _ limits: Limits = Limits(), deflate: DeflateExtension.Agreement? = nil, at now: Duration
    ) {
        self.limits = limits
        self.deflate = deflate
        parser = WebSocketFrameParser(allowsCompression: deflate != nil)
        timer = PingTimer(
            interval: limits.pingInterval, timeout: limits.pingTimeout, at: now)
    }

    /// Whether messages may be sent.
    package var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Whether the last event was ``Event/ended(_:)``.
    package var hasEnded: Bool { if case .ended = phase { true } else { false } }

    // MARK: - Input

    /// Reads the next event and removes its bytes from the input.
    package mutating func next(
        _ input: inout UnsafeRawBufferPointer, at now: Duration, into output: inout WebSocketBuffer
    ) -> Event {
        if !input.isEmpty { timer.received(at: now) }
        do throws(WebSocketFault) {
            while true {
                if hasEnded {
                    // §1.4, §5.5.1: nothing follows a close frame.
                    input = UnsafeRawBufferPointer(rebasing: input[input.count...])
                    return .needsInput
                }
                if isFinishing, let content = try finish() { return .content(content) }
                switch parser.next(&input) {
                case .needsInput: return .needsInput
                case .failed(let fault): throw fault
                case .header(let header):
                    if let content = try begin(header) { return .content(content) }
                case .payload(let bytes):
                    if let content = try receive(bytes, &input) { return .content(content) }
                case .control(let opcode, let payload):
                    if let event = try receive(opcode, payload, at: now, into: &output) {
                        return event
                    }
                }
            }
        } catch {
            return .ended(fail(error, into: &output))
        }
    }

    /// The server has ended its direction, or the connection is lost.
    ///
    /// - Returns: The end, unless it was reported before.
    package mutating func inputEnded() -> End? {
        guard !hasEnded else { return nil }
        var code = CloseCode.abnormal
        if case .closing(let sent, _) = phase { code = sent }
        phase = .ended
        // §7.1.5: no close frame.
        return End(code: code, reason: "", isClean: false, fault: nil)
    }

    /// Records that the owner stops or continues to read.
    package mutating func setReading(_ isReading: Bool, at now: Duration) {
        timer.setReading(isReading, at: now)
    }

    /// Sends a PING if it is due, and ends the connection if the server is lost.
    package mutating func check(
        at now: Duration, into output: inout WebSocketBuffer
    ) -> Check {
        switch phase {
        case .ended: return .wait(until: nil)
        case .closing(let code, let end):
            guard end <= now else { return .wait(until: end) }
            phase = .ended
            return .ended(
                End(
                    code: code, reason: "", isClean: false,
                    fault: WebSocketFault(
                        code, "It did not send its close frame within \(limits.closeTimeout).")))
        case .open: break
        }
        while true {
            switch timer.check(at: now) {
            case .wait(let end): return .wait(until: end)
            case .ping(let number):
                rest()
                withUnsafeBytes(of: number.bigEndian) { write(.ping, .final, $0, into: &output) }
                timer.sent(at: now)
            case .close:
                let fault = WebSocketFault(
                    .internalError,
                    "It sent no PONG, and nothing else, within \(limits.pingTimeout)."
                )
                return .ended(fail(fault, into: &output))
            }
        }
    }

    /// Returns memory that an idle connection does not need; a busy one takes it again.
    private mutating func rest() {
        if incoming == nil, !isFinishing { inflater?.rest() }
        if outgoing == nil { deflater?.rest() }
    }

    /// Limits the size of messages from now on.
    package mutating func limitMessages(to bytes: Int?) { limits.messageBytes = bytes }

    /// The bytes of the message that is arriving, with those of the present frame that its header announces.
    package var announcedBytes: UInt64 { incoming?.announced ?? 0 }

    /// Fails the connection, because a message that was received before its limit is too large.
    package mutating func refuseMessage(into output: inout WebSocketBuffer) -> End {
        fail(Self.tooLarge(limits.messageBytes ?? 0), into: &output)
    }

    /// §7.1.7: fails the connection, with a close frame if none was sent.
    private mutating func fail(
        _ fault: WebSocketFault, into output: inout WebSocketBuffer
    ) -> End {
        if isOpen { writeClose(fault.code, fault.message, into: &output) }
        phase = .ended
        return End(code: fault.code, reason: "", isClean: false, fault: fault)
    }

    // MARK: - Messages of the server

    /// Begins a data frame; returns content if it ends a message.
    private mutating func begin(
        _ header: WebSocketFrameParser.Header
    ) throws(WebSocketFault) -> Content? {
        if header.opcode == .continuation {
            // §5.4: a continuation continues a message.
            guard incoming != nil else {
                throw .violation("It sends a continuation without a message.")
            }
            incoming?.isLast = header.endsMessage
        } else {
            // §5.4: the fragments of two messages are not mixed.
            guard incoming == nil else {
                throw .violation("It begins a message before the end of the one before.")
            }
            incoming = Incoming(
                isText: header.opcode == .text, isCompressed: header.isCompressed,
                isLast: header.endsMessage)
        }
        incoming?.headers += header.headerLength
        guard let incoming else { return nil }
        if !incoming.isCompressed {
            let (total, overflows) = incoming.produced.addingReportingOverflow(header.length)
            self.incoming?.announced = overflows ? .max : total
            try checkSize(overflows ? .max : total)
        }
        guard header.length == 0 else { return nil }
        return try frameEnded(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Receives bytes of a payload; removes those from the input that were used.
    private mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ input: inout UnsafeRawBufferPointer
    ) throws(WebSocketFault) -> Content? {
        guard let incoming else { return nil }
        guard incoming.isCompressed else {
            try add(bytes, consumed: bytes.count)
            if parser.take(bytes.count, from: &input) { return try frameEnded(bytes) }
            return content(bytes, endsMessage: false)
        }
        let step = try inflate(bytes)
        try add(step.output, consumed: step.consumed)
        if parser.take(step.consumed, from: &input) { return try frameEnded(step.output) }
        return content(step.output, endsMessage: false)
    }

    /// The last bytes of a frame have arrived; returns them as content, and ends the message if it was the last frame.
    private mutating func frameEnded(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketFault) -> Content? {
        guard let incoming, incoming.isLast else { return content(bytes, endsMessage: false) }
        guard !incoming.isCompressed else {
            isFinishing = true
            return content(bytes, endsMessage: false)
        }
        return try messageEnded(bytes)
    }

    /// Decompresses the end of a message (RFC 7692 §7.2.2).
    private mutating func finish() throws(WebSocketFault) -> Content? {
        try openInflater()
        guard let step = try inflater?.finish() else { return nil }
        try add(step.output, consumed: 0)
        guard step.isComplete else { return content(step.output, endsMessage: false) }
        isFinishing = false
        return try messageEnded(step.output)
    }

    private mutating func messageEnded(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketFault) -> Content? {
        // §5.6, §8.1: the whole message is valid UTF-8.
        if let incoming, incoming.isText, !incoming.text.isComplete { throw Self.invalidText }
        let content = content(bytes, endsMessage: true)
        incoming = nil
        return content
    }

    /// `nil` for no bytes that end nothing.
    private func content(_ bytes: UnsafeRawBufferPointer, endsMessage: Bool) -> Content? {
        guard let incoming, endsMessage || !bytes.isEmpty else { return nil }
        return Content(
            isText: incoming.isText, bytes: bytes, endsMessage: endsMessage,
            bytesOnWire: incoming.consumed + incoming.headers)
    }

    /// Counts and checks bytes of a message.
    private mutating func add(
        _ bytes: UnsafeRawBufferPointer, consumed: Int
    ) throws(WebSocketFault) {
        guard var message = incoming else { return }
        message.consumed += UInt64(consumed)
        message.produced += UInt64(bytes.count)
        // §8.1: text fails at its first invalid byte.
        if message.isText, !message.text.append(bytes) { throw Self.invalidText }
        incoming = message
        try checkSize(message.produced)
        guard message.isCompressed else { return }
        let produced = Int64(clamping: message.produced)
        guard produced > 64 << 10,
            let ratio = TransportOptions.decodingRatio(limits.ratio, after: produced)
        else { return }
        let (allowed, overflows) = message.consumed.multipliedReportingOverflow(
            by: UInt64(max(0, ratio)))
        guard overflows || message.produced <= allowed else {
            throw WebSocketFault(
                .messageTooBig,
                "It sends a message that is more than \(ratio) times larger than its compressed bytes.",
                advice: "If the server is trusted, set webSocket.compression to .none.")
        }
    }

    private func checkSize(_ size: UInt64) throws(WebSocketFault) {
        guard let limit = limits.messageBytes, size > UInt64(max(0, limit)) else { return }
        throw Self.tooLarge(limit)
    }

    private static func tooLarge(_ limit: Int) -> WebSocketFault {
        WebSocketFault(
            .messageTooBig, "It sends a message of more than \(limit) bytes.",
            advice: "Raise webSocket.maximumMessageBytes, or read the fragments.")
    }

    private mutating func inflate(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketFault) -> (output: UnsafeRawBufferPointer, consumed: Int) {
        try openInflater()
        return try inflater?.next(bytes) ?? (bytes, bytes.count)
    }

    private mutating func openInflater() throws(WebSocketFault) {
        guard inflater == nil, let deflate else { return }
        inflater = MessageInflater(
            windowBits: deflate.serverWindowBits, keepsContext: deflate.keepsServerContext)
        guard inflater != nil else {
            throw WebSocketFault(
                .internalError, "It sends a compressed message, and zlib is not installed.")
        }
    }

    private static var invalidText: WebSocketFault {
        WebSocketFault(.invalidPayload, "It sends text that is not UTF-8.")
    }

    // MARK: - Control frames of the server

    private mutating func receive(
        _ opcode: WebSocketOpcode, _ payload: [UInt8], at now: Duration,
        into output: inout WebSocketBuffer
    ) throws(WebSocketFault) -> Event? {
        switch opcode {
        case .ping:
            // §5.5.2, §5.5.3: a PONG has the payload of its PING. Nothing follows a sent close frame (§5.5.1).
            if isOpen { payload.withUnsafeBytes { write(.pong, .final, $0, into: &output) } }
            return nil
        case .pong:
            guard payload.count == 8 else { return nil }
            let number = payload.reduce(0) { $0 << 8 | UInt64($1) }
            return timer.receivedPong(number, at: now).map { .roundTrip($0) }
        case .close: return .ended(try receive(close: payload, into: &output))
        default: return nil
        }
    }

    private mutating func receive(
        close payload: [UInt8], into output: inout WebSocketBuffer
    ) throws(WebSocketFault) -> End {
        var code = CloseCode.none
        var reason = ""
        if !payload.isEmpty {
            // §5.5.1: no payload, or a code of two bytes and a reason.
            guard payload.count >= 2 else {
                throw .violation("It sends a close frame with half a code.")
            }
            code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
            guard code.isAllowedInFrames else {
                throw .violation("It sends a close frame with the code \(code).")
            }
            // §5.5.1: the reason is UTF-8.
            guard let text = String(validating: payload[2...], as: UTF8.self) else {
                throw WebSocketFault(
                    .invalidPayload, "It sends a close frame whose reason is not UTF-8.")
            }
            reason = text
        }
        // §5.5.1: the response has the same code.
        if isOpen { writeClose(code == .none ? nil : code, "", into: &output) }
        phase = .ended
        return End(code: code, reason: reason, isClean: true, fault: nil)
    }

    // MARK: - Output

    /// Writes a message as one frame.
    ///
    /// - Returns: Whether it was written: the connection is open, and no message is sent in fragments.
    package mutating func send(
        _ bytes: UnsafeRawBufferPointer, isText: Bool, into output: inout WebSocketBuffer
    ) -> Bool {
        guard isOpen, outgoing == nil else { return false }
        let opcode = isText ? WebSocketOpcode.text : .binary
        if let deflate, bytes.count >= deflate.threshold, compress(bytes, endsMessage: true) {
            write(opcode, [.final, .compressed], compressed.contents, into: &output)
            compressed.removeAll()
        } else {
            write(opcode, .final, bytes, into: &output)
        }
        return true
    }

    /// Writes the next fragment of a message (RFC 6455 §5.4); the first one begins the message.
    ///
    /// - Returns: Whether it was written; a message that was begun cannot be continued otherwise.
    package mutating func sendFragment(
        _ bytes: UnsafeRawBufferPointer, isText: Bool, endsMessage: Bool,
        into output: inout WebSocketBuffer
    ) -> Bool {
        guard isOpen else { return false }
        let isFirst = outgoing == nil
        // RFC 7692 §6.1: all fragments of a message are compressed, or none.
        let isCompressed = outgoing?.isCompressed ?? openDeflater()
        var flags: WebSocketFrameWriter.Flags = endsMessage ? .final : []
        if isFirst, isCompressed { flags.insert(.compressed) }
        let opcode = isFirst ? (isText ? WebSocketOpcode.text : .binary) : .continuation
        if isCompressed {
            guard compress(bytes, endsMessage: endsMessage) else { return false }
            write(opcode, flags, compressed.contents, into: &output)
            compressed.removeAll()
        } else {
            write(opcode, flags, bytes, into: &output)
        }
        outgoing = endsMessage ? nil : Outgoing(isCompressed: isCompressed)
        return true
    }

    /// Writes a close frame (RFC 6455 §7.1.2); the server's close frame ends the connection.
    ///
    /// - Parameter reason: Up to 123 bytes of UTF-8; a longer one is cut between two characters.
    /// - Returns: Whether it was written: the connection is open, and a close frame may have this code.
    package mutating func close(
        _ code: CloseCode, reason: String = "", at now: Duration,
        into output: inout WebSocketBuffer
    ) -> Bool {
        guard isOpen, code.isAllowedInFrames else { return false }
        writeClose(code, reason, into: &output)
        phase = .closing(code, until: now + limits.closeTimeout)
        return true
    }

    /// Writes a close frame; `nil` for one without a code (RFC 6455 §5.5.1).
    private mutating func writeClose(
        _ code: CloseCode?, _ reason: String, into output: inout WebSocketBuffer
    ) {
        var payload: [UInt8] = []
        if let code {
            payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
            for character in reason.unicodeScalars {
                let bytes = UTF8.encode(character).map(Array.init) ?? []
                guard payload.count + bytes.count <= WebSocketFrameParser.maximumControl else {
                    break
                }
                payload += bytes
            }
        }
        payload.withUnsafeBytes { write(.close, .final, $0, into: &output) }
    }

    private mutating func compress(_ bytes: UnsafeRawBufferPointer, endsMessage: Bool) -> Bool {
        guard openDeflater() else { return false }
        if deflater?.append(bytes, endsMessage: endsMessage, to: &compressed) == true {
            return true
        }
        // Its window is lost; the next messages are not compressed.
        compressed.removeAll()
        deflater = nil
        deflateFailed = true
        return false
    }

    private mutating func openDeflater() -> Bool {
        if deflater == nil, let deflate, !deflateFailed {
            deflater = MessageDeflater(deflate)
            deflateFailed = deflater == nil
        }
        return deflater != nil
    }

    private mutating func write(
        _ opcode: WebSocketOpcode, _ flags: WebSocketFrameWriter.Flags,
        _ payload: UnsafeRawBufferPointer, into output: inout WebSocketBuffer
    ) {
        WebSocketFrameWriter.write(opcode, flags, payload, mask: keys.next(), into: &output)
    }
}
