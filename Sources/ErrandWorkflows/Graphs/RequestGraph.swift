public import Errand
public import ErrandCore

/// Runs requests that depend on each other: each node starts as soon as its inputs have succeeded.
///
///     let graph = RequestGraph()
///     let user = graph.add(GetUser(id: 7))
///     let orders = graph.add(after: user) { user in GetOrders(of: user.id) }
///     let page = graph.compute(after: user, orders) { user, orders in Page(user, orders) }
///     let result = try await graph.send()[page].get()
///
/// A node is a request, a batch, a chain or another graph, or a closure that makes one of them from the values of its
/// inputs, or a closure that computes a value. Independent nodes run concurrently. The closures run concurrently, too,
/// on no actor unless they name one (`{ @MainActor user in … }`), and are cancelled with the graph, which ends after
/// they have returned. All members that are known before the run are described, and notified of the start, before the
/// first is sent. Members keep their own hooks, delegates, accessories and attached closures, which are called before
/// those of the graph. An empty graph succeeds at once, unless its policy requires a success.
nonisolated public final class RequestGraph: CompositeRequest, CompositeRun, TypedUnit {
    /// The effect of a node's end on the graph and on the other nodes.
    ///
    /// Default ``BatchRequest/Policy/failFast``: the first failure cancels the other nodes. Under the others, the nodes
    /// that need a failed node are skipped, and the others run. ``BatchRequest/Policy/firstSuccess`` and
    /// ``BatchRequest/Policy/quorum(_:)`` count the successes of the final nodes, those that no other node needs.
    public var policy: BatchRequest.Policy
    /// The maximum number of nodes in progress at the same time; `nil` is no limit.
    ///
    /// Errors: ``RequestError/Code/invalidConfiguration`` for a number below 1, before anything is sent.
    public var maxConcurrent: Int?
    /// The priority of all requests of the graph, except those of nested composites.
    ///
    /// Default `nil`: each request has its own.
    public var priority: RequestPriority?
    /// The results of the last run, one for each node; those before the first run are
    /// ``RequestError/Code/graphFailed``.
    ///
    /// They are also available after a failure of the graph.
    public internal(set) var results: Results
    /// The results of the last run; `nil` before it, and after a failure of the graph.
    public internal(set) var output: Results?
    /// The results of the last run, or its error; `nil` before it.
    public var outputResult: Result<Results, RequestError>? {
        if let error { return .failure(error) }
        return output.map { .success($0) }
    }
    /// The results of the last run, or its error; `nil` before it.
    public var result: Result<Results, RequestError>? { outputResult }
    /// The name of the node with which the last run failed; `nil` after a success, a cancellation or a deadline.
    ///
    /// The message of the error names it as well.
    public internal(set) var failedNode: String?

    let identity = Identity()
    var contents: [Content] = []
    /// Orders by name, which are resolved when the graph is validated.
    var namedOrders: [(first: String, second: String)] = []
    /// Whether an order was given for a node of another graph.
    var foreignOrder = false
    /// The members of the last run by their nodes.
    var members: [RequestUnit?] = []
    /// The run in progress.
    var active: GraphRun?

    /// Creates a graph without nodes.
    ///
    /// - Parameters:
    ///   - policy: The effect of a node's end.
    ///   - maxConcurrent: The maximum number of nodes in progress at the same time; `nil` is no limit.
    public init(policy: BatchRequest.Policy = .failFast, maxConcurrent: Int? = nil) {
        self.policy = policy
        self.maxConcurrent = maxConcurrent
        results = Results(identity)
        super.init()
    }

    /// Creates a graph with the nodes that a closure adds, and checks the definition.
    ///
    /// - Parameters:
    ///   - policy: The effect of a node's end.
    ///   - maxConcurrent: The maximum number of nodes in progress at the same time; `nil` is no limit.
    ///   - build: Adds the nodes.
    /// - Throws: An error of ``validate()``.
    public convenience init(
        policy: BatchRequest.Policy = .failFast, maxConcurrent: Int? = nil,
        _ build: (RequestGraph) -> Void
    ) throws(RequestError) {
        self.init(policy: policy, maxConcurrent: maxConcurrent)
        build(self)
        try validate()
    }

    /// The requests of the nodes in order, as far as they are known, including those of nested composites.
    public override var requests: [BaseRequest] {
        let members = active?.members ?? members
        return contents.indices.flatMap { index -> [BaseRequest] in
            let made = members.indices.contains(index) ? members[index] : nil
            guard let member = made ?? contents[index].member else { return [] }
            return member.flattened
        }
    }

    /// The value of a node in the last run.
    ///
    /// - Throws: The error of the node; ``RequestError/Code/graphFailed`` for a node that was skipped or belongs to
    ///   another graph, and before the first run; ``RequestError/Code/cancelled`` for a node that was not started.
    public func value<Output>(of node: Node<Output>) throws(RequestError) -> Output {
        try results[node].get()
    }

    package static var failureCode: RequestError.Code { .graphFailed }
    package var expectedCount: Int { contents.count }
    package var firstRequest: BaseRequest? {
        contents.lazy.compactMap { $0.member?.firstOfAll }.first
    }
}
