/// The readers of the number of requests in progress.
///
/// Numbers are yielded under the agent's lock, which keeps their order; yielding to a stream runs no user code.
package struct ActivityState: Sendable {
    private var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
    private var nextID = 0

    package init() {}

    package mutating func add(_ listener: AsyncStream<Int>.Continuation, count: Int) -> Int {
        nextID += 1
        listeners[nextID] = listener
        listener.yield(count)
        return nextID
    }

    package mutating func remove(_ id: Int) { listeners[id] = nil }

    package func change(to count: Int) {
        guard !listeners.isEmpty else { return }
        for listener in listeners.values { listener.yield(count) }
    }
}
