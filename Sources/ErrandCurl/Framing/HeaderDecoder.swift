// Performance annotations: decision 17.

import HTTPTypes

/// Decodes header blocks (RFC 7541).
///
/// The dynamic table belongs to the connection, so every block must be decoded, also those of
/// streams that are gone. The values of the table are complete fields: a reference costs no
/// allocation. Servers repeat blocks, and literals that they do not refer to; both are found by
/// their bytes in tables of fixed size.
struct HeaderDecoder {
    /// What a block announces beyond its fields.
    struct Summary {
        /// The decoded size: names, values and 32 for each field (RFC 9113 §6.5.2).
        var size = 0
        var count = 0
        /// Whether a field refers to the dynamic table.
        var refersToTable = false
        /// Whether the block changes the maximum size of the table.
        var resizes = false
        /// Whether a field must not be cached, because its sender says so (RFC 7541 §6.2.3).
        var isSensitive = false
    }

    /// `SETTINGS_HEADER_TABLE_SIZE` unless an endpoint sets it.
    static let defaultTableSize = 4096

    /// The largest size of the table that the peer may choose.
    private let tableSize: Int
    private static let longestName = 64
    /// The room for decoded text that is kept for the next block.
    private static let keptText = 64 << 10

    private var table: HeaderTable<HeaderEntry>
    /// Room for decoded text.
    private var names: [UInt8] = []
    private var values: [UInt8] = []
    private var literals = LiteralCache()
    private var blocks = BlockCache()
    private var known = [HeaderName?](repeating: nil, count: 64)

    /// Creates a decoder whose table has a size that this side announces.
    init(tableSize: Int = defaultTableSize) {
        self.tableSize = tableSize
        table = HeaderTable(bound: tableSize)
    }

    /// The entries of the dynamic table, the newest first.
    var entries: [HeaderEntry] { (0..<table.count).compactMap { table.entry(at: $0) } }

    /// The size of the dynamic table.
    var size: Int { table.size }

    /// The number of literals and of sections that the caches hold.
    var cachedCount: Int {
        literals.entries.count { $0 != nil } + blocks.texts.count { !$0.isEmpty }
    }

    // MARK: - Blocks

    /// Decodes the head of a response, or its trailers.
    ///
    /// - Parameter limit: The largest decoded size. The fields of a larger section are left out; the
    ///   table changes nevertheless.
    /// - Throws: ``SessionFault`` if the block is malformed (RFC 7541 §5 to §6), or 16 times larger
    ///   than the limit.
    mutating func section(
        in block: UnsafeRawBufferPointer, limit: Int
    ) throws(SessionFault) -> FieldSection {
        if let slot = blocks.slot(of: block, version: table.version) {
            let known = blocks.sections[slot]
            if known.size <= limit {
                for entry in blocks.inserted[slot] { table.insert(entry) }
                return known
            }
        }
        let (before, version) = (table.newest, table.version)
        var section = FieldSection()
        let summary = try decode(block, limit: limit) { section.add($0) }
        if values.count > Self.keptText { values = [] }
        section.end(size: summary.size, isTooLarge: summary.size > limit || section.isFull)
        guard !section.containsSecrets, section.fault == nil, !section.isTooLarge,
            !summary.isSensitive, !summary.resizes, block.count <= BlockCache.longest
        else { return section }
        // The same bytes have the same meaning if they do not refer to the table, or if it is the
        // same.
        let inserted = table.newest - before
        if !summary.refersToTable {
            guard inserted == table.version - version, inserted <= table.count, inserted <= 16
            else { return section }
            let entries = (0..<inserted).reversed().compactMap { table.entry(at: $0) }
            blocks.insert(section, of: block, inserting: entries, version: nil)
        } else if table.version == version {
            blocks.insert(section, of: block, inserting: [], version: version)
        }
        return section
    }

