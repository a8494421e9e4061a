public import Dispatch
public import Errand
public import ErrandCore

/// Runs requests that depend on each other: each node starts as soon as its inputs have succeeded.
///
///     let graph = RequestGraph()
///     let user = graph.add(GetUser(id: 7))
///     let orders = graph.add(after: user) { user in GetOrders(of: user.id) }
///     let page = graph.compute(after: user, orders) { user, orders in Page(user, orders) }
///     let result = try await graph.value(page)
///
/// A node is a request, a batch, a chain or another graph, or a closure that makes one of them from the values of its
/// inputs, or a closure that computes a value. Independent nodes run concurrently. The closures run concurrently, too,
/// on no actor unless they name one (`{ @MainActor user in … }`), and are cancelled with the graph, which ends after
/// they have returned. All members that are known before the run are described, and notified of the start, before the
/// first is sent. Members keep their own hooks, delegates, accessories and attached closures, which are called before
/// those of the graph. An empty graph succeeds at once, unless its policy requires a success.
nonisolated public final class RequestGraph: CompositeRun, BaseRequest.TypedMember {
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
    /// A number for the caller's own use.
    ///
    /// Default 0.
    public var tag = 0
    /// The accessories of the graph itself; the members have their own.
    ///
    /// Default none.
    public var accessories: [any RequestAccessory] = []
    /// Called with the end of a run, before the closures, after the delegates of the members.
    ///
    /// Default `nil`.
    public weak var delegate: (any RequestDelegate)?
    /// The time from the start after which the nodes are cancelled and the graph fails with
    /// ``RequestError/Code/timedOut``.
    ///
    /// Default `nil`: no limit. Time during which the computer is suspended counts, unlike in ``Timeouts/total``.
    /// Errors: ``RequestError/Code/invalidConfiguration`` for a duration of zero or less, before anything is sent.
    public var deadline: Duration?
    /// The run in progress; `nil` before and after it.
    public package(set) var task: CompositeTask?
    /// The results of the last run, one for each node; those before the first run are
    /// ``RequestError/Code/graphFailed``.
    ///
    /// They are also available after a failure of the graph.
    public internal(set) var results: Results
    /// The results of the last run; `nil` before it, and after a failure of the graph.
    public internal(set) var output: Results?
    /// The name of the node with which the last run failed; `nil` after a success, a cancellation or a deadline.
    ///
    /// The message of the error names it as well.
    public internal(set) var failedNode: String?
    /// The request with which the last run failed; `nil` if a closure failed.
    public internal(set) var failedRequest: BaseRequest?

    let identity = Identity()
    var contents: [Content] = []
    /// Orders by name, which are resolved when the graph is validated.
    var namedOrders: [(first: String, second: String)] = []
    /// Whether an order was given for a node of another graph.
    var foreignOrder = false
    /// The members of the last run by their nodes.
    var members: [(any CompositeMember)?] = []
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
    public var requests: [BaseRequest] {
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

    /// Runs the graph and returns the values of all nodes, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first node starts. Default: does nothing.
    /// - Throws: The error of the node that failed first, if the graph fails by its policy (never under
    ///   ``BatchRequest/Policy/collectAll``); ``RequestError/Code/invalidConfiguration`` for an invalid definition, as
    ///   ``validate()`` throws; ``RequestError/Code/timedOut`` after the ``deadline``;
    ///   ``RequestError/Code/graphFailed`` if a closure of a node throws another error, or if the graph is in progress
    ///   already; ``RequestError/Code/cancelled`` if the run or the calling Swift task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func send(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Results {
        try await perform(on: nil, onStart: onStart)
    }

    /// Runs the graph and returns the value of a node.
    ///
    /// - Throws: An error of ``send(onStart:)``, or of ``value(of:)``.
    nonisolated(nonsending) public func value<Output>(
        _ node: Node<Output>
    ) async throws(RequestError) -> Output {
        try await send()[node].get()
    }

    /// Runs the graph and returns the values of several nodes, each with its type.
    ///
    /// - Throws: An error of ``send(onStart:)``, or of ``value(of:)``.
    nonisolated(nonsending) public func values<each Output>(
        _ nodes: repeat Node<each Output>
    ) async throws(RequestError) -> (repeat each Output) {
        let results = try await send()
        return (repeat try results[each nodes].get())
    }

    /// Starts the graph; one of the closures is called once on the main actor.
    ///
    /// The failure is an error that ``send(onStart:)`` throws.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called if the graph succeeds by its policy.
    ///   - failure: Called with the error if it does not.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (RequestGraph) -> Void = { _ in },
        failure: @escaping @MainActor (RequestGraph, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner, success: success, failure: failure)
    }

    /// Starts the graph; the closure is called once on the main actor, with the results of all nodes or the error.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with a result as that of ``send(onStart:)``.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        completion: @escaping @MainActor (RequestGraph, Result<Results, RequestError>) -> Void
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { graph, error in completion(graph, graph.result(error)) }
    }

    /// Starts a graph from any context and gives it up; the closure is called once, on the queue.
    ///
    /// Hooks, delegates and accessories are called on no actor. The failure is an error that ``send(onStart:)`` throws.
    @discardableResult
    public static func start(
        _ graph: sending RequestGraph, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Results, RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(graph, on: nil, queue, completion: completion)
    }

    package static var failureCode: RequestError.Code { .graphFailed }
    package var success: Results { results }
    package var expectedCount: Int { contents.count }
    package var firstRequest: BaseRequest? {
        contents.lazy.compactMap { $0.member?.firstRequest }.first
    }
}
