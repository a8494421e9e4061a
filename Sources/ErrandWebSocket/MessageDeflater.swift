import ErrandHTTP

/// Compresses the messages of a client (RFC 7692 §7.2.1).
struct MessageDeflater: ~Copyable, Sendable {
    private static let noFlush: Int32 = 0
    /// `Z_SYNC_FLUSH`: the output ends with an empty block without compression.
    private static let flush: Int32 = 2

    private let library: ZlibLibrary
    private let windowBits: Int
    private let level: Int
    private let keepsContext: Bool
    private let stream = ZlibStream()
    private var isOpen = false
    /// The window, while zlib has no memory.
    private var window: [UInt8] = []

    /// - Returns: `nil` if zlib is not installed, or has no such window.
    init?(_ agreement: DeflateExtension.Agreement) {
        guard let library = ZlibLibrary.loaded, agreement.isDeflating else { return nil }
        self.library = library
        windowBits = agreement.clientWindowBits
        level = agreement.level
        keepsContext = agreement.keepsClientContext
    }

    deinit { if isOpen { _ = library.endDeflating(stream.address) } }

    /// Appends the compressed bytes of a message, or of its next fragment.
    ///
    /// - Returns: Whether zlib has the memory for it.
    mutating func append(
        _ bytes: UnsafeRawBufferPointer, endsMessage: Bool, to output: inout WebSocketBuffer
    ) -> Bool {
        guard open() else { return false }
        let start = output.count
        var rest = bytes
        repeat {
            let count = stream.setInput(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            guard write(rest.isEmpty ? Self.flush : Self.noFlush, expected: count / 2, &output)
            else { return false }
        } while !rest.isEmpty
        guard endsMessage else { return true }
        if output.count - start >= 4 {
            // §7.2.1: without the last four bytes, which are 00 00 FF FF.
            output.removeLast(4)
        } else {
            // §7.2.3.6: the fragment is empty, and nothing follows the flush of the one before.
            output.append(1) { $0[0] = 0 }
        }
        if !keepsContext {
            _ = library.endDeflating(stream.address)
            isOpen = false
        }
        return true
    }

    /// Calls zlib until it has written all that it has.
    private func write(_ flush: Int32, expected: Int, _ output: inout WebSocketBuffer) -> Bool {
        var room = expected + 64
        while true {
            var result: Int32 = 0
            var roomLeft = 0
            output.append(upTo: room) { target in
                let size = stream.setOutput(target)
                result = library.deflate(stream.address, flush)
                roomLeft = stream.roomLeft
                return size - roomLeft
            }
            // Z_OK, and Z_BUF_ERROR, which means that nothing is left to do.
            guard result == 0 || result == -5 else { return false }
            if roomLeft > 0 { return true }
            room = max(512, expected / 2)
        }
    }

    /// Returns zlib's memory between two messages, and keeps the bytes that the next one may refer to.
    mutating func rest() {
        guard isOpen, let read = library.readSentDictionary else { return }
        var count: UInt32 = 0
        guard read(stream.address, nil, &count) == 0 else { return }
        var window = [UInt8](repeating: 0, count: Int(count))
        let isRead = window.withUnsafeMutableBytes {
            read(stream.address, $0.baseAddress, &count) == 0
        }
        guard isRead else { return }
        self.window = window
        _ = library.endDeflating(stream.address)
        isOpen = false
    }

    private mutating func open() -> Bool {
        if isOpen { return true }
        // Method 8 (deflate), without header and checksum. The memory for hashes has the size of the window; strategy
        // 0 is the default.
        isOpen =
            library.startDeflating(
                stream.address, Int32(level), 8, Int32(-windowBits),
                Int32(max(1, windowBits - 7)), 0, ZlibStream.version, ZlibStream.size) == 0
        if isOpen, !window.isEmpty {
            // Without it, the next message is only longer.
            window.withUnsafeBytes {
                _ = library.setSentDictionary(stream.address, $0.baseAddress, UInt32($0.count))
            }
            window = []
        }
        return isOpen
    }
}
