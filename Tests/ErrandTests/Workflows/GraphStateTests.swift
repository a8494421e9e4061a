import TestSupport
import Testing

@testable import Errand
@testable import ErrandWorkflows

/// The state machine of a graph's run.
struct GraphStateTests {
    /// A naive model of a run: it derives everything from the events so far.
    private struct Oracle {
        let inputs: [[Int]]
        let policy: BatchRequest.Policy
        let limit: Int
        var started: [Int] = []
        var outcomes: [Int: Bool] = [:]
        var isStopped = false
        /// The verdict of the policy.
        var decision: GraphState.Verdict?
        var failures: [Int] = []

        var running: [Int] { started.filter { outcomes[$0] == nil } }
        var isClosed: Bool { isStopped || decision != nil }
        var finals: [Int] {
            inputs.indices.filter { node in !inputs.contains { $0.contains(node) } }
        }

        /// The nodes that have this node as a direct or indirect input.
        func isAffected(_ node: Int, by failed: Int) -> Bool {
            inputs[node].contains { $0 == failed || isAffected($0, by: failed) }
        }

        func skipCause(_ node: Int) -> Int? {
            failures.first { isAffected(node, by: $0) }
        }

        var startable: Set<Int> {
            guard !isClosed, running.count < limit else { return [] }
            return Set(
                inputs.indices.filter { node in
                    !started.contains(node) && inputs[node].allSatisfy { outcomes[$0] == true }
                })
        }

        func end(of node: Int) -> GraphState.End? {
            if let isSuccess = outcomes[node] { return isSuccess ? .succeeded : .failed }
            if started.contains(node) { return nil }
            if policy != .failFast, let cause = skipCause(node) { return .skipped(because: cause) }
            return isClosed ? .notStarted : nil
        }

        var verdict: GraphState.Verdict {
            if let decision { return decision }
            if isStopped { return .stopped }
            guard inputs.indices.allSatisfy({ end(of: $0) != nil }) else { return .open }
            if policy == .requireAll, let first = failures.first { return .failed(first) }
            return .succeeded
        }

        mutating func record(_ node: Int, _ isSuccess: Bool) {
            outcomes[node] = isSuccess
            guard !isClosed else { return }
            if !isSuccess { failures.append(node) }
            guard let first = failures.first else {
                return decide(finals.count { outcomes[$0] == true }, finals.count, 0)
            }
            if policy == .failFast { return decision = .failed(first) }
            let finals = finals
            let lost = finals.count { outcomes[$0] == false || skipCause($0) != nil }
            decide(finals.count { outcomes[$0] == true }, finals.count - lost, first)
        }

        private mutating func decide(_ successes: Int, _ possible: Int, _ failed: Int) {
            let needed: Int
            switch policy {
            case .failFast, .collectAll, .requireAll: return
            case .firstSuccess: needed = 1
            case .quorum(let number): needed = number
            }
            if successes >= needed {
                decision = .succeeded
            } else if possible < needed {
                decision = .failed(failed)
            }
        }
    }

    private struct Run {
        var state: GraphState
        var oracle: Oracle
        /// How often each node was reported as ended.
        var reported: [Int]

        init(_ inputs: [[Int]], _ policy: BatchRequest.Policy, _ limit: Int) throws {
            let definitions = inputs.enumerated().map { index, inputs in
                GraphTopology.Definition(
                    name: .chosen("\(index)"), inputs: inputs.map { .node($0) })
            }
            state = GraphState(
                try GraphTopology(definitions), policy, maxConcurrent: limit)
            oracle = Oracle(inputs: inputs, policy: policy, limit: limit)
            reported = Array(repeating: 0, count: inputs.count)
        }

        /// Starts the nodes that may start; throws if they differ from those of the model.
        mutating func start() throws {
            while true {
                let expected = oracle.startable
                guard let node = state.start() else {
                    guard expected.isEmpty else { throw Difference("starts", self) }
                    return try compare("start")
                }
                guard expected.contains(node) else { throw Difference("starts \(node)", self) }
                oracle.started.append(node)
            }
        }

        mutating func end(_ node: Int, _ isSuccess: Bool) throws {
            for ended in state.end(node, isSuccess: isSuccess) { reported[ended] += 1 }
            reported[node] += 1
            oracle.record(node, isSuccess)
            try compare("end of \(node)")
        }

