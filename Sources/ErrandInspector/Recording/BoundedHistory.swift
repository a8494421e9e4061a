/// The latest values in order, each with a number; pure.
///
/// Above the limit, the oldest value is removed.
struct BoundedHistory<Value> {
    /// The maximum number of values; at least 1.
    let limit: Int
    /// The number of the first value; numbers start at 1.
    private(set) var firstID = 1
    /// The values, after ``start`` removed ones, which are released together.
    private var slots: [Value?] = []
    private var start = 0

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number that the next value gets.
    var nextID: Int { firstID + count }

    var count: Int { slots.count - start }

    /// Adds a value, and returns the one that it replaces.
    mutating func add(_ value: Value) -> Value? {
        slots.append(value)
        guard count > limit else { return nil }
        let oldest = slots[start]
        slots[start] = nil
        start += 1
        firstID += 1
        if start > limit {
            slots.removeFirst(start)
            start = 0
        }
        return oldest
    }

    /// The value with a number; `nil` if it was removed, or does not exist yet.
    subscript(id: Int) -> Value? {
        guard id >= firstID, id < nextID else { return nil }
        return slots[start + id - firstID]
    }

    /// The values, the oldest first.
    var values: [Value] { slots[start...].compactMap(\.self) }

    /// Removes all values; numbers continue.
    mutating func removeAll() {
        firstID = nextID
        slots = []
        start = 0
    }
}

/// The bytes of recorded bodies, with a limit; pure.
///
/// Above the limit, the bodies that were recorded first are removed first.
struct BodyBudget: Equatable {
    private struct Entry: Equatable {
        var id: Int
        var bytes: Int
    }

    /// The maximum number of bytes.
    let limit: Int
    /// The number of bytes of all bodies.
    private(set) var used = 0
    private var entries: [Entry] = []
    private var start = 0

    init(limit: Int) { self.limit = max(0, limit) }

    /// Adds the bodies of a request; returns the requests whose bodies are removed, which may include this one.
    mutating func add(_ bytes: Int, of id: Int) -> [Int] {
        guard bytes > 0 else { return [] }
        entries.append(Entry(id: id, bytes: bytes))
        used += bytes
        var removed: [Int] = []
        while used > limit, start < entries.count {
            used -= entries[start].bytes
            removed.append(entries[start].id)
            start += 1
        }
        if start > 64, start * 2 > entries.count {
            entries.removeFirst(start)
            start = 0
        }
        return removed
    }

    /// Forgets the bodies of the requests before a number, which were removed with their requests.
    mutating func removeAll(before id: Int) {
        // Bodies are added at the end of a transfer, so the order of the numbers is not exact.
        while start < entries.count, entries[start].id < id {
            used -= entries[start].bytes
            start += 1
        }
    }
}
