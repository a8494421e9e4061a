import Errand

/// Decides which nodes of a graph may start, and gives each node exactly one end: a pure state machine.
///
/// ``start()`` returns a node until none may start. The caller reports the end of each started node by
/// ``end(_:isSuccess:)``. Nodes that can no longer start have their ends in the results of ``end(_:isSuccess:)`` and
/// ``stop()``. All calls of one run together cost O(nodes + inputs). Policies that count successes count those of the
/// final nodes, which are not an input of another node.
nonisolated struct GraphState: Sendable {
    /// The end of a node.
    enum End: Sendable, Hashable {
        case succeeded, failed
        /// Not started, because this node, directly or through others an input of it, has failed.
        case skipped(because: Int)
        /// Not started, because the run ended before.
        case notStarted
    }

    /// The state of the whole graph.
    enum Verdict: Sendable, Hashable {
        case open, succeeded
        /// Failed; this node failed first.
        case failed(Int)
        /// Cancelled, or its deadline has passed.
        case stopped
    }

    private let topology: GraphTopology
    private let policy: BatchRequest.Policy
    private let maxConcurrent: Int
    /// The number of inputs of each node that have not succeeded.
    private var pending: [Int]
    /// The nodes whose inputs have succeeded, in the order of time; those before `next` have left the queue.
    private var ready: [Int]
    private var next = 0
    private var isRunning: [Bool]
    /// The number of nodes that were started and have not ended.
    private(set) var running = 0
    /// The number of nodes without an end.
    private var open: Int
    /// The number of final nodes that have succeeded, and of those that have ended otherwise.
    private var finals = (successes: 0, failures: 0)
    private var firstFailure: Int?
    /// The number of nodes and inputs that were visited so far, which is the measure of the cost.
    private(set) var visits: Int
    /// The ends of the nodes so far.
    private(set) var ends: [End?]
    /// The state of the graph; it is final as soon as it is not `.open`.
    private(set) var verdict: Verdict

    /// - Parameters:
    ///   - topology: The nodes.
    ///   - policy: The effect of a node's end; it requires at most as many successes as there are final nodes.
    ///   - maxConcurrent: The maximum number of nodes that run at the same time, at least 1; `nil` is no limit.
    init(_ topology: GraphTopology, _ policy: BatchRequest.Policy, maxConcurrent: Int? = nil) {
        self.topology = topology
        self.policy = policy
        self.maxConcurrent = maxConcurrent ?? .max
        let count = topology.inputs.count
        pending = topology.inputs.map(\.count)
        ready = topology.inputs.indices.filter { topology.inputs[$0].isEmpty }
        ready.reserveCapacity(count)
        isRunning = Array(repeating: false, count: count)
        ends = Array(repeating: nil, count: count)
        open = count
        visits = count
        verdict = .open
        judge()
    }

    /// Whether every node has its end.
    var isOver: Bool { open == 0 }

    /// Starts the next node and returns it; `nil` if none may start now.
    mutating func start() -> Int? {
        guard verdict == .open, running < maxConcurrent, next < ready.count else { return nil }
        let node = ready[next]
        next += 1
        isRunning[node] = true
        running += 1
        visits += 1
        return node
    }

    /// Records the end of a started node, and returns the nodes that end without a start because of it.
    ///
    /// Has no effect for a node that is not running.
    mutating func end(_ node: Int, isSuccess: Bool) -> [Int] {
        guard isRunning.indices.contains(node), isRunning[node] else { return [] }
        isRunning[node] = false
        running -= 1
        finish(node, isSuccess ? .succeeded : .failed)
        guard verdict == .open else { return [] }
        var ended: [Int] = []
        if isSuccess {
            visits += topology.dependants[node].count
            for dependant in topology.dependants[node] {
                pending[dependant] -= 1
                if pending[dependant] == 0 { ready.append(dependant) }
            }
        } else {
            if firstFailure == nil { firstFailure = node }
            if policy != .failFast { ended = skipDependants(of: node) }
        }
        judge()
        return verdict == .open ? ended : ended + endRemaining()
    }

    private mutating func judge() {
        guard let needed = BatchState.needed(by: policy) else {
            if policy == .failFast || (policy == .requireAll && open == 0), let firstFailure {
                verdict = .failed(firstFailure)
            } else if open == 0 {
                verdict = .succeeded
            }
            return
        }
        if finals.successes >= needed {
            verdict = .succeeded
        } else if topology.finalCount - finals.failures < needed, let firstFailure {
            verdict = .failed(firstFailure)
        }
    }

    /// Starts no more nodes, and returns those that end without a start; has no effect after the verdict.
    mutating func stop() -> [Int] {
        guard verdict == .open else { return [] }
        verdict = .stopped
        return endRemaining()
    }

    private mutating func finish(_ node: Int, _ end: End) {
        ends[node] = end
        open -= 1
        guard topology.dependants[node].isEmpty else { return }
        if end == .succeeded { finals.successes += 1 } else { finals.failures += 1 }
    }

    private mutating func endRemaining() -> [Int] {
        visits += ends.count
        let remaining = ends.indices.filter { ends[$0] == nil && !isRunning[$0] }
        for node in remaining { finish(node, .notStarted) }
        return remaining
    }

    private mutating func skipDependants(of failed: Int) -> [Int] {
        var skipped: [Int] = []
        var visited = 0
        var node = failed
        while true {
            visits += 1 + topology.dependants[node].count
            for dependant in topology.dependants[node] where ends[dependant] == nil {
                finish(dependant, .skipped(because: failed))
                skipped.append(dependant)
            }
            guard visited < skipped.count else { return skipped }
            node = skipped[visited]
            visited += 1
        }
    }
}
