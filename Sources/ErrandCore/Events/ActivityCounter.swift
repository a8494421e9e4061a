/// The number of an agent's requests under way: what it is now, then every change.
///
/// A slow reader misses numbers in between, never the latest. The sequence ends with the reading task.
public struct ActivityCounter: AsyncSequence, Sendable {
    private let agent: RequestAgent

    init(agent: RequestAgent) { self.agent = agent }

    /// The number at this moment.
    public var current: Int { agent.activeTasks.count }

    /// Iterates over the numbers; none comes twice in a row.
    public func makeAsyncIterator() -> Iterator {
        Iterator(numbers: agent.subscribeToActivity().makeAsyncIterator())
    }

    /// Iterates over the numbers.
    public struct Iterator: AsyncIteratorProtocol {
        var numbers: AsyncStream<Int>.Iterator
        private var last: Int?

        init(numbers: AsyncStream<Int>.Iterator) { self.numbers = numbers }

        /// The next number that differs from the last one; `nil` when the reading task is cancelled.
        public mutating func next() async -> Int? {
            // Numbers that a slow reader missed may have gone up and come back.
            while let number = await numbers.next(isolation: #isolation) {
                guard number != last else { continue }
                last = number
                return number
            }
            return nil
        }
    }
}

/// Who wants to know how many requests are under way.
///
/// Streams that keep only the newest value never run anybody's code, so they are told under the
/// agent's lock, in order.
struct ActivityState: Sendable {
    private var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
    private var nextID = 0

    mutating func add(_ listener: AsyncStream<Int>.Continuation, count: Int) -> Int {
        nextID += 1
        listeners[nextID] = listener
        listener.yield(count)
        return nextID
    }

    mutating func remove(_ id: Int) { listeners[id] = nil }

    func change(to count: Int) {
        guard !listeners.isEmpty else { return }
        for listener in listeners.values { listener.yield(count) }
    }
}
