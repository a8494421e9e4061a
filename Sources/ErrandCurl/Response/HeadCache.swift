/// A cache of parsed heads.
///
/// Within one second, the resolution of `Date`, a server sends the same head for the same request,
/// and comparing a head is much cheaper than parsing it. The table is direct-mapped and of fixed
/// size, like ``FieldCache``.
struct HeadCache {
    private static let slots = 32
    private static let longest = 2048

    // Two arrays: the texts are compared without a copy, and the heads are usually copied.
    private var texts = [[UInt8]](repeating: [], count: slots)
    private var heads = [HeadParser.Head?](repeating: nil, count: slots)

    /// The cached head for these bytes, if any.
    func head(in bytes: [UInt8]) -> HeadParser.Head? {
        guard bytes.count <= Self.longest else { return nil }
        let slot = Self.slot(of: bytes)
        let isKnown = bytes.withUnsafeBytes { FieldCache.isSame(texts[slot], $0) }
        return isKnown ? heads[slot] : nil
    }

    /// The cached head for these bytes, if any.
    func head(in bytes: UnsafeRawBufferPointer) -> HeadParser.Head? {
        guard bytes.count <= Self.longest else { return nil }
        let slot = Self.slot(of: bytes)
        return FieldCache.isSame(texts[slot], bytes) ? heads[slot] : nil
    }

    /// Caches a head with a copy of its bytes.
    mutating func insert(_ head: HeadParser.Head, copying bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.longest else { return }
        let slot = Self.slot(of: bytes)
        texts[slot].removeAll(keepingCapacity: true)
        texts[slot].append(contentsOf: bytes)
        heads[slot] = head
    }

    /// Caches a head and takes its bytes; the caller gets another array to overwrite.
    mutating func insert(_ head: HeadParser.Head, in bytes: inout [UInt8]) {
        guard bytes.count <= Self.longest else { return }
        let slot = Self.slot(of: bytes)
        if bytes.capacity > 2 * Self.longest {
            // The array once held a larger head, so its capacity is not kept here.
            texts[slot] = Array(bytes)
        } else {
            swap(&texts[slot], &bytes)
        }
        heads[slot] = head
    }

    private static func slot(of bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { slot(of: $0) }
    }

    private static func slot(of bytes: UnsafeRawBufferPointer) -> Int {
        FieldCache.hash(of: bytes) % slots
    }
}
