package import ErrandSystem

/// The part of a hash function that differs between MD5, SHA-1 and SHA-2: its state, and the
/// compression of complete blocks.
package protocol BlockCompression: Sendable {
    /// The length of a block in bytes: 64 or 128.
    static var blockSize: Int { get }
    /// Whether the length at the end of the message begins with its lowest byte.
    static var isLittleEndian: Bool { get }

    /// The state before the first block.
    init()

    /// Compresses any number of complete blocks into the state.
    mutating func compress(_ blocks: UnsafeRawBufferPointer)

    /// The digest, after the last block.
    var digest: [UInt8] { get }
}

/// An incremental hash function that pads its message after the scheme of MD5 and SHA (RFC 1321
/// §3.1, FIPS 180-4 §5.1).
///
/// It is not constant-time, so it must not be used with secrets (decision 4).
package struct BlockHash<Compression: BlockCompression>: Sendable {
    private var state = Compression()
    private var block: [UInt8] = []
    private var length: UInt64 = 0

    package init() { block.reserveCapacity(Compression.blockSize) }

    package mutating func update(_ data: Data) {
        data.withUnsafeBytes { update($0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let size = Compression.blockSize
        length &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !block.isEmpty {
            let missing = rest.prefix(size - block.count)
            block.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard block.count == size else { return }
            block.withUnsafeBytes { state.compress($0) }
            block.removeAll(keepingCapacity: true)
        }
        let whole = rest.count & ~(size - 1)
        state.compress(UnsafeRawBufferPointer(rebasing: rest.prefix(whole)))
        block.append(contentsOf: rest.dropFirst(whole))
    }

    /// The digest of all bytes so far.
    ///
    /// The state is unchanged, so that more bytes can follow.
    package func finalize() -> [UInt8] {
        var (state, block) = (state, block)
        let size = Compression.blockSize
        block.append(0x80)
        // The length takes an eighth of a block; a message in memory or in a file fits in the lower
        // eight bytes.
        let lengthSize = size / 8
        while block.count % size != size - lengthSize { block.append(0) }
        block += repeatElement(0, count: lengthSize - 8)
        let bits = length &* 8
        let bytes = (0..<UInt64(8)).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        block += Compression.isLittleEndian ? bytes : bytes.reversed()
        block.withUnsafeBytes { state.compress($0) }
        return state.digest
    }

    /// The digest of a whole message.
    package static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var hash = Self()
        Array(bytes).withUnsafeBytes { hash.update($0) }
        return hash.finalize()
    }

    /// The digest of a whole message, in lower-case hexadecimal digits.
    package static func hex(_ bytes: some Sequence<UInt8>) -> String { digest(bytes).lowercaseHex }
}
