public import Dispatch
public import ErrandCore

/// Runs requests one after another as one unit; each may be created from the previous one.
///
///     let chain = ChainRequest()
///     chain.add(Register(username: "a", password: "b"))
///         .then { register in GetUser(id: register.userId ?? 0) }
///     try await chain.send()
///
/// A step may be a batch or another chain. It is cancelled and suspended with this chain, and its
/// accessories are notified. A batch with ``BatchRequest/Policy/collectAll`` never fails the chain.
///
/// Members keep their own hooks, delegates, accessories and attached closures. A failure stops the
/// chain, unless ``recover(_:)`` decides otherwise. A step or a member's closure may add steps, or
/// call ``finish()`` or ``abort(_:)``.
nonisolated public final class ChainRequest: CompositeRun {
    /// The effect of a failed member on the chain.
    public enum Recovery {
        /// The chain fails with the member's error; the default.
        case stop
        /// The chain continues with the next step, which gets the failed member; the callback of
        /// ``ChainRequest/add(_:then:)`` is not called.
        case proceed
        /// The chain runs this request in place of the failed member.
        ///
        /// The callback of ``ChainRequest/add(_:then:)`` gets the replacement, so a replacement of a step with a
        /// callback must have the member's type. Otherwise the chain fails with
        /// ``RequestError/Code/chainFailed``, and the replacement is not sent.
        case replace(BaseRequest)
    }

    /// A step of a chain: makes a member and handles its success.
    struct Step {
        /// Makes the member from the previous one; `nil` adds none.
        let make: ((any ChainMember)?) throws -> (any ChainMember)?
        /// The type that a replacement must have.
        var requirement: (isMet: (any ChainMember) -> Bool, name: String)?
        /// Called after the success of the member or of its replacement.
        var succeeded: ((any ChainMember) -> Void)?
    }

    /// The requests that have run so far, in order, including those of nested batches and chains.
    public private(set) var requests: [BaseRequest] = []
    /// A number for the caller's own use.
    ///
    /// Default 0.
    public var tag = 0
    /// The accessories of the chain itself; the members have their own.
    ///
    /// Default none.
    public var accessories: [any RequestAccessory] = []
    /// The time from the start after which the current member is cancelled and the chain fails with
    /// ``RequestError/Code/timedOut``.
    ///
    /// Default `nil`: no limit. Time during which the computer is suspended counts, unlike in ``Timeouts/total``.
    /// Errors: ``RequestError/Code/invalidConfiguration`` for a duration of zero or less, before anything is sent.
    public var deadline: Duration?
    /// The run in progress; `nil` before and after it.
    public internal(set) var task: CompositeTask?
    /// The member that failed in the last run.
    public private(set) var failedRequest: BaseRequest?

    private(set) var firstRequest: BaseRequest?
    private var steps: [Step] = []
    private var recovery: (BaseRequest, RequestError) -> Recovery = { _, _ in .stop }
    private var isFinished = false
    private var abortion: RequestError?

    /// Creates a chain without steps, which succeeds at once.
    public init() {}

    /// Adds a request, a batch or a chain as the last step.
    ///
    /// - Parameters:
    ///   - request: The request, batch or chain.
    ///   - callback: Called after the member, or a replacement of its type, has succeeded; may add steps.
    @discardableResult
    public func add<Member: ChainMember>(
        _ request: Member, then callback: ((ChainRequest, Member) -> Void)? = nil
    ) -> ChainLink<Member> {
        if steps.isEmpty { firstRequest = Self.firstRequest(of: request) }
        var step: Step
        if request as AnyObject === self {
            // The chain fails when it is sent; until then it must not retain itself.
            step = Step { [unowned self] _ in self }
        } else {
            step = Step { _ in request }
        }
        if let callback {
            step.requirement = ({ $0 is Member }, "\(Member.self)")
            step.succeeded = { [unowned self] member in
                if let member = member as? Member { callback(self, member) }
            }
        }
        steps.append(step)
        return ChainLink(chain: self)
    }

    /// Sets a closure that decides about a failed member.
    ///
    /// If a nested batch or chain fails, the closure gets its failed member, and a replacement takes
    /// the place of the whole batch or chain. The closure is not called if the chain was cancelled.
    public func recover(_ decide: @escaping (BaseRequest, RequestError) -> Recovery) {
        recovery = decide
    }

    /// Ends the chain successfully after the current member; the remaining steps are skipped.
    public func finish() { isFinished = true }

    /// Ends the chain with an error after the current member.
    public func abort(_ error: RequestError) { abortion = error }

    /// Starts the chain; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called after the last member has succeeded.
    ///   - failure: Called with the error that ended the chain.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (ChainRequest) -> Void = { _ in },
        failure: @escaping @MainActor (ChainRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner, success: success, failure: failure)
    }

    /// Runs the chain and returns the responses of its requests in order, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: The error of the member that stopped the chain; the error of ``abort(_:)``;
    ///   ``RequestError/Code/chainFailed`` if a step throws another error, or if the chain is in progress already;
    ///   ``RequestError/Code/timedOut`` after the ``deadline``;
    ///   ``RequestError/Code/cancelled`` if the run or the calling Swift task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func send(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Response] {
        try await perform(on: nil, onStart: onStart)
    }

    /// Starts a chain from any context and gives it up; the closure is called once, on the queue.
    ///
    /// Steps, hooks, delegates and accessories are called on no actor. The failure is an error that ``send(onStart:)``
    /// throws.
    @discardableResult
    public static func start(
        _ chain: sending ChainRequest, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<[Response], RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(chain, on: nil, queue, completion: completion)
    }

    static var failureCode: RequestError.Code { .chainFailed }
    var output: [Response] { requests.compactMap(\.response) }
    var expectedCount: Int { steps.count }

    /// The first request of a member, if it is known before the run.
    private static func firstRequest(of member: any ChainMember) -> BaseRequest? {
        if let request = member as? BaseRequest { return request }
        return (member as? any CompositeRun)?.firstRequest
    }

    func append(_ make: @escaping ((any ChainMember)?) throws -> (any ChainMember)?) {
        steps.append(Step(make: make))
    }

    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError? {
        requests = []
        failedRequest = nil
        isFinished = false
        abortion = nil
        var index = 0
        var previous: (any ChainMember)?
        // `steps` may grow during the run; the steps that were added are removed at its end.
        let permanent = steps.count
        defer { steps.removeSubrange(min(permanent, steps.count)...) }
        while index < steps.count, !isFinished {
            control.expect(total: steps.count)
            if let abortion { return abortion }
            if let error = control.stopError { return error }
            let step = steps[index]
            let made: (any ChainMember)?
            do { made = try step.make(previous) } catch { return Self.error(for: error) }
            index += 1
            guard let member = made else { continue }
            if let error = await carryOut(member, of: step, control, last: &previous) {
                return error
            }
        }
        return control.stopError ?? abortion
    }

    /// Runs a member and its replacements; returns the error that stops the chain.
    nonisolated(nonsending) private func carryOut(
        _ first: any ChainMember, of step: Step, _ control: CompositeTask,
        last: inout (any ChainMember)?
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
            guard let failure else {
                if control.stopError == nil, abortion == nil { step.succeeded?(member) }
                return nil
            }
            failedRequest = failure.member
            if let error = control.stopError { return error }
            guard let failed = failure.member else { return failure.error }
            switch recovery(failed, failure.error) {
            case .stop: return failure.error
            case .proceed: return nil
            case .replace(let other):
                if let required = step.requirement, !required.isMet(other) {
                    return RequestError(
                        .chainFailed, stage: .build,
                        "The callback of the step requires a \(required.name), so a \(type(of: other)) cannot replace it. "
                            + "Replace it by a request of its type, or use then(_:) in place of the callback."
                    )
                }
                requests.removeSubrange(known...)
                member = other
            }
        }
    }

    /// The request that failed, if it is known, and its error.
    private typealias Failure = (member: BaseRequest?, error: RequestError)

    nonisolated(nonsending) private func carryOut(
        _ member: BaseRequest, _ control: CompositeTask
    ) async -> Failure? {
        requests.append(member)
        let run = member.begin(on: control.agent, asMemberOf: "chain")
        control.enter(run.task)
        let outcome = await run.task.outcome()
        control.leave(run.task)
        member.end(outcome, of: run) { _ in }
        guard case .failure(let error) = outcome.result else { return nil }
        return (member, error)
    }

    /// Runs a batch or a chain as a member.
    nonisolated(nonsending) private func carryOut(
        nested member: any ChainMember, _ control: CompositeTask
    ) async -> Failure? {
        guard let nested = member as? any CompositeRun, nested !== self else {
            return (
                nil,
                RequestError(
                    .chainFailed, stage: .build,
                    "A chain member must be a request, a batch or another chain, not the chain "
                        + "itself or a \(type(of: member)).")
            )
        }
        let task = CompositeTask(total: nested.expectedCount, agent: control.agent)
        if let refusal = nested.claim(task) { return (nil, refusal) }
        control.enter(task)
        let error = await nested.carryOut(task)
        control.leave(task)
        requests += nested.requests
        guard let error else { return nil }
        return (nested.failedRequest, error)
    }

    private static func error(for thrown: any Error) -> RequestError {
        if let error = thrown as? RequestError { return error }
        return RequestError(
            .chainFailed, stage: .build,
            "A step of the chain threw \(type(of: thrown)); see the underlying error.",
            underlying: thrown)
    }
}
