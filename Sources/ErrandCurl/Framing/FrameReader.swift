// Performance annotations: decision 17.

/// Reads frames from bytes, however they are split (RFC 9113 §4, §6).
///
/// The content of DATA is passed on in parts, as it arrives. Other frames are passed on when they are
/// complete, without a copy if the input contains them whole. HEADERS and CONTINUATION are joined to
/// one header block.
struct FrameReader: ~Copyable {
    enum Item {
        /// The input is used up.
        case needsInput
        /// A frame; its bytes are valid until the next call.
        case frame(Frame)
        /// A connection error (RFC 9113 §5.4.1). The reader must not be used any more.
        case failed(SessionFault)
    }

    private struct Header {
        let length: Int
        let kind: UInt8
        let flags: UInt8
        let stream: UInt32

        init(_ bytes: UnsafeRawBufferPointer) {
            length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
            kind = bytes[3]
            flags = bytes[4]
            stream = bytes.streamNumber(at: 5)
        }

        func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

        func fault(_ code: FrameErrorCode, _ what: String) -> SessionFault {
            SessionFault(code, "It sends a frame \(Frame.name(kind)) that \(what).")
        }
    }

    private enum State {
        case header
        /// The payload of a frame that is passed on when it is complete.
        case payload(Header)
        /// The length of the padding of a DATA frame.
        case paddingLength(Header)
        case content(Content)
        /// Padding, or the payload of a frame without a meaning.
        case skipping(Int)
    }

    /// The content of a DATA frame.
    private struct Content {
        let stream: UInt32
        let endsStream: Bool
        /// The number of bytes that have not arrived.
        var left: Int
        /// The number of bytes after the content.
        let padding: Int
        let length: Int
        var isFirst = true
    }

    /// A header block whose END_HEADERS has not arrived.
    private struct Block {
        let stream: UInt32
        let endsStream: Bool
        var emptyFrames = 0
    }

    /// The largest number of frames without content in one header block, which its size does not bound.
    private static let maximumEmptyFrames = 8
    /// The size of a header block whose memory is kept for the next one.
    private static let keptBlock = 64 << 10

    /// The largest header block before it is decoded.
    private var maximumBlock: Int
    private var state = State.header
    /// The bytes of a frame header or a payload that is not complete.
    private let collected = TextBuffer(capacity: 64)
    /// Whether the last frame consists of the collected bytes.
    private var isLent = false
    private var block: Block?
    private var blockBytes = TextBuffer(capacity: 1)

    /// Creates a reader that accepts header blocks up to a size.
    init(maximumBlock: Int) { self.maximumBlock = maximumBlock }

    /// Accepts header blocks up to a size, if it is larger than the one before.
    mutating func accept(blocksUpTo size: Int) { maximumBlock = max(maximumBlock, size) }

    /// Reads the next frame and removes its bytes from the input.
    mutating func next(_ input: inout UnsafeRawBufferPointer) -> Item {
        if isLent {
            collected.removeAll()
            isLent = false
        }
        while true {
            switch state {
            case .header:
                guard let bytes = take(Frame.headerCount, from: &input) else { return .needsInput }
                let header = Header(bytes)
                collected.removeAll()
                if let fault = check(header) { return .failed(fault) }
                if let frame = begin(header) { return .frame(frame) }
            case .payload(let header):
                guard let payload = take(header.length, from: &input) else { return .needsInput }
                state = .header
                isLent = collected.count > 0
                do throws(SessionFault) {
                    if let frame = try frame(header, payload) { return .frame(frame) }
                } catch {
                    return .failed(error)
                }
                collected.removeAll()
                isLent = false
            case .paddingLength(let header):
                guard let padding = input.first.map({ Int($0) }) else { return .needsInput }
                input.removeBytes(1)
                // §6.1: the padding is shorter than the payload.
                guard padding < header.length else { return .failed(.badPadding) }
                state = .content(Self.content(of: header, padding: padding))
            case .content(let content):
                guard content.left == 0 || !input.isEmpty else { return .needsInput }
                return .frame(.data(part(of: content, &input)))
            case .skipping(let left):
                let count = min(left, input.count)
                input.removeBytes(count)
                state = count == left ? .header : .skipping(left - count)
                if count < left { return .needsInput }
            }
        }
    }

    /// Whether the input ended between two frames, outside of a header block.
    var isAtFrameBoundary: Bool {
        guard case .header = state else { return false }
        return block == nil && (isLent || collected.count == 0)
    }

