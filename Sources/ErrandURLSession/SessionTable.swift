/// Keeps what is shared by the requests with one key: the least recently used entry makes room for a new one.
struct SessionTable<Key: Hashable, Value> {
    private let limit: Int
    /// The least recently used first.
    private var entries: [(key: Key, value: Value)] = []

    init(limit: Int) { self.limit = limit }

    /// The entry of a key, which becomes the most recently used.
    mutating func value(for key: Key) -> Value? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        // Most transports have one entry.
        if index < entries.count - 1 { entries.append(entries.remove(at: index)) }
        return entries.last?.value
    }

    /// Adds an entry; returns the one that it replaces or that makes room for it.
    mutating func insert(_ value: Value, for key: Key) -> Value? {
        let old = entries.firstIndex { $0.key == key }
        let index = old ?? (entries.count >= limit ? 0 : nil)
        let removed = index.map { entries.remove(at: $0).value }
        entries.append((key, value))
        return removed
    }

    /// Removes and returns all values.
    mutating func removeAll() -> [Value] {
        defer { entries = [] }
        return entries.map(\.value)
    }
}
