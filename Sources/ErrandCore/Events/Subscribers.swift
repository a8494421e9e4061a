/// A table of subscribers by number, until it is closed.
///
/// Pure state, to be used under a lock. Removed entries are returned so that the caller releases
/// them outside the lock: they may hold user closures.
package struct Subscribers<Entry: Sendable>: Sendable {
    /// The subscribers by the number that ``add(_:)`` returned.
    package var entries = [Int: Entry]()
    private var nextID = 0
    /// Whether the table is closed and accepts no more subscribers.
    package private(set) var isClosed = false

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a subscriber; `nil` if the table is closed.
    package mutating func add(_ entry: Entry) -> Int? {
        guard !isClosed else { return nil }
        nextID += 1
        entries[nextID] = entry
        return nextID
    }

    package subscript(id: Int) -> Entry? {
        get { entries[id] }
        set { entries[id] = newValue }
    }

    package mutating func remove(_ id: Int) -> Entry? { entries.removeValue(forKey: id) }

    /// Closes the table and returns its subscribers.
    package mutating func close() -> [Entry] {
        isClosed = true
        guard !entries.isEmpty else { return [] }
        defer { entries = [:] }
        return Array(entries.values)
    }
}

extension AsyncStream {
    /// A stream whose reader is registered until it stops; ends at once if registration fails.
    ///
    /// - Parameters:
    ///   - enter: Registers the continuation and returns its number, or `nil`.
    ///   - leave: Removes the number, on any thread.
    package static func subscribed(
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
