import HTTPTypes

/// The states of a stream that this side opened, as a pure state machine (RFC 9113 §5.1, §8.1).
///
///                        ┌─ receiving: head ─▶ content ─▶ ended ─┐
///     open ──────────────┤                                       ├──▶ closed
///                        └─ sending: open ─▶ (stopped) ─▶ ended ─┘
///
/// The request's HEADERS open the stream, so the state idle does not occur. Both directions end
/// independently. RST_STREAM of either side closes the stream at once; ``SessionState`` then removes
/// it.
struct StreamState: Sendable {
    /// What the caller asks for.
    struct Request: Sendable, Hashable {
        /// Whether the response has no content, whatever it announces (RFC 9110 §9.3.2).
        var isHead = false
        /// Whether a response of success opens a tunnel (RFC 9113 §8.5, RFC 8441 §5).
        var isConnect = false
        /// Whether content or trailers follow the head.
        var hasBody = false
        /// The largest decoded size of all heads of the response together, and of its trailers.
        var maximumHeadBytes = 256 << 10

        init() {}
    }

    enum Receiving: Sendable, Hashable { case head, content, ended }
    enum Sending: Sendable, Hashable {
        case open
        /// The response is a refusal, so the rest of the request is not sent.
        case stopped
        case ended
    }

    /// What a header block means for the response.
    enum Reception: Sendable {
        case interim, head, trailers
        case failed(StreamFailure)
    }

    let number: UInt32
    let request: Request
    private(set) var receiving = Receiving.head
    private(set) var sending: Sending
    var sendWindow: FlowWindow.Sending
    var receiveWindow: FlowWindow.Receiving
    /// The number of bytes of content that the response announces, `nil` if it does not.
    private var expected: Int64?
    private var received: Int64 = 0
    private var interim = 0
    private var headBytes = 0
    private var isTunnel = false

    init(
        _ number: UInt32, _ request: Request, send: FlowWindow.Sending,
        receive: FlowWindow.Receiving
    ) {
        self.number = number
        self.request = request
        sending = request.hasBody ? .open : .ended
        (sendWindow, receiveWindow) = (send, receive)
    }

    /// Whether both directions have ended.
    var isClosed: Bool { receiving == .ended && sending == .ended }

    /// Whether the head of the final response has arrived.
    var hasHead: Bool { receiving != .head }

    /// The largest decoded size of the next header block.
    var headLimit: Int {
        receiving == .head
            ? max(0, request.maximumHeadBytes - headBytes) : request.maximumHeadBytes
    }

    // MARK: - Receiving

    /// A header block has arrived.
    mutating func receive(_ section: borrowing FieldSection, endsStream: Bool) -> Reception {
        if section.isTooLarge {
            let isFull = section.isFull
            return .failed(
                isFull ? .malformed(.tooManyFields) : .tooLarge(limit: request.maximumHeadBytes))
        }
        if let fault = section.fault { return .failed(.malformed(fault)) }
        switch receiving {
        case .head: return receive(head: section, endsStream: endsStream)
        case .content:
            // A tunnel has no trailers (RFC 9113 §8.5).
            guard !isTunnel, !section.hasStatus, endsStream else {
                return .failed(.malformed(isTunnel ? .fieldsInTunnel : .secondHead))
            }
            receiving = .ended
            return lengthFault.map { .failed($0) } ?? .trailers
        case .ended:
            return .failed(.fault(.afterEnd))
        }
    }

    private mutating func receive(
        head section: borrowing FieldSection, endsStream: Bool
    ) -> Reception {
        guard section.hasStatus else { return .failed(.malformed(.lacksStatus)) }
        let status = section.head.status.code
        headBytes += section.size
        guard status >= 200 else {
            interim += 1
            // §8.6: there is no 101; §8.1: an interim response does not end the stream.
            if status == 101 { return .failed(.malformed(.switchesProtocolsHTTP2)) }
            if endsStream { return .failed(.malformed(.endsInInterim)) }
            guard interim <= HeadParser.maximumInterim else {
                let limit = HeadParser.maximumInterim
                return .failed(.malformed(.tooManyInterim(limit: limit)))
            }
            return .interim
        }
        isTunnel = request.isConnect && status < 300
        let isEmpty = request.isHead || status == 204 || status == 304
        expected = isTunnel ? nil : isEmpty ? 0 : section.head.framing.contentLength
        receiving = endsStream ? .ended : .content
        if status >= 300, sending == .open { sending = .stopped }
        if endsStream, let failure = lengthFault { return .failed(failure) }
        return .head
    }

