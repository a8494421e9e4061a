import ErrandHTTP

/// A stream of a session: its number, and the slot in which an owner may keep its own state.
///
/// Slots are small numbers that are used again; a key of a stream that is gone has no effect.
struct StreamKey: Sendable, Hashable {
    let number: UInt32
    let slot: Int
}

/// The open streams of a session, and how the last ones ended.
struct StreamTable {
    /// The end of a stream, which decides about frames that arrive after it (RFC 9113 §5.1).
    enum End: UInt8, Sendable {
        /// The server has sent END_STREAM.
        case ended
        /// The server has sent RST_STREAM.
        case resetByServer
        /// This side has sent RST_STREAM; frames of the server may be on their way.
        case resetHere
        /// It ended too long ago.
        case forgotten
    }

    private static let remembered = 128

    private var states: [StreamState] = []
    private var isUsed: [Bool] = []
    private var free: [Int] = []
    private var slots = IntegerTable<Int>()
    // Streams are numbered in order, so the last ones have different places.
    private var ends = [End](repeating: .forgotten, count: remembered)
    private var endNumbers = [UInt32](repeating: 0, count: remembered)

    /// The number of open streams.
    var count: Int { slots.count }

    /// The keys of the open streams, in the order of their numbers.
    var keys: [StreamKey] {
        states.indices.filter { isUsed[$0] }
            .map { StreamKey(number: states[$0].number, slot: $0) }
            .sorted { $0.number < $1.number }
    }

    /// The slot of a stream; `nil` if it is not open.
    func slot(of number: UInt32) -> Int? { slots[Int(number)] }

    func contains(_ key: StreamKey) -> Bool {
        key.slot < states.count && isUsed[key.slot] && states[key.slot].number == key.number
    }

    /// The state in a slot.
    subscript(slot: Int) -> StreamState {
        _read { yield states[slot] }
        _modify { yield &states[slot] }
    }

    mutating func insert(_ state: StreamState) -> StreamKey {
        let slot: Int
        if let last = free.popLast() {
            slot = last
            states[slot] = state
            isUsed[slot] = true
        } else {
            slot = states.count
            states.append(state)
            isUsed.append(true)
        }
        slots[Int(state.number)] = slot
        return StreamKey(number: state.number, slot: slot)
    }

    mutating func remove(slot: Int, _ end: End) {
        let number = states[slot].number
        slots[Int(number)] = nil
        isUsed[slot] = false
        free.append(slot)
        note(end, of: number)
    }

    /// Records the end of a stream.
    mutating func note(_ end: End, of number: UInt32) {
        let place = Int(number >> 1) & (Self.remembered - 1)
        (ends[place], endNumbers[place]) = (end, number)
    }

    /// The end of a stream that is not open.
    func end(of number: UInt32) -> End {
        let place = Int(number >> 1) & (Self.remembered - 1)
        return endNumbers[place] == number ? ends[place] : .forgotten
    }

    /// Applies a change to all open streams until it returns false; returns whether all returned true.
    mutating func updateAll(_ change: (inout StreamState) -> Bool) -> Bool {
        for slot in states.indices where isUsed[slot] {
            if !change(&states[slot]) { return false }
        }
        return true
    }
}
