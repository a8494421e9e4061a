// Performance annotations: decision 17.

import HTTPTypes

/// The client's side of an HTTP/2 connection as a pure state machine: bytes in, events and bytes out
/// (RFC 9113).
///
///     opening ─▶ open ─▶ draining ─▶ closed
///
/// The owner passes input to ``next(_:into:)`` until it needs more, performs the events, and sends the
/// bytes of the output buffer, also after ``Event/failed(_:)``. A stream that ends is removed before
/// the event that says so; its key has no effect from then on.
struct SessionState: ~Copyable {
    /// The limits and windows of a session.
    struct Limits: Sendable, Hashable {
        /// `SETTINGS_MAX_HEADER_LIST_SIZE`, and the limit for the heads of streams that are gone.
        var headBytes = 256 << 10
        /// The first window of a stream, `SETTINGS_INITIAL_WINDOW_SIZE`.
        var streamWindow = 256 << 10
        /// The window of a stream whose recipient keeps up.
        var largestStreamWindow = 4 << 20
        /// The window of the connection.
        var connectionWindow = 16 << 20
        /// The largest number of streams, also if the server allows more.
        var streams = 1000
        /// The number of streams until the server names its limit.
        var assumedStreams = PeerSettings.assumedStreams
        /// The largest number of frames without use since the last useful one.
        var uselessFrames = 1000

        init() {}
    }

    enum Phase: Sendable, Hashable {
        /// The server's SETTINGS have not arrived.
        case opening
        case open
        /// No new stream may be opened.
        case draining
        case closed
    }

    /// Whether a stream goes on after an event.
    enum Continuation: Sendable, Hashable {
        /// More of the response follows.
        case receiving
        /// The response is complete, and the rest of the request is being sent.
        case sending
        /// The stream has ended.
        case ended
    }

    enum Event {
        case needsInput
        case interim(StreamKey, HeadParser.Head)
        case head(StreamKey, HeadParser.Head, Continuation)
        /// Content, valid until the next call. Its recipient accepts it with ``accept(_:of:into:)``.
        case content(StreamKey, UnsafeRawBufferPointer, Continuation)
        case trailers(StreamKey, HTTPFields, Continuation)
        /// The stream has ended before its response or its request was complete.
        case ended(StreamKey, StreamFailure)
        /// A stream accepts bytes again.
        case sendable(StreamKey)
        /// All streams may accept bytes again, and more streams may be opened.
        case changed
        /// The server opens no further streams; unprocessed ones end with the next events.
        case draining(FrameErrorCode)
        case pingAcknowledged(UInt64)
        /// The server has broken the protocol: GOAWAY is in the output, and all streams have failed.
        case failed(SessionFault)
    }

    private let limits: Limits
    private var reader: FrameReader
    private var decoder = HeaderDecoder()
    private var encoder = HeaderEncoder()
    private var streams = StreamTable()
    private(set) var phase = Phase.opening
    /// The settings of the server.
    private(set) var peer: PeerSettings
    private var sendWindow = FlowWindow.Sending()
    private var receiveWindow: FlowWindow.Receiving
    private var nextNumber: UInt32 = 1
    /// The last stream that the server processes.
    private var lastProcessed = UInt32.max
    /// Streams that the server does not process, and that have not ended yet.
    private var unprocessed: [StreamKey] = []
    /// The code of the last GOAWAY; `nil` if there was none.
    private(set) var goAwayCode: FrameErrorCode?
    /// A stream that ends after the content of the last event.
    private var truncated: StreamKey?
    private var useless = 0
    /// What the server may have sent on streams that this side has ended, before it knew it: bytes of DATA, and
    /// header blocks.
    private var late = (bytes: 0, heads: 0)
    private var uselessSince = MonotonicTime(nanoseconds: 0)

    init(_ limits: Limits = Limits()) {
        self.limits = limits
        peer = PeerSettings(assumedStreams: limits.assumedStreams)
        reader = FrameReader(maximumBlock: Self.blockLimit(limits.headBytes))
        receiveWindow = FlowWindow.Receiving(
            limits.connectionWindow, limit: limits.connectionWindow)
    }

    /// The largest block of a head of this size: a Huffman code of a character has at most 30 bits.
    private static func blockLimit(_ headBytes: Int) -> Int { 4 * min(headBytes, 1 << 30) }

    // MARK: - Connection