        mutating func stop() throws {
            for ended in state.stop() { reported[ended] += 1 }
            if oracle.verdict == .open { oracle.isStopped = true }
            try compare("stop")
        }

        private func compare(_ step: String) throws {
            guard agrees else { throw Difference(step, self) }
        }

        var agrees: Bool {
            let ends = oracle.inputs.indices.map { oracle.end(of: $0) }
            return state.ends == ends && state.running == oracle.running.count
                && state.verdict == oracle.verdict
                && state.isOver == ends.allSatisfy { $0 != nil }
                && reported == ends.map { $0 == nil ? 0 : 1 }
        }
    }

    /// The state machine differs from the model.
    private struct Difference: Error, CustomStringConvertible {
        let description: String
        init(_ step: String, _ run: Run) { description = "\(step): \(run)" }
    }

    private static let policies: [BatchRequest.Policy] = [
        .failFast, .collectAll, .requireAll, .firstSuccess, .quorum(2), .quorum(3),
    ]

    /// Whether the graph has as many final nodes as the policy requires; others are refused before the run.
    private static func isPossible(_ policy: BatchRequest.Policy, _ inputs: [[Int]]) -> Bool {
        let finals = inputs.indices.count { node in !inputs.contains { $0.contains(node) } }
        return (BatchState.needed(by: policy) ?? 0) <= finals
    }

    /// All graphs of this size whose nodes have only earlier nodes as inputs, which are all graphs except for names.
    private static func allGraphs(_ count: Int) -> [[[Int]]] {
        let edges = (0..<count).flatMap { node in (0..<node).map { (node, $0) } }
        return (0..<(1 << edges.count)).map { bits in
            var inputs: [[Int]] = Array(repeating: [], count: count)
            for (index, edge) in edges.enumerated() where bits & (1 << index) != 0 {
                inputs[edge.0].append(edge.1)
            }
            return inputs
        }
    }

    /// Explores every order of ends, both outcomes of each node, and a stop at every point; returns the number of runs.
    @discardableResult
    private static func explore(_ run: Run, canStop: Bool) throws -> Int {
        var run = run
        try run.start()
        if run.state.running == 0 {
            guard run.state.isOver, run.state.verdict != .open else {
                throw Difference("not over", run)
            }
            return 1
        }
        var count = 0
        for node in run.oracle.running {
            for isSuccess in [true, false] {
                var next = run
                try next.end(node, isSuccess)
                count += try explore(next, canStop: canStop)
            }
        }
        if canStop {
            try run.stop()
            count += try explore(run, canStop: false)
        }
        return count
    }

    @Test(arguments: [0, 1, 2, 3])
    func allOrdersOfSmallGraphsWithAStopAtEveryPoint(count: Int) throws {
        var runs = 0
        for inputs in Self.allGraphs(count) {
            for policy in Self.policies {
                for limit in 1...max(1, count) where Self.isPossible(policy, inputs) {
                    runs += try Self.explore(Run(inputs, policy, limit), canStop: true)
                }
            }
        }
        #expect(runs >= 2)
    }

    @Test(arguments: Self.policies)
    func allOrdersOfGraphsWithFourNodes(policy: BatchRequest.Policy) throws {
        for inputs in Self.allGraphs(4) where Self.isPossible(policy, inputs) {
            for limit in [2, 4] {
                try Self.explore(Run(inputs, policy, limit), canStop: false)
            }
        }
    }

    /// The graphs of this size with all indirect inputs, one of each set that differs only in the names of its nodes.
    private static func partialOrders(_ count: Int) -> [[[Int]]] {
        let permutations = Self.permutations(Array(0..<count))
        var found: [Set<[Int]>: [[Int]]] = [:]
        for inputs in allGraphs(count) {
            var closed: [Set<Int>] = []
            for node in inputs {
                closed.append(node.reduce(into: Set(node)) { $0.formUnion(closed[$1]) })
            }
            let edges = closed.enumerated().flatMap { node, inputs in inputs.map { [node, $0] } }
            let isKnown = permutations.contains { names in
                found[Set(edges.map { $0.map { names[$0] } })] != nil
            }
            if !isKnown { found[Set(edges)] = closed.map { $0.sorted() } }
        }
        return Array(found.values)
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard !items.isEmpty else { return [[]] }
        return items.flatMap { first in
            permutations(items.filter { $0 != first }).map { [first] + $0 }
        }
    }

