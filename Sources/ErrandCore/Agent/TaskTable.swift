/// The tasks that have not ended.
///
/// Each keeps its index, so that adding and removing need no search.
struct TaskTable {
    private var slots: [RequestTask?] = []
    private var free: [Int] = []

    /// The number of tasks.
    var count: Int { slots.count - free.count }

    var isEmpty: Bool { count == 0 }

    /// All tasks, in no particular order.
    var tasks: [RequestTask] { slots.compactMap { $0 } }

    /// Adds a task and returns its index.
    mutating func add(_ task: RequestTask) -> Int {
        guard let index = free.popLast() else {
            slots.append(task)
            return slots.count - 1
        }
        slots[index] = task
        return index
    }

    /// Removes the task at an index; the caller releases the result outside its lock.
    mutating func remove(at index: Int) -> RequestTask? {
        guard slots.indices.contains(index), let task = slots[index] else { return nil }
        slots[index] = nil
        free.append(index)
        // After a burst of requests the memory of large arrays is released.
        if free.count == slots.count, slots.count > 1024 { (slots, free) = ([], []) }
        return task
    }
}

/// The readers of the number of requests in progress.
///
/// Numbers are yielded under the agent's lock, which keeps their order; yielding to a stream runs no user code.
package struct ActivityState: Sendable {
    private var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
    private var nextID = 0
    /// Whether there was a listener; a flag, because the type of the dictionary is found at run time.
    private var hasListeners = false

    package init() {}

    package mutating func add(_ listener: AsyncStream<Int>.Continuation, count: Int) -> Int {
        nextID += 1
        hasListeners = true
        listeners[nextID] = listener
        listener.yield(count)
        return nextID
    }

    package mutating func remove(_ id: Int) { listeners[id] = nil }

    package func change(to count: Int) {
        guard hasListeners else { return }
        for listener in listeners.values { listener.yield(count) }
    }
}