    /// Writes the preface, SETTINGS and the window of the connection (RFC 9113 §3.4).
    mutating func start(into output: TextBuffer) {
        FrameWriter.writePreface(into: output)
        FrameWriter.writeSettings(
            [
                (FrameWriter.Setting.enablePush, 0),
                (FrameWriter.Setting.initialWindow, limits.streamWindow),
                (FrameWriter.Setting.maximumHeaderList, limits.headBytes),
            ], into: output)
        let increment = limits.connectionWindow - FlowWindow.initial
        if increment > 0 { FrameWriter.writeWindowUpdate(0, increment: increment, into: output) }
    }

    /// The number of streams that may be opened now.
    var places: Int {
        guard phase == .opening || phase == .open, nextNumber <= Self.lastNumber else { return 0 }
        return max(0, min(peer.maximumStreams, limits.streams) - streams.count)
    }

    /// Whether no further stream can ever be opened (RFC 9113 §5.1.1).
    var isExhausted: Bool { nextNumber > Self.lastNumber }

    private static let lastNumber: UInt32 = 0x7FFF_FFFF

    /// Continues with a later stream, for tests of the last ones.
    mutating func skipNumbers(to number: UInt32) { nextNumber = max(nextNumber, number) }

    /// The number of open streams.
    var streamCount: Int { streams.count }

    /// Whether a stream is open.
    func isOpen(_ key: StreamKey) -> Bool { streams.contains(key) }

    /// Writes PING (RFC 9113 §6.7).
    func ping(_ data: UInt64, into output: TextBuffer) {
        FrameWriter.writePing(data, isAcknowledgement: false, into: output)
    }

    /// Opens no further streams; the open ones go on.
    mutating func drain() {
        if phase == .opening || phase == .open { phase = .draining }
    }

    /// Writes GOAWAY and closes the session (RFC 9113 §6.8).
    mutating func close(_ code: FrameErrorCode, into output: TextBuffer) {
        guard phase != .closed else { return }
        phase = .closed
        FrameWriter.writeGoAway(code, into: output)
    }

    /// Whether the connection ended between two frames.
    var isAtFrameBoundary: Bool { reader.isAtFrameBoundary }

    // MARK: - Requests

    /// Opens a stream and writes its HEADERS; a closure writes the fields.
    ///
    /// - Returns: `nil` if no stream may be opened now; nothing was written.
    mutating func open(
        _ request: StreamState.Request, into output: TextBuffer,
        fields: (inout HeaderEncoder, TextBuffer) -> Void
    ) -> StreamKey? {
        guard places > 0 else { return nil }
        reader.accept(blocksUpTo: Self.blockLimit(request.maximumHeadBytes))
        let number = nextNumber
        nextNumber += 2
        useless = 0
        let state = StreamState(
            number, request, send: FlowWindow.Sending(peer.initialWindow),
            receive: FlowWindow.Receiving(
                limits.streamWindow, limit: limits.largestStreamWindow))
        FrameWriter.writeHeaders(
            number, endsStream: !request.hasBody, maximum: peer.maximumFrame, into: output
        ) { output in
            encoder.begin(isHead: true, into: output)
            fields(&encoder, output)
        }
        return streams.insert(state)
    }

    /// The number of bytes of content that may be sent on a stream now.
    func available(on key: StreamKey) -> Int {
        guard streams.contains(key) else { return 0 }
        return min(streams[key.slot].available, sendWindow.available)
    }

    /// Whether the rest of the request is sent: its response is no refusal.
    func isSending(_ key: StreamKey) -> Bool {
        streams.contains(key) && streams[key.slot].sending == .open
    }

    /// Whether more of the response follows.
    func isReceiving(_ key: StreamKey) -> Bool {
        streams.contains(key) && streams[key.slot].receiving != .ended
    }

    /// Writes one DATA frame with content that a closure writes into the room that it gets.
    ///
    /// The closure returns the number of bytes, which may be 0 only at the end, and whether the request
    /// ends; `nil` writes nothing. The room is empty if the windows are; the request may end then.
    ///
    /// - Returns: Whether the stream has ended with the frame.
    mutating func send(
        on key: StreamKey, upTo limit: Int, into output: TextBuffer,
        fill: (UnsafeMutableRawBufferPointer) -> (count: Int, endsStream: Bool)?
    ) -> Bool {
        guard isSending(key) else { return false }
        let limit = min(limit, available(on: key), peer.maximumFrame)
        let sent = FrameWriter.writeData(key.number, limit: limit, into: output, fill: fill)
        guard let sent else { return false }
        if sent.count > 0 { useless = 0 }
        sendWindow.use(sent.count)
        streams[key.slot].sendWindow.use(sent.count)
        return sent.endsStream && endSending(key)
    }