    /// Takes bytes from the input when all have arrived; collects them until then.
    private func take(
        _ count: Int, from input: inout UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        if collected.count == 0, input.count >= count {
            let bytes = UnsafeRawBufferPointer(rebasing: input[..<count])
            input.removeBytes(count)
            return bytes
        }
        let part = min(count - collected.count, input.count)
        collected.append(UnsafeRawBufferPointer(rebasing: input[..<part]))
        input.removeBytes(part)
        return collected.count == count ? collected.contents : nil
    }

    // MARK: - Frame headers

    /// The fault of a frame that its header shows and that concerns the connection.
    private func check(_ header: Header) -> SessionFault? {
        guard header.length <= Frame.defaultMaximum else {
            return header.fault(.frameSizeError, "is longer than SETTINGS_MAX_FRAME_SIZE")
        }
        if let block {
            // §4.3, §6.10: the frames of a header block follow each other, without any other.
            guard header.kind == Frame.Kind.continuation, header.stream == block.stream else {
                return header.fault(.protocolError, "interrupts a header block")
            }
            return nil
        }
        let needsStream: Bool?
        var isLengthValid = true
        switch header.kind {
        case Frame.Kind.data:
            needsStream = true
            isLengthValid = header.length > 0 || !header.has(Frame.Flag.padded)
        case Frame.Kind.headers:
            needsStream = true
            isLengthValid =
                header.length >= (header.has(Frame.Flag.padded) ? 1 : 0)
                + (header.has(Frame.Flag.priority) ? 5 : 0)
        // Another length is an error of the stream (§6.3).
        case Frame.Kind.priority: needsStream = true
        case Frame.Kind.reset:
            needsStream = true
            isLengthValid = header.length == 4
        case Frame.Kind.settings:
            needsStream = false
            isLengthValid =
                header.has(Frame.Flag.acknowledgement)
                ? header.length == 0 : header.length % 6 == 0
        case Frame.Kind.pushPromise:
            // §6.6, §8.4: ENABLE_PUSH 0 precedes every request.
            return header.fault(.protocolError, "was sent although SETTINGS_ENABLE_PUSH is 0")
        case Frame.Kind.ping:
            needsStream = false
            isLengthValid = header.length == 8
        case Frame.Kind.goAway:
            needsStream = false
            isLengthValid = header.length >= 8
        case Frame.Kind.windowUpdate:
            needsStream = nil
            isLengthValid = header.length == 4
        case Frame.Kind.continuation:
            return header.fault(.protocolError, "does not continue a header block")
        default: needsStream = nil
        }
        if let needsStream, needsStream != (header.stream != 0) {
            return header.fault(
                .protocolError, needsStream ? "belongs to no stream" : "belongs to a stream")
        }
        return isLengthValid ? nil : header.fault(.frameSizeError, "has an invalid length")
    }

    /// Begins a payload; returns the frame if it has no meaning beyond its header.
    private mutating func begin(_ header: Header) -> Frame? {
        switch header.kind {
        case Frame.Kind.data where header.has(Frame.Flag.padded): state = .paddingLength(header)
        case Frame.Kind.data: state = .content(Self.content(of: header, padding: nil))
        case Frame.Kind.priority where header.length != 5:
            state = .skipping(header.length)
            return .faulty(
                stream: header.stream, header.fault(.frameSizeError, "has an invalid length"))
        case Frame.Kind.data...Frame.Kind.continuation: state = .payload(header)
        default:
            state = .skipping(header.length)
            return .unknown
        }
        return nil
    }

    // MARK: - DATA

    private static func content(of header: Header, padding: Int?) -> Content {
        Content(
            stream: header.stream, endsStream: header.has(Frame.Flag.endStream),
            left: header.length - (padding.map { $0 + 1 } ?? 0), padding: padding ?? 0,
            length: header.length)
    }

    /// The part of the content that has arrived.
    private mutating func part(
        of content: Content, _ input: inout UnsafeRawBufferPointer
    ) -> Frame.DataPart {
        let count = min(content.left, input.count)
        let part = Frame.DataPart(
            stream: content.stream, bytes: UnsafeRawBufferPointer(rebasing: input[..<count]),
            frameLength: content.isFirst ? content.length : 0,
            contentLength: content.isFirst ? content.left : 0, isFirst: content.isFirst,
            endsStream: content.endsStream && count == content.left)
        input.removeBytes(count)
        if count == content.left {
            state = content.padding > 0 ? .skipping(content.padding) : .header
        } else {
            var rest = content
            rest.left -= count
            rest.isFirst = false
            state = .content(rest)
        }
        return part
    }

