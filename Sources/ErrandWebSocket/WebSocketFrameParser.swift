/// Reads the frames of a server from bytes, however they are split (RFC 6455 §5.2).
///
/// The payload of data frames is passed on in parts, as it arrives, and stays in the input until ``take(_:from:)``.
/// Control frames are passed on when they are complete. No memory depends on a length that the server announces.
package struct WebSocketFrameParser: Sendable {
    /// The header of a data frame.
    package struct Header: Sendable, Hashable {
        /// Text, binary or continuation.
        package let opcode: WebSocketOpcode
        /// FIN: the frame is the last one of its message.
        package let endsMessage: Bool
        /// RSV1: the message is compressed (RFC 7692 §6).
        package let isCompressed: Bool
        /// The number of bytes of the payload.
        package let length: UInt64

        /// The number of bytes of the header itself (RFC 6455 §5.2), without a mask.
        var headerLength: UInt64 { length <= 125 ? 2 : length <= 0xFFFF ? 4 : 10 }
    }

    package enum Item {
        /// The input is used up.
        case needsInput
        /// A data frame begins. Its payload follows if it has one.
        case header(Header)
        /// The bytes of the payload at the start of the input, at least one.
        case payload(UnsafeRawBufferPointer)
        /// A control frame.
        case control(WebSocketOpcode, [UInt8])
        /// The server has broken the protocol. The parser must not be used any more.
        case failed(WebSocketFault)
    }

    /// The first byte of a frame.
    private struct Start {
        let opcode: WebSocketOpcode
        let isFinal: Bool
        let isCompressed: Bool
    }

    private enum State {
        case start
        case length(Start)
        /// Further bytes of the length.
        case extendedLength(Start, left: Int, value: UInt64, isLong: Bool)
        case control(WebSocketOpcode, left: Int)
        case payload(left: UInt64)
    }

    /// The largest payload of a control frame (RFC 6455 §5.5).
    package static let maximumControl = 125

    /// Whether RSV1 has a meaning.
    private let allowsCompression: Bool
    private var state = State.start
    private var collected: [UInt8] = []

    package init(allowsCompression: Bool) { self.allowsCompression = allowsCompression }

    /// Whether the input ended between two frames.
    package var isAtFrameBoundary: Bool {
        if case .start = state { true } else { false }
    }

    /// Reads the next item, and removes its bytes from the input unless they are a payload.
    package mutating func next(_ input: inout UnsafeRawBufferPointer) -> Item {
        while true {
            switch state {
            case .start:
                guard let byte = Self.take(from: &input) else { return .needsInput }
                switch start(byte) {
                case .success(let start): state = .length(start)
                case .failure(let fault): return .failed(fault)
                }
            case .length(let start):
                guard let byte = Self.take(from: &input) else { return .needsInput }
                // §5.1: a server does not mask its frames.
                guard byte & 0x80 == 0 else {
                    return .failed(.violation("It sends a masked frame."))
                }
                // §5.5: control frames have a payload of at most 125 bytes.
                guard !start.opcode.isControl || byte <= Self.maximumControl else {
                    return .failed(.violation("It sends a control frame of more than 125 bytes."))
                }
                switch byte {
                case 126: state = .extendedLength(start, left: 2, value: 0, isLong: false)
                case 127: state = .extendedLength(start, left: 8, value: 0, isLong: true)
                default: if let item = begin(start, length: UInt64(byte)) { return item }
                }
            case .extendedLength(let start, let left, let value, let isLong):
                guard let byte = Self.take(from: &input) else { return .needsInput }
                // §5.2: the most significant bit of 64 is 0.
                guard !isLong || left < 8 || byte & 0x80 == 0 else {
                    return .failed(.violation("It sends a frame length of more than 63 bits."))
                }
                let length = value << 8 | UInt64(byte)
                guard left == 1 else {
                    state = .extendedLength(start, left: left - 1, value: length, isLong: isLong)
                    continue
                }
                // §5.2: the length has the shortest form.
                guard length > (isLong ? 0xFFFF : 125) else {
                    return .failed(.violation("It sends a frame length that is not minimal."))
                }
                if let item = begin(start, length: length) { return item }
            case .control(let opcode, let left):
                let count = min(left, input.count)
                collected.append(contentsOf: input[..<count])
                Self.removeFirst(count, of: &input)
                guard count == left else {
                    state = .control(opcode, left: left - count)
                    return .needsInput
                }
                state = .start
                let payload = collected
                collected.removeAll(keepingCapacity: true)
                return .control(opcode, payload)
            case .payload(let left):
                guard !input.isEmpty else { return .needsInput }
                let count = Int(min(left, UInt64(input.count)))
                return .payload(UnsafeRawBufferPointer(rebasing: input[..<count]))
            }
        }
    }

    /// Removes bytes of a payload that ``next(_:)`` has returned from the input.
    ///
    /// - Returns: Whether they were the last ones of the frame.
    package mutating func take(_ count: Int, from input: inout UnsafeRawBufferPointer) -> Bool {
        guard case .payload(let left) = state else { return true }
        let taken = min(UInt64(count), left, UInt64(input.count))
        Self.removeFirst(Int(taken), of: &input)
        state = taken == left ? .start : .payload(left: left - taken)
        return taken == left
    }

    private func start(_ byte: UInt8) -> Result<Start, WebSocketFault> {
        // §5.2: the reserved bits are 0 unless an extension gives them a meaning.
        guard byte & 0x30 == 0, byte & 0x40 == 0 || allowsCompression else {
            return .failure(.violation("It sends a frame with a reserved bit."))
        }
        // §5.2: the other opcodes are reserved.
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else {
            return .failure(.violation("It sends a frame with the opcode \(byte & 0x0F)."))
        }
        let isFinal = byte & 0x80 != 0
        let isCompressed = byte & 0x40 != 0
        // §5.4, §5.5: control frames are not fragmented.
        guard isFinal || !opcode.isControl else {
            return .failure(.violation("It sends a fragmented control frame."))
        }
        // RFC 7692 §6: only the first frame of a message has RSV1.
        guard !isCompressed || opcode == .text || opcode == .binary else {
            return .failure(.violation("It sends RSV1 in a frame that begins no message."))
        }
        return .success(Start(opcode: opcode, isFinal: isFinal, isCompressed: isCompressed))
    }

    /// Begins a payload; returns the header of a data frame.
    private mutating func begin(_ start: Start, length: UInt64) -> Item? {
        if start.opcode.isControl {
            state = .control(start.opcode, left: Int(length))
            return nil
        }
        state = length > 0 ? .payload(left: length) : .start
        return .header(
            Header(
                opcode: start.opcode, endsMessage: start.isFinal,
                isCompressed: start.isCompressed, length: length))
    }

    @inline(__always)
    private static func take(from input: inout UnsafeRawBufferPointer) -> UInt8? {
        guard let byte = input.first else { return nil }
        removeFirst(1, of: &input)
        return byte
    }

    @inline(__always)
    private static func removeFirst(_ count: Int, of input: inout UnsafeRawBufferPointer) {
        input = UnsafeRawBufferPointer(rebasing: input[count...])
    }
}