    /// Decodes a block and passes its fields on until their size exceeds a limit.
    mutating func decode(
        _ block: UnsafeRawBufferPointer, limit: Int, each: (HeaderEntry) -> Void
    ) throws(SessionFault) -> Summary {
        var summary = Summary()
        var position = 0
        let farLimit = max(4096, min(limit, 1 << 40)) * 16
        while position < block.count {
            let first = block[position]
            if first & 0x80 != 0 {
                let index = try Self.integer(in: block, at: &position, prefix: 7)
                if index > 0, index <= StaticTable.count {
                    StaticTable.entries.withUnsafeBufferPointer {
                        summary.add($0[index - 1], limit: limit, each: each)
                    }
                } else {
                    summary.refersToTable = true
                    guard index > 0, let entry = table.entry(at: index - StaticTable.count - 1)
                    else { throw .badIndex }
                    summary.add(entry, limit: limit, each: each)
                }
            } else if first & 0xE0 == 0x20 {
                // The size changes only before the first field (RFC 7541 §4.2).
                guard summary.count == 0 else {
                    throw SessionFault(
                        .compressionError, "A size update follows a field of its header block.")
                }
                let size = try Self.integer(in: block, at: &position, prefix: 5)
                guard size <= tableSize else {
                    throw SessionFault(
                        .compressionError,
                        "Its header table is larger than SETTINGS_HEADER_TABLE_SIZE.")
                }
                summary.resizes = true
                table.resize(to: size)
            } else {
                let entry = try literal(in: block, at: &position, &summary)
                if first & 0x40 != 0 { table.insert(entry) }
                summary.add(entry, limit: limit, each: each)
            }
            guard summary.size <= farLimit else {
                throw SessionFault(
                    .enhanceYourCalm, "A header block decodes to more than 16 times the limit.")
            }
        }
        return summary
    }

    // MARK: - Fields

    /// Decodes a literal field (RFC 7541 §6.2) and moves behind it.
    private mutating func literal(
        in block: UnsafeRawBufferPointer, at position: inout Int, _ summary: inout Summary
    ) throws(SessionFault) -> HeaderEntry {
        let start = position
        let first = block[start]
        let isIndexed = first & 0x40 != 0
        let isSensitive = first & 0xF0 == 0x10
        let index = try Self.integer(in: block, at: &position, prefix: isIndexed ? 6 : 4)
        var nameText = Text()
        if index == 0 { nameText = try Text(in: block, at: &position) }
        let valueText = try Text(in: block, at: &position)
        let isDynamic = index > StaticTable.count
        if isSensitive { summary.isSensitive = true }
        if isDynamic { summary.refersToTable = true }
        let written = UnsafeRawBufferPointer(rebasing: block[start..<position])
        let mayCache = !isDynamic && !isSensitive && written.count <= LiteralCache.longest
        var slot = 0
        if mayCache {
            slot = FieldCache.hash(of: written) & (LiteralCache.slots - 1)
            if FieldCache.isSame(literals.texts[slot], written), let entry = literals.entries[slot]
            {
                return entry
            }
        }
        let name: HeaderName
        if index == 0 {
            name = try self.name(nameText)
        } else if isDynamic {
            guard let entry = table.entry(at: index - StaticTable.count - 1) else {
                throw .badIndex
            }
            name = entry.name
        } else {
            name = StaticTable.entries[index - 1].name
        }
        let entry = try valueText.withBytes(&values) { HeaderEntry(name, value: $0) }
        if mayCache, entry.meaning != .secret {
            literals.texts[slot] = Array(written)
            literals.entries[slot] = entry
        }
        return entry
    }

    private mutating func name(_ text: Text) throws(SessionFault) -> HeaderName {
        let slot = FieldCache.hash(of: text.bytes) & (known.count - 1)
        let cached = known[slot]
        let (name, isNew) = try text.withBytes(&names) { bytes in
            if let cached, cached.written == nil, cached.count == bytes.count,
                cached.name.canonicalName.utf8.elementsEqual(bytes)
            {
                return (cached, false)
            }
            return (HeaderName(bytes), true)
        }
        if isNew, name.count <= Self.longestName { known[slot] = name }
        return name
    }

    /// A string literal in a block (RFC 7541 §5.2).
    private struct Text {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        var isEncoded = false

        init() {}

