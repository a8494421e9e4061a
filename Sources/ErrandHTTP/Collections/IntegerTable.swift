/// Values by a number, such as a descriptor or an address.
///
/// A dictionary with a key type that the process has not used as one makes the Swift runtime
/// search the conformances of all libraries. That costs about 200,000 instructions and touches
/// most of their pages, before the first request of a process is sent. This table needs no
/// conformance. It uses open addressing with linear probing. The members are inlinable, so that
/// other modules specialize them (decision 17).
@usableFromInline
package struct IntegerTable<Value> {
    @usableFromInline typealias Slot = (key: Int, value: Value)

    /// The number of entries.
    @usableFromInline package private(set) var count = 0
    /// Empty, or a power of two that is larger than the number of entries.
    @usableFromInline var slots: [Slot?] = []

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// All values, without order.
    package var values: [Value] { slots.compactMap { $0?.value } }

    /// The value for a key; `nil` removes it.
    @inlinable package subscript(key: Int) -> Value? {
        get {
            guard count > 0 else { return nil }
            return slots[place(of: key)]?.value
        }
        set {
            if let newValue {
                insert(newValue, for: key)
            } else {
                removeValue(for: key)
            }
        }
    }

    /// Removes the value for a key and returns it.
    @inlinable @discardableResult
    package mutating func removeValue(for key: Int) -> Value? {
        guard count > 0 else { return nil }
        let place = place(of: key)
        guard let removed = slots[place] else { return nil }
        changeCount(by: -1)
        close(place)
        return removed.value
    }

    package mutating func removeAll() {
        slots = []
        count = 0
    }

    /// The slot with the key, or the free slot where it belongs.
    @inlinable func place(of key: Int) -> Int {
        var place = home(of: key)
        while let slot = slots[place], slot.key != key { place = (place + 1) & (slots.count - 1) }
        return place
    }

    /// The slot where the search for a key begins.
    @inlinable func home(of key: Int) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        let product = UInt(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: product >> 32) & (slots.count - 1)
    }

    @usableFromInline mutating func changeCount(by change: Int) { count += change }

    @inlinable mutating func insert(_ value: Value, for key: Int) {
        if slots.isEmpty { slots = Array(repeating: nil, count: 8) }
        let place = place(of: key)
        let isNew = slots[place] == nil
        slots[place] = (key, value)
        guard isNew else { return }
        changeCount(by: 1)
        if count * 4 > slots.count * 3 { grow() }
    }

    @inlinable mutating func grow() {
        let old = slots
        slots = Array(repeating: nil, count: old.count * 2)
        for case let slot? in old { slots[place(of: slot.key)] = slot }
    }

    /// Fills a freed slot with a later entry whose search passes it, and so on.
    @inlinable mutating func close(_ place: Int) {
        let mask = slots.count - 1
        var free = place
        var next = (place + 1) & mask
        while let slot = slots[next] {
            let distance = (next - home(of: slot.key)) & mask
            if distance >= (next - free) & mask {
                slots[free] = slot
                free = next
            }
            next = (next + 1) & mask
        }
        slots[free] = nil
    }
}

extension IntegerTable: Sendable where Value: Sendable {}