    /// Writes trailers, which end the request.
    ///
    /// - Returns: Whether the stream has ended with them.
    mutating func send(
        trailers: HTTPFields, on key: StreamKey, into output: TextBuffer
    ) -> Bool {
        guard isSending(key) else { return false }
        FrameWriter.writeHeaders(
            key.number, endsStream: true, maximum: peer.maximumFrame, into: output
        ) { output in
            encoder.begin(isHead: false, into: output)
            for field in trailers { encoder.append(field, into: output) }
        }
        return endSending(key)
    }

    private mutating func endSending(_ key: StreamKey) -> Bool {
        streams[key.slot].endSending()
        guard streams[key.slot].isClosed else { return false }
        streams.remove(slot: key.slot, .ended)
        return true
    }

    /// The rest of the request is not sent; the stream waits for its response.
    ///
    /// - Returns: Whether the stream has ended, because its response is complete.
    mutating func stopSending(_ key: StreamKey, into output: TextBuffer) -> Bool {
        guard streams.contains(key) else { return false }
        streams[key.slot].stopSending()
        guard streams[key.slot].receiving == .ended else { return false }
        return continuation(key.slot, endsStream: true, into: output) == .ended
    }

    /// The recipient has accepted content of a stream.
    mutating func accept(_ count: Int, of key: StreamKey, into output: TextBuffer) {
        guard count > 0, streams.contains(key) else { return }
        let increment = streams[key.slot].receiveWindow.accept(count)
        // A response that has ended needs no window.
        guard increment > 0, streams[key.slot].receiving != .ended else { return }
        FrameWriter.writeWindowUpdate(key.number, increment: increment, into: output)
    }

    /// Ends a stream (RFC 9113 §6.4).
    mutating func reset(
        _ key: StreamKey, _ code: FrameErrorCode = .cancel, into output: TextBuffer
    ) {
        guard streams.contains(key) else { return }
        FrameWriter.writeReset(key.number, code, into: output)
        forget(key.slot)
    }

    /// Removes a stream that this side ends; frames that are on their way are expected and ignored.
    private mutating func forget(_ slot: Int) {
        if streams[slot].receiving != .ended {
            // No more than the connection's window can be on its way.
            late.bytes = min(
                late.bytes + streams[slot].receiveWindow.available, limits.connectionWindow)
            // The head of the response, unless it has arrived, and the trailers.
            late.heads = min(late.heads + (streams[slot].hasHead ? 1 : 2), 2 * limits.streams)
        }
        streams.remove(slot: slot, .resetHere)
    }

    // MARK: - Input

    /// Notes the time of input: frames without use are counted for a minute.
    mutating func inputArrived(at now: MonotonicTime) {
        guard uselessSince.advanced(nanoseconds: 60_000_000_000) <= now else { return }
        uselessSince = now
        useless = 0
    }

    /// Reads the next event and removes its bytes from the input.
    mutating func next(
        _ input: inout UnsafeRawBufferPointer, into output: TextBuffer
    ) -> Event {
        while phase != .closed {
            if let key = truncated {
                truncated = nil
                if streams.contains(key) { return end(key.slot, .truncated, into: output) }
            }
            while let key = unprocessed.popLast() {
                if streams.contains(key) {
                    let failure = streams[key.slot].failure(ofGoAway: goAwayCode ?? .noError)
                    forget(key.slot)
                    return .ended(key, failure)
                }
            }
            switch reader.next(&input) {
            case .needsInput: return .needsInput
            case .failed(let fault): return fail(fault, into: output)
            case .frame(let frame):
                do throws(SessionFault) {
                    if let event = try receive(frame, into: output) { return event }
                } catch {
                    return fail(error, into: output)
                }
            }
        }
        return .needsInput
    }

    private mutating func fail(_ fault: SessionFault, into output: TextBuffer) -> Event {
        let isForeign = !peer.isKnown
        close(fault.code, into: output)
        return .failed(
            isForeign
                ? SessionFault(fault.code, "It does not speak HTTP/2. \(fault.message)") : fault)
    }

