/// Who wants to hear of something, by number, until it is over.
///
/// Pure state for under a lock. What is taken out of it is returned, so that it is let go of behind the lock: an entry may
/// hold closures of users, and with them anything.
struct Subscribers<Entry: Sendable>: Sendable {
    /// Those who are here, by the number that ``add(_:)`` gave them.
    var entries: [Int: Entry] = [:]
    private var nextID = 0
    /// Whether it is over, and nobody is taken in any more.
    private(set) var isClosed = false

    var isEmpty: Bool { entries.isEmpty }

    /// Takes somebody in; `nil` when it is over.
    mutating func add(_ entry: Entry) -> Int? {
        guard !isClosed else { return nil }
        nextID += 1
        entries[nextID] = entry
        return nextID
    }

    subscript(id: Int) -> Entry? {
        get { entries[id] }
        set { entries[id] = newValue }
    }

    /// Takes somebody out.
    mutating func remove(_ id: Int) -> Entry? { entries.removeValue(forKey: id) }

    /// It is over; returns those who were here.
    mutating func close() -> [Entry] {
        isClosed = true
        defer { entries = [:] }
        return Array(entries.values)
    }
}

extension AsyncStream {
    /// A stream whose reader is entered in some table until he goes; it ends at once where he is not taken in.
    ///
    /// - Parameters:
    ///   - enter: Enters the stream and returns its number, or `nil`.
    ///   - leave: Takes the number out again, on any thread.
    static func subscribed(
        keeping policy: Continuation.BufferingPolicy = .unbounded,
        _ enter: (Continuation) -> Int?, leave: @escaping @Sendable (Int) -> Void
    ) -> AsyncStream {
        let (stream, continuation) = makeStream(of: Element.self, bufferingPolicy: policy)
        guard let id = enter(continuation) else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { _ in leave(id) }
        return stream
    }
}