    @Test(arguments: Self.policies)
    func allOrdersOfGraphsWithFiveNodes(policy: BatchRequest.Policy) throws {
        let graphs = Self.partialOrders(5)
        #expect(graphs.count == 63)
        for inputs in graphs where Self.isPossible(policy, inputs) {
            try Self.explore(Run(inputs, policy, 5), canStop: false)
        }
    }

    @Test(arguments: Self.policies)
    func allOrdersOfFiveIndependentNodesWithALimit(policy: BatchRequest.Policy) throws {
        try Self.explore(Run(Array(repeating: [], count: 5), policy, 3), canStop: false)
    }

    @Test func randomGraphsAgreeWithTheModel() throws {
        let seed = UInt64.random(in: 0...(.max))
        do { try checkRandomGraphs(seed) } catch { Issue.record("seed \(seed): \(error)") }
    }

    private func checkRandomGraphs(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let count = Int.random(in: 1...14, using: &random)
            let density = Int.random(in: 0...4, using: &random)
            let inputs = (0..<count).map { node in
                (0..<Int.random(in: 0...density, using: &random)).compactMap { _ in
                    node == 0 ? nil : Int.random(in: 0..<node, using: &random)
                }
            }
            let policy =
                Self.policies.filter { Self.isPossible($0, inputs) }
                .randomElement(using: &random) ?? .failFast
            var run = try Run(inputs, policy, Int.random(in: 1...5, using: &random))
            let failures = Int.random(in: 0...4, using: &random)
            while true {
                try run.start()
                guard let node = run.oracle.running.randomElement(using: &random) else { break }
                if Int.random(in: 0..<60, using: &random) == 0 {
                    try run.stop()
                }
                let isSuccess = Int.random(in: 0..<10, using: &random) >= failures
                try run.end(node, isSuccess)
            }
            #expect(run.state.isOver, "seed \(seed): \(run)")
        }
    }

    @Test func endsOfNodesThatAreNotRunningAreIgnored() throws {
        var run = try Run([[], [0]], .failFast, 1)
        try run.start()
        let before = run.state.ends
        for node in [1, 7] {
            let ended = run.state.end(node, isSuccess: true)
            #expect(ended.isEmpty)
        }
        #expect(run.state.ends == before)
        try run.end(0, true)
        try run.start()
        let ended = run.state.end(0, isSuccess: false)
        #expect(ended.isEmpty)
        #expect(run.agrees)
    }

    @Test func nodesStartInTheOrderInWhichTheyBecomeReady() throws {
        var run = try Run([[], [], [1], [0], []], .failFast, 2)
        var order: [Int] = []
        func startAll() { while let node = run.state.start() { order.append(node) } }
        startAll()
        for node in [1, 0, 4, 2, 3] {
            _ = run.state.end(node, isSuccess: true)
            startAll()
        }
        #expect(order == [0, 1, 4, 2, 3])
        #expect(run.state.verdict == .succeeded)
    }

    @Test func stopAfterTheVerdictHasNoEffect() throws {
        var run = try Run([[], []], .failFast, 2)
        try run.start()
        try run.end(0, false)
        let ended = run.state.stop()
        #expect(ended.isEmpty)
        #expect(run.state.verdict == .failed(0))
        try run.end(1, true)
    }

    @Test func largeLineAndLargeFanVisitEachNodeAFewTimes() throws {
        let count = 10_000
        let line = (0..<count).map { $0 == 0 ? [] : [$0 - 1] }
        let fan = (0..<count).map { $0 == 0 ? [] : [0] }
        for inputs in [line, fan] {
            for isSuccess in [true, false] {
                var run = try Run(inputs, .collectAll, .max)
                var ended = 0
                var queue: [Int] = []
                repeat {
                    while let node = run.state.start() { queue.append(node) }
                    let node = queue.removeLast()
                    ended += 1 + run.state.end(node, isSuccess: isSuccess).count
                } while run.state.running > 0 || ended < count
                #expect(ended == count && run.state.isOver)
                // Each node at its creation, its start or skip, and the verdict; each input once.
                #expect(run.state.visits <= 4 * count)
            }
        }
    }
}