    private mutating func receive(
        _ frame: Frame, into output: TextBuffer
    ) throws(SessionFault) -> Event? {
        if !peer.isKnown {
            // §3.4: the first frame is SETTINGS.
            guard case .settings = frame else {
                throw SessionFault(.protocolError, "Its first frame is not SETTINGS.")
            }
        }
        switch frame {
        case .data(let part): return try receive(part, into: output)
        case .headers(let number, let block, let endsStream):
            return try receive(block, on: number, endsStream: endsStream, into: output)
        case .settings(let parameters): return try receive(settings: parameters, into: output)
        case .windowUpdate(0, let increment):
            try countUseless()
            let wasEmpty = sendWindow.available == 0
            guard sendWindow.add(increment) else { throw Self.windowOverflow }
            return wasEmpty && sendWindow.available > 0 ? .changed : nil
        case .windowUpdate(let number, let increment):
            return try receive(increment: increment, on: number, into: output)
        case .reset(let number, let code): return try receive(reset: code, of: number)
        case .goAway(let lastStream, let code): return try receive(goAway: code, lastStream)
        case .ping(let data):
            try countUseless()
            FrameWriter.writePing(data, isAcknowledgement: true, into: output)
            return nil
        case .pingAcknowledgement(let data):
            try countUseless()
            return .pingAcknowledged(data)
        case .settingsAcknowledgement, .priority, .unknown:
            try countUseless()
            return nil
        case .faulty(let number, let fault):
            try countUseless()
            guard let slot = streams.slot(of: number) else {
                // A closed stream cannot be reset; an increment for it has no meaning.
                guard fault.code == .protocolError else { throw fault }
                try checkIsNotIdle(number)
                return nil
            }
            return end(slot, .fault(fault), into: output)
        }
    }

    /// Counts a frame that changes nothing for a request; a server that sends them without end is
    /// stopped.
    private mutating func countUseless() throws(SessionFault) {
        useless += 1
        guard useless <= limits.uselessFrames else {
            throw SessionFault(
                .enhanceYourCalm,
                "It sends more than \(limits.uselessFrames) frames that change nothing.")
        }
    }

    // MARK: - Streams

    /// Ends a stream, and resets it unless the server has.
    private mutating func end(
        _ slot: Int, _ failure: StreamFailure, into output: TextBuffer
    ) -> Event {
        let number = streams[slot].number
        if let code = failure.code {
            FrameWriter.writeReset(number, code, into: output)
            forget(slot)
        } else {
            streams.remove(slot: slot, .resetByServer)
        }
        return .ended(StreamKey(number: number, slot: slot), failure)
    }

    /// Decides how a stream goes on whose response may have ended.
    private mutating func continuation(
        _ slot: Int, endsStream: Bool, into output: TextBuffer
    ) -> Continuation {
        guard endsStream else { return .receiving }
        switch streams[slot].sending {
        case .open: return .sending
        case .ended: streams.remove(slot: slot, .ended)
        case .stopped:
            // §8.1: the response is complete without the rest of the request.
            FrameWriter.writeReset(streams[slot].number, .noError, into: output)
            streams.remove(slot: slot, .ended)
        }
        return .ended
    }

    /// Checks that a stream which is not open was open (RFC 9113 §5.1).
    private func checkIsNotIdle(_ number: UInt32) throws(SessionFault) {
        guard number & 1 == 1, number < nextNumber else {
            throw SessionFault(
                .protocolError, "It sends a frame on the stream \(number), which was not opened.")
        }
    }

    /// Decides about HEADERS or DATA of a stream that is not open.
    ///
    /// - Parameter length: The length of DATA; `nil` for HEADERS.
    private mutating func refuse(
        _ number: UInt32, length: Int?, into output: TextBuffer
    ) throws(SessionFault) {
        let end = streams.end(of: number)
        if end == .resetHere || end == .forgotten, isLate(length) { return }
        try countUseless()
        switch end {
        case .ended: throw .afterEnd
        case .resetByServer:
            FrameWriter.writeReset(number, .streamClosed, into: output)
            streams.note(.resetHere, of: number)
        case .resetHere, .forgotten: break
        }
    }

    /// Whether a frame was on its way when this side ended its stream, as far as the window of the stream
    /// allowed.
    private mutating func isLate(_ length: Int?) -> Bool {
        guard let length else {
            guard late.heads > 0 else { return false }
            late.heads -= 1
            return true
        }
        guard length > 0, length <= late.bytes else { return false }
        late.bytes -= length
        return true
    }

    private mutating func receive(
        _ block: UnsafeRawBufferPointer, on number: UInt32, endsStream: Bool,
        into output: TextBuffer
    ) throws(SessionFault) -> Event? {
        guard let slot = streams.slot(of: number) else {
            // The table belongs to the connection (RFC 9113 §4.3).
            _ = try decoder.section(in: block, limit: limits.headBytes)
            try checkIsNotIdle(number)
            try refuse(number, length: nil, into: output)
            return nil
        }
        let section = try decoder.section(in: block, limit: streams[slot].headLimit)
        useless = 0
        let key = StreamKey(number: number, slot: slot)
        switch streams[slot].receive(section, endsStream: endsStream) {
        case .interim: return .interim(key, section.head)
        case .head:
            return .head(
                key, section.head, continuation(slot, endsStream: endsStream, into: output))
        case .trailers:
            return .trailers(
                key, section.head.fields, continuation(slot, endsStream: true, into: output))
        case .failed(let failure): return end(slot, failure, into: output)
        }
    }