        init(in block: UnsafeRawBufferPointer, at position: inout Int) throws(SessionFault) {
            guard position < block.count else { throw .truncated }
            isEncoded = block[position] & 0x80 != 0
            let count = try HeaderDecoder.integer(in: block, at: &position, prefix: 7)
            guard count <= block.count - position else { throw .truncated }
            bytes = UnsafeRawBufferPointer(rebasing: block[position..<(position + count)])
            position += count
        }

        /// Calls a closure with the decoded bytes.
        func withBytes<Result>(
            _ room: inout [UInt8], _ body: (UnsafeRawBufferPointer) -> Result
        ) throws(SessionFault) -> Result {
            guard isEncoded else { return body(bytes) }
            let needed = HuffmanCode.maximumDecodedCount(of: bytes.count)
            if room.count < needed {
                room = [UInt8](repeating: 0, count: max(needed, 2 * room.count, 256))
            }
            let result = room.withUnsafeMutableBytes { room -> Result? in
                guard let count = HuffmanCode.decode(bytes, into: room) else { return nil }
                return body(UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
            guard let result else {
                throw SessionFault(
                    .compressionError, "A Huffman-coded string in a header block is malformed.")
            }
            return result
        }
    }

    /// Decodes an integer with a prefix of this many bits (RFC 7541 §5.1), less than 2^28.
    static func integer(
        in block: UnsafeRawBufferPointer, at position: inout Int, prefix: Int
    ) throws(SessionFault) -> Int {
        let mask = (1 << prefix) - 1
        var value = Int(block[position]) & mask
        position += 1
        guard value == mask else { return value }
        var shift = 0
        while shift <= 21 {
            guard position < block.count else { throw .truncated }
            let byte = Int(block[position])
            position += 1
            value += (byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
        throw SessionFault(.compressionError, "An integer in a header block is too large.")
    }

    /// Literals by their bytes.
    private struct LiteralCache {
        static let slots = 128
        static let longest = 160

        var texts = [[UInt8]](repeating: [], count: slots)
        var entries = [HeaderEntry?](repeating: nil, count: slots)
    }

    /// Sections by the bytes of their blocks.
    private struct BlockCache {
        static let slots = 16
        static let longest = 1024

        private(set) var texts = [[UInt8]](repeating: [], count: slots)
        private(set) var sections = [FieldSection](repeating: FieldSection(), count: slots)
        /// The entries that the block inserts into the table.
        private(set) var inserted = [[HeaderEntry]](repeating: [], count: slots)
        /// The version of the table that the block refers to; -1 for any.
        private var versions = [Int](repeating: -1, count: slots)

        /// The slot with a block, if the table that it refers to has not changed.
        func slot(of block: UnsafeRawBufferPointer, version: Int) -> Int? {
            guard !block.isEmpty, block.count <= Self.longest else { return nil }
            let slot = FieldCache.hash(of: block) & (Self.slots - 1)
            guard versions[slot] < 0 || versions[slot] == version,
                FieldCache.isSame(texts[slot], block)
            else { return nil }
            return slot
        }

        mutating func insert(
            _ section: FieldSection, of block: UnsafeRawBufferPointer,
            inserting entries: [HeaderEntry], version: Int?
        ) {
            let slot = FieldCache.hash(of: block) & (Self.slots - 1)
            texts[slot].removeAll(keepingCapacity: true)
            texts[slot].append(contentsOf: block)
            sections[slot] = section
            inserted[slot] = entries
            versions[slot] = version ?? -1
        }
    }
}

extension HeaderDecoder.Summary {
    /// Counts a field, and passes it on unless the fields are larger than the limit.
    fileprivate mutating func add(
        _ entry: HeaderEntry, limit: Int, each: (HeaderEntry) -> Void
    ) {
        size += entry.size
        count += 1
        if size <= limit { each(entry) }
    }
}

extension SessionFault {
    fileprivate static var badIndex: SessionFault {
        SessionFault(
            .compressionError, "A header block refers to a field that is not in its tables.")
    }

    fileprivate static var truncated: SessionFault {
        SessionFault(.compressionError, "A header block ends inside a field.")
    }
}
