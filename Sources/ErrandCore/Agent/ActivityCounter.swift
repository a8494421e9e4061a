/// The number of an agent's requests in progress: the current number, then every change.
///
/// A slow reader misses intermediate numbers, but never the latest. Cancelling the reading Swift task ends the sequence.
public struct ActivityCounter: AsyncSequence, Sendable {
    private let agent: RequestAgent

    init(agent: RequestAgent) { self.agent = agent }

    /// The number at this moment.
    public var current: Int { agent.activeTasks.count }

    /// Iterates over the numbers, without repetitions.
    public func makeAsyncIterator() -> Iterator {
        Iterator(numbers: agent.subscribeToActivity().makeAsyncIterator())
    }

    /// Iterates over the numbers.
    public struct Iterator: AsyncIteratorProtocol {
        var numbers: AsyncStream<Int>.Iterator
        private var last: Int?

        init(numbers: AsyncStream<Int>.Iterator) { self.numbers = numbers }

        /// The next number that differs from the previous one; `nil` if the reading Swift task is cancelled.
        public mutating func next() async -> Int? {
            // If the number changes back before a slow reader reads it, the same number arrives again.
            while let number = await numbers.next(isolation: #isolation) {
                guard number != last else { continue }
                last = number
                return number
            }
            return nil
        }
    }
}