    /// Content has arrived, without its padding; returns the failure that it causes.
    mutating func receive(content count: Int, endsStream: Bool) -> StreamFailure? {
        switch receiving {
        case .head: return .malformed(.lacksHead)
        case .ended: return .fault(.afterEnd)
        case .content: break
        }
        received += Int64(count)
        if let expected, received > expected { return .malformed(.tooLong) }
        guard endsStream else { return nil }
        receiving = .ended
        return lengthFault
    }

    /// Content of another length than announced makes a response malformed (RFC 9113 §8.1.1).
    private var lengthFault: StreamFailure? {
        guard let expected, received != expected else { return nil }
        return received < expected ? .truncated : .malformed(.tooLong)
    }

    /// The server has reset the stream.
    func failure(of code: FrameErrorCode) -> StreamFailure {
        // §8.1: the server has responded and does not need the rest of the request.
        if receiving == .ended { return .complete }
        switch code {
        // §8.7: the request was not processed.
        case .refusedStream where receiving == .head: return .unprocessed(code)
        case .http11Required where receiving == .head: return .requiresHTTP11
        default: return .reset(code)
        }
    }

    /// The server does not process the stream any more, as its GOAWAY says (RFC 9113 §6.8).
    ///
    /// A request whose response has begun is not sent again: its receiver has a part of it.
    func failure(ofGoAway code: FrameErrorCode) -> StreamFailure {
        switch receiving {
        case .head: .unprocessed(code)
        case .content: .reset(code)
        case .ended: .complete
        }
    }

    // MARK: - Sending

    /// The number of bytes that the stream's own window accepts.
    var available: Int { sending == .open ? sendWindow.available : 0 }

    /// The rest of the request is not sent.
    mutating func stopSending() { if sending == .open { sending = .stopped } }

    /// END_STREAM was sent.
    mutating func endSending() { sending = .ended }
}

/// The reason why a stream ended before its response was complete, or before its request was.
enum StreamFailure: Error, Sendable, Hashable {
    /// The server did not process the request, as RST_STREAM or GOAWAY with a code says; any request may be
    /// sent again (RFC 9113 §8.7).
    case unprocessed(FrameErrorCode)
    /// The server accepts the request only over HTTP/1.1 (RFC 9113 §7).
    case requiresHTTP11
    /// The server has reset the stream.
    case reset(FrameErrorCode)
    /// No failure: the response is complete, and the server does not need the rest of the request.
    case complete
    /// The response is malformed (RFC 9113 §8.1.1).
    case malformed(HeadParseError)
    /// The heads or the trailers are larger than the limit.
    case tooLarge(limit: Int)
    /// The stream ended before the announced number of bytes.
    case truncated
    /// The server has violated another rule (RFC 9113 §5.4.2).
    case fault(SessionFault)

    /// The code with which this side resets the stream; `nil` if the server has reset it.
    var code: FrameErrorCode? {
        switch self {
        case .unprocessed, .requiresHTTP11, .reset, .complete: nil
        case .malformed, .truncated: .protocolError
        case .tooLarge: .cancel
        case .fault(let fault): fault.code
        }
    }
}

extension SessionFault {
    static var afterEnd: SessionFault {
        SessionFault(.streamClosed, "It sends a frame on a stream that it has ended.")
    }
}

extension HeadParseError {
    fileprivate static var lacksStatus: HeadParseError {
        HeadParseError("It has no :status field.")
    }
    fileprivate static var lacksHead: HeadParseError {
        HeadParseError("Its content precedes its head.")
    }
    fileprivate static var secondHead: HeadParseError {
        HeadParseError("A second head follows the first, or trailers do not end the stream.")
    }
    fileprivate static var fieldsInTunnel: HeadParseError {
        HeadParseError("A tunnel has no trailers.")
    }
    fileprivate static var switchesProtocolsHTTP2: HeadParseError {
        HeadParseError("It switches protocols (101), which HTTP/2 does not support.")
    }
    fileprivate static var endsInInterim: HeadParseError {
        HeadParseError("It ends after an interim response.")
    }
    fileprivate static var tooLong: HeadParseError {
        HeadParseError("Its content is longer than announced, or not allowed.")
    }
    fileprivate static var tooManyFields: HeadParseError {
        HeadParseError("There are more than \(HeadParser.maximumFields) header fields.")
    }
}
