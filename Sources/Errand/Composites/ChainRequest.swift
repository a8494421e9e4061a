public import ErrandCore

/// Requests one after another, each made from what came before (rows CHN-1 to CHN-10).
///
///     let chain = ChainRequest()
///     chain.add(Register(username: "a", password: "b"))
///         .then { register in GetUser(id: register.userId ?? 0) }
///     try await chain.send()
///
/// A step may be a batch, or another chain: it is run, cancelled and suspended with this one, and its accessories hear of it.
/// A batch that collects all outcomes never stops the chain.
///
/// Members keep their own hooks, delegates, accessories and attached closures. A failure stops the chain, unless
/// ``recover(_:)`` says otherwise. A step, or a member's closure, may add steps, ``finish()`` or ``abort(_:)``.
nonisolated public final class ChainRequest: ComposedRun {
    /// What a failed member means for the chain.
    public enum Recovery {
        /// The chain fails with the member's error. The default.
        case stop
        /// The chain goes on with the next step.
        case proceed
        /// This request takes the failed one's place.
        case replace(BaseRequest)
    }

    typealias Step = ((any ChainMember)?) throws -> (any ChainMember)?

    /// The requests that were made so far, in order, those of batches and chains among them included.
    public private(set) var requests: [BaseRequest] = []
    /// A number of the user's choice (default 0).
    public var tag = 0
    /// Companions of the chain as a whole.
    public var accessories: [any RequestAccessory] = []
    /// The member that failed in the last run.
    public private(set) var failedRequest: BaseRequest?

    private var steps: [Step] = []
    private var recovery: (BaseRequest, RequestError) -> Recovery = { _, _ in .stop }
    private var isFinished = false
    private var abortion: RequestError?

    /// Makes a chain without steps; it succeeds at once.
    public init() {}

    /// Adds a request, a batch or a chain as the last step.
    ///
    /// The callback runs after it succeeded and may add steps.
    @discardableResult
    public func add<Member: ChainMember>(
        _ request: Member, then callback: ((ChainRequest, Member) -> Void)? = nil
    ) -> ChainLink<Member> {
        steps.append { _ in request }
        if let callback {
            steps.append { [unowned self] previous in
                if let member = previous as? Member { callback(self, member) }
                return nil
            }
        }
        return ChainLink(chain: self)
    }

    /// Decides what a failed member means; of a batch or a chain the member of it that failed.
    ///
    /// What replaces that takes the place of the whole batch or chain. Not asked when the chain is cancelled.
    public func recover(_ decide: @escaping (BaseRequest, RequestError) -> Recovery) {
        recovery = decide
    }

    /// Ends the chain successfully behind the present member; what was to follow is dropped.
    public func finish() { isFinished = true }

    /// Ends the chain with an error behind the present member.
    public func abort(_ error: RequestError) { abortion = error }

    /// Starts the chain; one of the closures is called, once, on the main actor.
    ///
    /// An owner that goes cancels the run; the default, `nil`, is none.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (ChainRequest) -> Void = { _ in },
        failure: @escaping @MainActor (ChainRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(owner: owner, success: success, failure: failure)
    }

    /// Runs the chain and returns its members' answers in order, on the caller's actor.
    ///
    /// - Throws: The error of the member that stopped the chain.
    @discardableResult
    nonisolated(nonsending) public func send() async throws(RequestError) -> [Response] {
        try await perform { (_, error) throws(RequestError) in
            if let error { throw error }
            return requests.compactMap(\.response)
        }
    }

    var expectedCount: Int { steps.count }

    func append(_ step: @escaping Step) { steps.append(step) }

    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError? {
        requests = []
        failedRequest = nil
        isFinished = false
        abortion = nil
        var index = 0
        var previous: (any ChainMember)?
        // `steps` may grow while it is walked; what was added during this run is forgotten after it.
        let permanent = steps.count
        defer { steps.removeSubrange(min(permanent, steps.count)...) }
        while index < steps.count, !isFinished {
            control.expect(total: steps.count)
            if let abortion { return abortion }
            if control.isCancelled { return .cancelled }
            let made: (any ChainMember)?
            do { made = try steps[index](previous) } catch { return Self.error(for: error) }
            index += 1
            guard let member = made else { continue }
            if let error = await carryOut(member, control: control, last: &previous) {
                return error
            }
        }
        return control.isCancelled ? .cancelled : abortion
    }

    /// Runs a member, and what takes its place; returns what stops the chain.
    nonisolated(nonsending) private func carryOut(
        _ first: any ChainMember, control: CompositeTask, last: inout (any ChainMember)?
    ) async -> RequestError? {
        var member = first
        while true {
            let known = requests.count
            let failure =
                if let request = member as? BaseRequest {
                    await carryOut(request, control)
                } else {
                    await carryOut(nested: member, control)
                }
            last = member
            guard let failure else { return nil }
            failedRequest = failure.member
            guard !control.isCancelled else { return .cancelled }
            guard let failed = failure.member else { return failure.error }
            switch recovery(failed, failure.error) {
            case .stop: return failure.error
            case .proceed: return nil
            case .replace(let other):
                requests.removeSubrange(known...)
                member = other
            }
        }
    }

    /// What failed, and with what.
    private typealias Failure = (member: BaseRequest?, error: RequestError)

    nonisolated(nonsending) private func carryOut(
        _ member: BaseRequest, _ control: CompositeTask
    ) async -> Failure? {
        requests.append(member)
        let task = member.begin()
        control.enter(task)
        let outcome = await task.outcome()
        control.leave(task)
        member.end(outcome) { _ in }
        guard case .failure(let error) = outcome.result else { return nil }
        return (member, error)
    }

    /// Runs a batch or a chain as a member.
    nonisolated(nonsending) private func carryOut(
        nested member: any ChainMember, _ control: CompositeTask
    ) async -> Failure? {
        guard let nested = member as? any ComposedRun, nested !== self else {
            return (
                nil,
                RequestError(
                    .chainFailed, stage: .build,
                    "A chain's member is a request, a batch or another chain, not a \(type(of: member)) nor the chain itself."
                )
            )
        }
        let task = CompositeTask(total: nested.expectedCount)
        control.enter(task)
        let error = await nested.carryOut(task)
        control.leave(task)
        requests += nested.requests
        guard let error, !nested.toleratesFailures || task.isCancelled else { return nil }
        return (nested.failedRequest, error)
    }

    private static func error(for thrown: any Error) -> RequestError {
        if let error = thrown as? RequestError { return error }
        return RequestError(
            .chainFailed, stage: .build,
            "A step of the chain threw \(type(of: thrown)); the thrown error is underlying.",
            underlying: thrown)
    }
}