    // MARK: - Payloads

    private mutating func frame(
        _ header: Header, _ payload: UnsafeRawBufferPointer
    ) throws(SessionFault) -> Frame? {
        switch header.kind {
        case Frame.Kind.headers: return try headers(header, payload)
        case Frame.Kind.continuation: return try continuation(header, payload)
        case Frame.Kind.priority: return .priority(stream: header.stream)
        case Frame.Kind.reset:
            return .reset(
                stream: header.stream, code: FrameErrorCode(rawValue: payload.number(at: 0)))
        case Frame.Kind.settings:
            return header.has(Frame.Flag.acknowledgement)
                ? .settingsAcknowledgement : .settings(payload)
        case Frame.Kind.ping:
            let data = UInt64(payload.number(at: 0)) << 32 | UInt64(payload.number(at: 4))
            return header.has(Frame.Flag.acknowledgement) ? .pingAcknowledgement(data) : .ping(data)
        case Frame.Kind.goAway:
            return .goAway(
                lastStream: payload.streamNumber(at: 0),
                code: FrameErrorCode(rawValue: payload.number(at: 4)))
        case Frame.Kind.windowUpdate:
            let increment = Int(payload.number(at: 0) & 0x7FFF_FFFF)
            guard increment == 0 else {
                return .windowUpdate(stream: header.stream, increment: increment)
            }
            // §6.9: an error of the stream, or of the connection.
            let fault = header.fault(.protocolError, "has an increment of 0")
            if header.stream == 0 { throw fault }
            return .faulty(stream: header.stream, fault)
        default: return nil
        }
    }

    /// Removes padding and priority (§6.2); returns nothing if CONTINUATION follows.
    private mutating func headers(
        _ header: Header, _ payload: UnsafeRawBufferPointer
    ) throws(SessionFault) -> Frame? {
        var start = 0
        var end = payload.count
        if header.has(Frame.Flag.padded) {
            start = 1
            end -= Int(payload[0])
        }
        if header.has(Frame.Flag.priority) { start += 5 }
        guard start <= end else { throw .badPadding }
        let fragment = UnsafeRawBufferPointer(rebasing: payload[start..<end])
        let endsStream = header.has(Frame.Flag.endStream)
        if header.has(Frame.Flag.endHeaders) {
            return .headers(stream: header.stream, block: fragment, endsStream: endsStream)
        }
        if blockBytes.count > Self.keptBlock { blockBytes = TextBuffer(capacity: 1) }
        blockBytes.removeAll()
        block = Block(stream: header.stream, endsStream: endsStream)
        try append(fragment)
        return nil
    }

    private mutating func continuation(
        _ header: Header, _ payload: UnsafeRawBufferPointer
    ) throws(SessionFault) -> Frame? {
        try append(payload)
        guard let block, header.has(Frame.Flag.endHeaders) else { return nil }
        self.block = nil
        return .headers(
            stream: block.stream, block: blockBytes.contents, endsStream: block.endsStream)
    }

    private mutating func append(_ fragment: UnsafeRawBufferPointer) throws(SessionFault) {
        if fragment.isEmpty { block?.emptyFrames += 1 }
        guard let block, block.emptyFrames <= Self.maximumEmptyFrames else {
            throw SessionFault(
                .enhanceYourCalm, "It sends empty CONTINUATION frames without end.")
        }
        guard blockBytes.count + fragment.count <= maximumBlock else {
            throw SessionFault(
                .enhanceYourCalm, "It sends a header block of more than \(maximumBlock) bytes.")
        }
        blockBytes.append(fragment)
    }
}

extension SessionFault {
    fileprivate static var badPadding: SessionFault {
        SessionFault(.protocolError, "It sends a frame with more padding than its payload.")
    }
}

extension UnsafeRawBufferPointer {
    /// The number in network byte order at an offset.
    func number(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The number of a stream at an offset, without the reserved bit (RFC 9113 §4.1).
    func streamNumber(at offset: Int) -> UInt32 { number(at: offset) & 0x7FFF_FFFF }

    mutating func removeBytes(_ count: Int) { self = Self(rebasing: self[count...]) }
}
