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
nonisolated public class ChainRequest: CompositeRequest, CompositeRun, Startable {
    /// The effect of a failed member on the chain.
    public enum Recovery {
        /// The chain fails with the member's error; the default.
        case stop
        /// The chain continues with the next step, which gets the failed member; the callback of
        /// ``ChainRequest/add(_:named:then:)`` is not called.
        case proceed
        /// The chain runs this request in place of the failed member.
        ///
        /// A step is replaced once: if the replacement fails, too, the chain fails with its error, unless the closure
        /// then returns ``proceed``.
        ///
        /// The callback of ``ChainRequest/add(_:named:then:)`` gets the replacement, so a replacement of a step with a
        /// callback must have the member's type. Otherwise the chain fails with
        /// ``RequestError/Code/chainFailed``, and the replacement is not sent.
        case replace(BaseRequest)
    }

    /// The requests that have run so far, in order, including those of nested batches, chains and graphs.
    public override var requests: [BaseRequest] { ran }
    private var ran: [BaseRequest] = []
    /// The name of the chain, under which checkpoints of its runs are stored.
    ///
    /// Default `nil`.
    public var name: String?
    /// Stores the outputs of finished steps, with which a later run continues; `nil` starts each run with the first step.
    package var continuation: (any ChainContinuation)?
    /// The step with which the last run failed, and the results before it; `nil` after a success, and after a failure
    /// between two steps.
    ///
    /// The message of the error names the step as well, and ``RequestError/precedingResponses`` are the results before
    /// it.
    public private(set) var failedStep: FailedStep?

    /// The responses of the requests of the last run in order, or its error; `nil` before it.
    public var result: Result<[Response], RequestError>? {
        if let error { return .failure(error) }
        return hasSucceeded ? .success(requests.compactMap(\.response)) : nil
    }

    package private(set) var firstRequest: BaseRequest?
    package var priority: RequestPriority? { nil }
    private var steps: [ChainStep] = []
    /// The error of a step that cannot be added.
    private var mistake: RequestError?
    /// Whether the last run succeeded.
    private(set) var hasSucceeded = false
    private var recovery: (BaseRequest, RequestError) -> Recovery = { _, _ in .stop }
    private var isFinished = false
    private var abortion: RequestError?
    /// Whether the run ends after the current step.
    private var isEnding: Bool { isFinished || abortion != nil }

    /// Creates a chain without steps, which succeeds at once.
    public override init() { super.init() }

    deinit { for step in steps { step.clear() } }

    /// Adds a request, a batch, a chain or a graph as the last step.
    ///
    /// - Parameters:
    ///   - request: The request, batch, chain or graph.
    ///   - name: The name of the step in errors. Default `nil`: its number and its endpoint.
    ///   - callback: Called after the member, or a replacement of its type, has succeeded; may add steps.
    @discardableResult
    public func add<Member: RequestUnit>(
        _ request: Member, named name: String? = nil,
        then callback: ((ChainRequest, Member) -> Void)? = nil
    ) -> Step<Member> {
        if steps.isEmpty { firstRequest = request.firstOfAll }
        let step = Step(request, named: name)
        if request as AnyObject === self {
            // The chain fails when it is sent; until then it must not retain itself.
            step.record.make = { [unowned self] in self }
        }
        if let callback {
            step.record.requirement = ({ $0 is Member }, "\(Member.self)")
            step.record.succeeded = { [unowned self] member in
                if let member = member as? Member { callback(self, member) }
            }
        }
        append(step.record)
        return step
    }

    /// Adds a step whose member is made when the step is reached.
    ///
    /// - Parameters:
    ///   - name: The name of the step in errors. Default `nil`: its number and its endpoint.
    ///   - make: Called on the chain's actor; reads earlier steps. If it throws, the chain fails; if it returns `nil`,
    ///     the chain ends successfully.
    @discardableResult
    public func add<Member: Startable>(
        named name: String? = nil,
        _ make: @escaping () async throws -> Member?
    ) -> Step<Member> {
        add(Step(named: name, make))
    }

    /// Adds a step that was created before; a step of another chain lets the chain fail with
    /// ``RequestError/Code/invalidCombination`` when it is sent.
    @discardableResult
    public func add<Member>(_ step: Step<Member>) -> Step<Member> {
        append(step.record)
        return step
    }

    /// Adds a step and those that follow it.
    func append(_ first: ChainStep) {
        if continuation != nil, task != nil {
            return abort(
                RequestError(
                    .invalidCombination, stage: .build,
                    "A chain with a checkpoint store got a further step during its run, which a later run would not "
                        + "have. Add all steps before the start, with conditions if necessary."))
        }
        var waiting = [first]
        while let step = waiting.popLast() {
            guard !step.isAdded else {
                mistake = RequestError(
                    .invalidCombination, stage: .build,
                    "A step was added twice, or to two chains. Create a step for each place.")
                continue
            }
            step.isAdded = true
            step.chain = self
            steps.append(step)
            waiting += step.following.reversed()
            step.following = []
        }
    }

    /// Sets a closure that decides about a failed member.
    ///
    /// If a nested composite fails, the closure gets its failed member, and a replacement takes
    /// the place of the whole composite. The closure is also called for a replacement that failed, which is not replaced
    /// again. It is not called if the chain was cancelled.
    public func recover(_ decide: @escaping (BaseRequest, RequestError) -> Recovery) {
        recovery = decide
    }

    /// Ends the chain successfully after the current member; the remaining steps are skipped.
    public func finish() { isFinished = true }

    /// Ends the chain with an error after the current member.
    public func abort(_ error: RequestError) { abortion = error }

    package static var failureCode: RequestError.Code { .chainFailed }
    package var expectedCount: Int { steps.count }

    // Members are reserved and described when their step is reached.
    package func reserveMembers(_ control: RequestTask.Members) -> RequestError? { nil }
    package func releaseMembers() {}
    package func describeMembers() {}

    /// Forgets the last run.
    func forget() {}

    nonisolated(nonsending) package func run(_ control: RequestTask.Members) async -> RequestError?
    {
        ran = []
        error = nil
        failedRequest = nil
        failedStep = nil
        isFinished = false
        abortion = nil
        hasSucceeded = false
        forget()
        for step in steps { step.reset() }
        if let mistake { return mistake }
        // `steps` may grow during the run; the steps that were added are removed at its end.
        let permanent = steps.count
        defer { removeSteps(from: permanent) }
        var checkpoints: (any ChainCheckpoints)?
        var index = 0
        do throws(RequestError) {
            checkpoints = try makeCheckpoints()
            index = try await restore(&checkpoints, control)
        } catch {
            return control.stopError ?? error
        }
        for _ in 0..<index { control.skip() }
        while index < steps.count, !isFinished {
            control.expect(total: steps.count)
            await control.untilResumed()
            if let error = abortion ?? control.stopError { return error.following(succeeded) }
            let step = steps[index]
            index += 1
            let known = requests.count
            if let error = await carryOut(step, control) {
                let failed = FailedStep(
                    number: index, name: step.name,
                    endpoint: step.member.map { "\(type(of: $0))" },
                    responses: Self.responses(of: requests.prefix(known)))
                failedStep = failed
                return error.naming(failed)
            }
            // After `finish()` or `abort(_:)` the step is not saved: a later run would continue with the next one.
            guard control.stopError == nil, !isEnding else { continue }
            do throws(RequestError) {
                try await save(&checkpoints, control)
            } catch { return (control.stopError ?? error).following(succeeded) }
        }
        if let error = control.stopError ?? abortion { return error.following(succeeded) }
        do throws(RequestError) {
            try await call(control) { [checkpoints] in try await checkpoints?.remove() }
        } catch { return (control.stopError ?? error).following(succeeded) }
        hasSucceeded = true
        return nil
    }

    private func makeCheckpoints() throws(RequestError) -> (any ChainCheckpoints)? {
        guard let continuation else { return nil }
        guard let name else {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "A chain with a checkpoint store needs a name. Set `name`.")
        }
        return continuation.checkpoints(of: name, steps)
    }

    /// Restores the steps of an earlier run, until the run is stopped; returns their number.
    nonisolated(nonsending) private func restore(
        _ checkpoints: inout (any ChainCheckpoints)?, _ control: RequestTask.Members
    ) async throws(RequestError) -> Int {
        guard let before = checkpoints else { return 0 }
        let (after, count) = try await control.call {
            var copy = before
            let count = try await copy.restore()
            return (copy, count)
        }
        .get { Self.error(for: $0) }
        checkpoints = after
        return count
    }

    /// Saves the step that has finished, until the run is stopped.
    nonisolated(nonsending) private func save(
        _ checkpoints: inout (any ChainCheckpoints)?, _ control: RequestTask.Members
    ) async throws(RequestError) {
        guard let before = checkpoints else { return }
        checkpoints = try await control.call {
            var copy = before
            try await copy.save()
            return copy
        }
        .get { Self.error(for: $0) }
    }

    /// The responses of the requests that have succeeded so far.
    private var succeeded: [Response] { Self.responses(of: requests[...]) }

    private static func responses(of requests: ArraySlice<BaseRequest>) -> [Response] {
        requests.compactMap { $0.error == nil ? $0.response : nil }
    }

    private func removeSteps(from index: Int) {
        guard index < steps.count else { return }
        let added = steps[index...]
        steps.removeSubrange(index...)
        for step in added { step.clear() }
    }

    /// Runs a step, its member and its replacements; returns the error that stops the chain.
    nonisolated(nonsending) private func carryOut(
        _ step: ChainStep, _ control: RequestTask.Members
    ) async -> RequestError? {
        do throws(RequestError) {
            if let condition = step.condition,
                try await !call(control, condition)
            {
                control.skip()
                return control.stopError
            }
            let made = try await call(control, step.make)
            if let error = control.stopError { return error }
            guard var member = made else {
                isFinished = true
                return nil
            }
            // A replacement is not replaced: one that always fails would be sent for ever.
            var isReplaced = false
            while true {
                let known = requests.count
                // A chain that contains itself fails, and must not retain itself.
                if member as AnyObject !== self { step.member = member }
                guard let failure = await carryOut(member, control) else {
                    if control.stopError == nil, abortion == nil { step.succeeded?(member) }
                    return nil
                }
                failedRequest = failure.member
                if let error = control.stopError { return error }
                if !isReplaced, let recover = step.recover,
                    let substitute = try await call(control, { try await recover(failure.error) })
                {
                    if let error = control.stopError { return error }
                    switch substitute {
                    case .value(let value):
                        step.value = value
                        return nil
                    case .member(let other):
                        member = other
                    }
                } else {
                    guard let failed = failure.member else { return failure.error }
                    switch recovery(failed, failure.error) {
                    case .stop: return failure.error
                    case .proceed: return nil
                    case .replace(let other):
                        guard !isReplaced else { return failure.error.ofReplacement }
                        if let refusal = refusal(of: other, in: step) { return refusal }
                        member = other
                    }
                }
                isReplaced = true
                control.replace()
                ran.removeSubrange(known...)
            }
        } catch {
            return control.stopError ?? error
        }
    }

    /// Calls a closure of a step in a Swift task that ends with the run.
    nonisolated(nonsending) private func call<Value>(
        _ control: RequestTask.Members, _ body: @escaping () async throws -> Value
    ) async throws(RequestError) -> Value {
        try await control.call(body).get { Self.error(for: $0) }
    }

    /// The error of a replacement whose type does not fit.
    private func refusal(of other: BaseRequest, in step: ChainStep) -> RequestError? {
        guard let required = step.requirement, !required.isMet(other) else { return nil }
        return RequestError(
            .chainFailed, stage: .build,
            "The callback of the step requires a \(required.name), so a \(type(of: other)) cannot replace it. "
                + "Replace it by a request of its type, or use then(_:) in place of the callback.")
    }

    /// The request that failed, if it is known, and its error.
    private typealias Failure = (member: BaseRequest?, error: RequestError)

    /// Runs one member to its end.
    nonisolated(nonsending) private func carryOut(
        _ member: RequestUnit, _ control: RequestTask.Members
    ) async -> Failure? {
        let run = CompositeMembers([member], of: control, on: agentAtCall, kind: "chain")
        if let refusal = run.reserve() { return (nil, refusal) }
        if let request = member as? BaseRequest { ran.append(request) }
        run.describe()
        run.start(0)
        let end = await run.next()
        if !(member is BaseRequest) { ran += member.flattened }
        return end.error.map { (member.failedOfAll, $0) }
    }

    private static func error(for thrown: any Error) -> RequestError {
        if let error = thrown as? RequestError { return error }
        if thrown is CancellationError { return .cancelled }
        return RequestError(
            .chainFailed, stage: .build,
            "A step of the chain threw \(type(of: thrown)); see the underlying error.",
            underlying: thrown)
    }
}
