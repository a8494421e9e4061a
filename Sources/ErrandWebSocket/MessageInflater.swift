import ErrandHTTP

/// Decompresses the messages of a server (RFC 7692 §7.2.2).
// @unchecked: its output belongs to it alone.
struct MessageInflater: ~Copyable, @unchecked Sendable {
    /// The last bytes of each message, which the sender has removed.
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    private static let room = 8 << 10
    private static let noFlush: Int32 = 0
    /// `Z_BLOCK`: stop between two blocks.
    private static let block: Int32 = 5

    private let library: ZlibLibrary
    private let windowBits: Int
    private let keepsContext: Bool
    private let stream = ZlibStream()
    private var isOpen = false
    private var output: UnsafeMutableRawBufferPointer?
    /// The number of bytes of the tail that zlib has read.
    private var tailCount = 0
    /// The window, while zlib has no memory.
    private var window: [UInt8] = []

    /// - Returns: `nil` if zlib is not installed.
    init?(windowBits: Int, keepsContext: Bool) {
        guard let library = ZlibLibrary.loaded else { return nil }
        self.library = library
        // Old versions of zlib use 9 bits in place of 8.
        self.windowBits = max(9, windowBits)
        self.keepsContext = keepsContext
    }

    deinit {
        if isOpen { _ = library.endInflating(stream.address) }
        output?.deallocate()
    }

    /// Decompresses bytes of a message.
    ///
    /// - Returns: The decompressed bytes, valid until the next call, and how many bytes of the input they used.
    mutating func next(
        _ input: UnsafeRawBufferPointer
    ) throws(WebSocketFault) -> (output: UnsafeRawBufferPointer, consumed: Int) {
        let step = try step(input, Self.noFlush)
        guard step.output.count > 0 || step.consumed > 0 else { throw Self.corrupt }
        return step
    }

    /// Decompresses the end of a message, after all of its bytes; called until the message is complete.
    mutating func finish() throws(WebSocketFault) -> (
        output: UnsafeRawBufferPointer, isComplete: Bool
    ) {
        var result: (output: UnsafeRawBufferPointer, consumed: Int)
        repeat {
            result = try Self.tail[tailCount...].withUnsafeBytes { bytes in
                Result { () throws(WebSocketFault) in try step(bytes, Self.block) }
            }.get()
            tailCount += result.consumed
            // The end is a boundary between two blocks (128) without unused bits (the lower six).
            let isComplete = tailCount == Self.tail.count && stream.dataType & 0xBF == 128
            if isComplete {
                tailCount = 0
                if !keepsContext { close() }
                return (result.output, true)
            }
            guard !result.output.isEmpty || result.consumed > 0 else { throw Self.corrupt }
        } while result.output.isEmpty
        return (result.output, false)
    }

    private mutating func step(
        _ input: UnsafeRawBufferPointer, _ flush: Int32
    ) throws(WebSocketFault) -> (output: UnsafeRawBufferPointer, consumed: Int) {
        if !isOpen { try open() }
        let room = output ?? .allocate(byteCount: Self.room, alignment: 16)
        output = room
        let available = stream.setInput(input)
        _ = stream.setOutput(room)
        switch library.inflate(stream.address, flush) {
        // Z_OK, and Z_BUF_ERROR, which means that more input or room is needed.
        case 0, -5: break
        // Z_STREAM_END: a block with BFINAL, after which others may follow (RFC 7692 §7.2.3.4).
        case 1: try restart()
        // Z_MEM_ERROR
        case -4: throw Self.noMemory
        default: throw Self.corrupt
        }
        let produced = room.count - stream.roomLeft
        return (
            UnsafeRawBufferPointer(rebasing: room[..<produced]), available - stream.inputLeft
        )
    }

    /// Returns zlib's memory between two messages, and keeps the bytes that the next one may refer to.
    mutating func rest() {
        output?.deallocate()
        output = nil
        guard isOpen else { return }
        guard let window = readWindow() else { return }
        self.window = window
        close()
    }

    private mutating func open() throws(WebSocketFault) {
        // A negative size of the window: without header and checksum.
        let result = library.startInflating(
            stream.address, Int32(-windowBits), ZlibStream.version, ZlibStream.size)
        guard result == 0 else { throw Self.noMemory }
        isOpen = true
        guard !window.isEmpty else { return }
        let isSet = window.withUnsafeBytes {
            library.setDictionary(stream.address, $0.baseAddress, UInt32($0.count)) == 0
        }
        guard isSet else { throw Self.noMemory }
        window = []
    }

    private mutating func close() {
        if isOpen { _ = library.endInflating(stream.address) }
        isOpen = false
    }

    /// Begins another sequence of blocks with the same window.
    private func restart() throws(WebSocketFault) {
        let isRestarted = readWindow()?.withUnsafeBytes { window in
            library.resetInflating(stream.address) == 0
                && library.setDictionary(
                    stream.address, window.baseAddress, UInt32(window.count)) == 0
        }
        guard isRestarted == true else { throw Self.noMemory }
    }

    /// The last bytes of the messages; `nil` if zlib fails.
    private func readWindow() -> [UInt8]? {
        var count: UInt32 = 0
        guard library.readDictionary(stream.address, nil, &count) == 0 else { return nil }
        var window = [UInt8](repeating: 0, count: Int(count))
        let isRead = window.withUnsafeMutableBytes {
            library.readDictionary(stream.address, $0.baseAddress, &count) == 0
        }
        return isRead ? window : nil
    }

    private static var corrupt: WebSocketFault {
        WebSocketFault(.invalidPayload, "It sends a message whose compression is corrupt.")
    }

    private static var noMemory: WebSocketFault {
        WebSocketFault(.internalError, "zlib has no memory to decompress its message.")
    }
}
