/// An entry of a dynamic table.
protocol HeaderTableEntry {
    /// The size in the dynamic table: name, value and 32 (RFC 7541 §4.1).
    var size: Int { get }
}

/// The dynamic table of HPACK (RFC 7541 §2.3.2, §4).
///
/// A ring: inserting and evicting move nothing. Entries are numbered in the order of insertion,
/// from 1.
struct HeaderTable<Entry: HeaderTableEntry> {
    /// A power of two, at least as large as the largest possible number of entries.
    private var slots: [Entry?]
    /// The largest size that this table may get, which bounds the number of slots.
    private let bound: Int
    /// The maximum size now.
    private(set) var capacity: Int
    /// The sum of the sizes of the entries.
    private(set) var size = 0
    /// The number of the newest entry, and of all insertions.
    private(set) var newest = 0
    /// The number of changes, also of those that insert nothing.
    private(set) var version = 0
    /// The number of the last evicted entry.
    private(set) var evicted = 0

    /// Creates a table whose size never exceeds a bound.
    init(bound: Int) {
        self.bound = bound
        capacity = bound
        var count = 1
        while count < bound / 32 + 1 { count *= 2 }
        slots = Array(repeating: nil, count: count)
    }

    /// The number of entries.
    var count: Int { newest - evicted }

    /// The entry at an index, 0 for the newest one; `nil` beyond the last.
    func entry(at index: Int) -> Entry? {
        guard index < count else { return nil }
        return slots[(newest - index) & (slots.count - 1)]
    }

    /// The number of the newest entry that satisfies a condition.
    func lastNumber(where condition: (Entry) -> Bool) -> Int? {
        var number = newest
        while number > evicted {
            if let entry = slots[number & (slots.count - 1)], condition(entry) { return number }
            number -= 1
        }
        return nil
    }

    /// Inserts an entry and evicts older ones; one that is larger than the table empties it (§4.4).
    mutating func insert(_ entry: Entry) {
        version += 1
        evict(to: capacity - entry.size)
        guard entry.size <= capacity else { return }
        newest += 1
        size += entry.size
        slots[newest & (slots.count - 1)] = entry
    }

    /// Changes the maximum size; the bound limits it.
    mutating func resize(to newCapacity: Int) {
        version += 1
        capacity = min(newCapacity, bound)
        evict(to: capacity)
    }

    private mutating func evict(to limit: Int) {
        while size > limit, evicted < newest {
            evicted += 1
            let slot = evicted & (slots.count - 1)
            size -= slots[slot]?.size ?? 0
            slots[slot] = nil
        }
    }
}
