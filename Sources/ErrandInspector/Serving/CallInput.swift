/// The received bytes of a connection, from which heads and bodies are taken; pure.
///
/// Each byte of a head is examined once, however many pieces it arrives in.
struct CallInput: Sendable {
    /// The largest head, in bytes.
    static let maximumHead = 16 << 10
    /// The largest body of a call, in bytes.
    static let maximumBody = 8 << 20

    private var bytes: [UInt8] = []
    private var lines: [Range<Int>] = []
    private var lineStart = 0
    /// The number of bytes that have been examined for the end of the head.
    private(set) var examined = 0

    /// The number of bytes that have not been taken.
    var count: Int { bytes.count }

    /// Whether a part of the next request has arrived.
    var hasBegun: Bool { !bytes.isEmpty }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Takes the next head; `nil` if it is not complete.
    mutating func takeHead() throws(CallHead.Fault) -> CallHead? {
        while examined < bytes.count {
            guard examined < Self.maximumHead else { throw .headTooLarge }
            let index = examined
            examined += 1
            guard bytes[index] == 0x0A else { continue }
            // A line feed alone is a line end for some parsers only.
            guard index > lineStart, bytes[index - 1] == 0x0D else { throw .malformed }
            let line = lineStart..<(index - 1)
            lineStart = examined
            if !line.isEmpty {
                lines.append(line)
            } else if !lines.isEmpty {
                let head = try CallHead(lines.map { bytes[$0] })
                bytes.removeFirst(examined)
                lines = []
                lineStart = 0
                examined = 0
                return head
            }
            // RFC 9112 §2.2: empty lines before a request line are ignored.
        }
        return nil
    }

    /// Takes a body; `nil` if it is not complete.
    mutating func takeBody(_ count: Int) -> [UInt8]? {
        guard bytes.count >= count else { return nil }
        defer { bytes.removeFirst(count) }
        return Array(bytes.prefix(count))
    }
}
