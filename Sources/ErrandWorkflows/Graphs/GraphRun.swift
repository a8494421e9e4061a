import Errand
import ErrandCore

/// One run of a graph, on the caller's actor.
nonisolated final class GraphRun {
    private let contents: [RequestGraph.Content]
    private let topology: GraphTopology
    private let control: RequestTask.Members
    private let nodes: CompositeMembers
    private var state: GraphState
    private var values: [Result<any Sendable, RequestError>?]

    init(_ graph: RequestGraph, _ topology: GraphTopology, _ control: RequestTask.Members) {
        self.topology = topology
        self.control = control
        contents = graph.contents
        nodes = CompositeMembers(
            contents.map(\.member), of: control, on: graph.agentAtCall, kind: "graph",
            priority: graph.priority)
        state = GraphState(topology, graph.policy, maxConcurrent: graph.maxConcurrent)
        values = Array(repeating: nil, count: contents.count)
    }

    // MARK: - Before the run

    /// Reserves the members that are known before the run, or none of them.
    func reserve() -> RequestError? { nodes.reserve() }

    func release() { nodes.release() }

    func describe() { nodes.describe() }

    // MARK: - The run

    /// The members of the nodes; `nil` for a node whose closure has not made one.
    var members: [RequestUnit?] { nodes.members }

    var names: [String] { topology.names }

    var verdict: GraphState.Verdict { state.verdict }

    /// The results of the nodes after the run.
    var results: [Result<any Sendable, RequestError>] { values.map { $0 ?? .failure(.cancelled) } }

    /// Runs the nodes until each has its end.
    nonisolated(nonsending) func carryOut() async {
        while true {
            await stopIfNecessary()
            while let node = state.start() {
                begin(node)
                await stopIfNecessary()
            }
            guard state.running > 0 else { return }
            let outcome = await nodes.nextOutcome()
            // Before the end is recorded: a node that the cancellation has ended is not the reason of a failure.
            await stopIfNecessary()
            await handle(outcome)
        }
    }

    nonisolated(nonsending) private func stopIfNecessary() async {
        if isOpen, control.stopError != nil { await finish(state.stop()) }
    }

    private func begin(_ node: Int, isolation: isolated (any Actor)? = #isolation) {
        guard case .closure(let call) = contents[node].source else { return nodes.start(node) }
        let inputs = RequestGraph.InputValues(
            topology.inputs[node].prefix(contents[node].valueCount).compactMap { input in
                if case .success(let value) = values[input] { value } else { nil }
            })
        let name = topology.names[node]
        nodes.start(node) {
            do {
                try Task.checkCancellation()
                return .success(try await call(inputs))
            } catch {
                return .failure(Self.requestError(for: error, of: name))
            }
        }
    }

    nonisolated(nonsending) private func handle(_ outcome: MemberOutcome) async {
        let node = outcome.index
        if case .closure(.success(.member(let transfer))) = outcome.kind, isOpen,
            let member = transfer.take() as? RequestUnit
        {
            guard let refusal = nodes.add(member, at: node) else { return nodes.start(node) }
            _ = nodes.end(outcome)
            return await end(node, .failure(refusal))
        }
        let error = nodes.end(outcome).error
        switch outcome.kind {
        case .closure(.success(.value(let value))): await end(node, .success(value))
        // The run has ended before its closure made the member, which is not started.
        case .closure(.success(.member)): await end(node, .failure(.cancelled))
        case .closure(.failure), .request, .composite:
            await end(node, error.map { .failure($0) } ?? value(of: node))
        }
    }

    /// Whether nodes still start; a member that a closure makes afterwards is not started.
    private var isOpen: Bool { state.verdict == .open }

    private static func requestError(for thrown: any Error, of node: String) -> RequestError {
        if let error = thrown as? RequestError { return error }
        if thrown is CancellationError { return .cancelled }
        return RequestError(
            .graphFailed, stage: .build,
            "The closure of the node '\(node)' threw \(type(of: thrown)); see the underlying error.",
            underlying: thrown)
    }

    /// The value of a node whose member has succeeded.
    private func value(of node: Int) -> Result<any Sendable, RequestError> {
        let member = members[node]
        if let member, let value = contents[node].value(member) { return .success(value) }
        // A typed batch that has succeeded by its policy has no value if one of its members failed.
        if let error = (member as? BatchRequest)?.memberErrors.lazy.compactMap({ $0 }).first {
            return .failure(error)
        }
        return .failure(
            RequestError(
                .graphFailed, stage: .decode,
                "The member of the node '\(topology.names[node])' has no output. Do not start it elsewhere while the "
                    + "graph runs."))
    }

    // MARK: - Ends of nodes

    nonisolated(nonsending) private func end(
        _ node: Int, _ result: Result<any Sendable, RequestError>
    ) async {
        values[node] = result
        let wasOpen = isOpen
        let isSuccess = if case .success = result { true } else { false }
        let ended = state.end(node, isSuccess: isSuccess)
        if wasOpen, !isOpen { control.cancelInProgress() }
        await finish(ended)
    }

    /// Sets the results of nodes that end without a start, and calls the hooks of their members.
    nonisolated(nonsending) private func finish(_ ended: [Int]) async {
        for node in ended {
            let end = await nodes.endWithoutStart(node)
            guard case .skipped(let cause) = state.ends[node] else {
                values[node] = .failure(end?.error ?? .cancelled)
                continue
            }
            control.skip()
            let underlying: RequestError? =
                if case .failure(let error) = values[cause] { error } else { nil }
            values[node] = .failure(
                RequestError(
                    .graphFailed, stage: .schedule,
                    "The node '\(topology.names[node])' was skipped, because the node '\(topology.names[cause])' "
                        + "failed; see the underlying error.", underlying: underlying))
        }
    }
}