    private mutating func receive(
        _ part: Frame.DataPart, into output: TextBuffer
    ) throws(SessionFault) -> Event? {
        if part.frameLength > 0 {
            // The connection's window is free on arrival: the windows of the streams bound what their
            // recipients hold.
            guard receiveWindow.receive(part.frameLength) else { throw Self.windowExceeded }
            let increment = receiveWindow.accept(part.frameLength)
            if increment > 0 {
                FrameWriter.writeWindowUpdate(0, increment: increment, into: output)
            }
        }
        guard let slot = streams.slot(of: part.stream) else {
            try checkIsNotIdle(part.stream)
            if part.isFirst { try refuse(part.stream, length: part.frameLength, into: output) }
            return nil
        }
        if part.bytes.isEmpty, !part.endsStream { try countUseless() } else { useless = 0 }
        if part.frameLength > 0 {
            guard streams[slot].receiveWindow.receive(part.frameLength) else {
                return end(slot, .fault(Self.windowExceeded), into: output)
            }
            accept(
                part.frameLength - part.contentLength,
                of: StreamKey(number: part.stream, slot: slot), into: output)
        }
        let failure = streams[slot].receive(
            content: part.bytes.count, endsStream: part.endsStream)
        if failure == .truncated, !part.bytes.isEmpty {
            // A download that is resumed needs these bytes.
            let key = StreamKey(number: part.stream, slot: slot)
            truncated = key
            return .content(key, part.bytes, .receiving)
        }
        if let failure { return end(slot, failure, into: output) }
        guard !part.bytes.isEmpty || part.endsStream else { return nil }
        return .content(
            StreamKey(number: part.stream, slot: slot), part.bytes,
            continuation(slot, endsStream: part.endsStream, into: output))
    }

    private mutating func receive(
        increment: Int, on number: UInt32, into output: TextBuffer
    ) throws(SessionFault) -> Event? {
        try countUseless()
        guard let slot = streams.slot(of: number) else {
            try checkIsNotIdle(number)
            return nil
        }
        let wasEmpty = streams[slot].available == 0
        guard streams[slot].sendWindow.add(increment) else {
            return end(slot, .fault(Self.windowOverflow), into: output)
        }
        guard wasEmpty, streams[slot].available > 0 else { return nil }
        return .sendable(StreamKey(number: number, slot: slot))
    }

    private mutating func receive(
        reset code: FrameErrorCode, of number: UInt32
    ) throws(SessionFault) -> Event? {
        guard let slot = streams.slot(of: number) else {
            try checkIsNotIdle(number)
            try countUseless()
            return nil
        }
        let failure = streams[slot].failure(of: code)
        streams.remove(slot: slot, failure == .complete ? .ended : .resetByServer)
        return .ended(StreamKey(number: number, slot: slot), failure)
    }

    // MARK: - Settings and the end

    private mutating func receive(
        settings parameters: UnsafeRawBufferPointer, into output: TextBuffer
    ) throws(SessionFault) -> Event? {
        if peer.isKnown { try countUseless() }
        let before = peer.initialWindow
        try peer.apply(parameters)
        if phase == .opening { phase = .open }
        let change = peer.initialWindow - before
        // §6.9.2: the change applies to the windows of all streams.
        if change != 0, !streams.updateAll({ $0.sendWindow.add(change) }) {
            throw Self.windowOverflow
        }
        // The table may be emptied and raised again by one frame (RFC 7541 §4.2).
        encoder.changeTableSize(to: peer.lowestTableSize)
        encoder.changeTableSize(to: peer.headerTableSize)
        FrameWriter.writeSettingsAcknowledgement(into: output)
        return .changed
    }

    private mutating func receive(
        goAway code: FrameErrorCode, _ lastStream: UInt32
    ) throws(SessionFault) -> Event? {
        try countUseless()
        // §6.8: the number may only decrease.
        guard lastStream <= lastProcessed else {
            throw SessionFault(.protocolError, "It raises the last stream of GOAWAY.")
        }
        lastProcessed = lastStream
        goAwayCode = code
        drain()
        // The last one ends first when the list is used from its end.
        unprocessed = streams.keys.filter { $0.number > lastStream }.reversed()
        return .draining(code)
    }

    private static var windowOverflow: SessionFault {
        SessionFault(.flowControlError, "It raises a flow-control window above 2^31 - 1.")
    }

    private static var windowExceeded: SessionFault {
        SessionFault(.flowControlError, "It sends more than a flow-control window allows.")
    }
}
