/// Heads that were read before: within one second, the resolution of `Date`, a server answers the same request with the
/// same head, and comparing one is many times cheaper than reading it.
///
/// A direct-mapped table of fixed size, as ``FieldCache`` is.
struct HeadMemory {
    private static let slots = 32
    private static let longest = 2048

    // Two arrays: what is compared is not copied, and most often the head is.
    private var texts = [[UInt8]](repeating: [], count: slots)
    private var heads = [HeadParser.Head?](repeating: nil, count: slots)

    /// The head that these bytes are, if it is remembered.
    func head(in bytes: [UInt8]) -> HeadParser.Head? {
        guard bytes.count <= Self.longest else { return nil }
        let slot = Self.slot(of: bytes)
        let isKnown = bytes.withUnsafeBytes { FieldCache.isSame(texts[slot], $0) }
        return isKnown ? heads[slot] : nil
    }

    /// Remembers a head and takes its bytes; the caller gets others to write over.
    mutating func keep(_ head: HeadParser.Head, in bytes: inout [UInt8]) {
        guard bytes.count <= Self.longest else { return }
        let slot = Self.slot(of: bytes)
        if bytes.capacity > 2 * Self.longest {
            // Once it held something larger, and that is not to be kept here.
            texts[slot] = Array(bytes)
        } else {
            swap(&texts[slot], &bytes)
        }
        heads[slot] = head
    }

    private static func slot(of bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { FieldCache.hash(of: $0) } % slots
    }
}
