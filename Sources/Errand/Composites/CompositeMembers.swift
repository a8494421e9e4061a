import ErrandCore

/// The end of a member, after its hooks were called.
nonisolated package struct MemberEnd {
    /// The index of the member.
    package let index: Int
    /// The response of a request; `nil` for another member that succeeded.
    package let result: Result<Response?, RequestError>

    package var error: RequestError? {
        if case .failure(let error) = result { error } else { nil }
    }
}

/// The members of one run: reserves, describes and starts them, and delivers their ends on the caller's
/// actor.
///
/// ``reserve()`` comes first, then ``describe()`` for all members, then ``start(_:isolation:)`` or
/// ``endWithoutStart(_:)`` once for each of them, and ``next()`` as often as members were started.
/// Each described member thus has exactly one end. The run stays with the caller's actor.
///
/// A place without a member is a node of a graph: ``start(_:closure:)`` runs its closure, and ``add(_:at:)`` gives
/// it the member that the closure has made.
nonisolated package final class CompositeMembers {
    /// A member and how far it is.
    private struct Member {
        /// `nil` for a node of a graph that has no member yet.
        var unit: RequestUnit?
        var state = State.known
    }

    private enum State {
        /// Not reserved, or given up again.
        case known
        /// Reserved for this run; a composite, with its task, and announced later.
        case reserved(RequestTask?)
        /// Notified of the start, and described.
        case described(PreparedRequest)
        /// Started: a request; a composite has its task instead.
        case running(RequestRun)
        case ended

        /// The task of a composite that has not ended.
        var task: RequestTask? { if case .reserved(let task) = self { task } else { nil } }
    }

    private var list: [Member]
    /// The members in order; `nil` for a node of a graph that has none yet.
    package var members: [RequestUnit?] { list.map(\.unit) }
    /// The member at an index.
    func member(at index: Int) -> RequestUnit? { list[index].unit }
    private let control: RequestTask.Members
    /// The agent at the call, which performs all members; `nil` leaves the choice to each.
    private let agent: RequestAgent?
    private let kind: String
    private let priority: RequestPriority?
    private let ends = MemberEnds()
    /// The configuration of the agent of the latest member.
    private var shared: (agent: RequestAgent, configuration: Configuration)?
    /// Ends that were taken and not delivered yet, the next one last.
    private var taken: [MemberOutcome] = []

    /// - Parameters:
    ///   - members: The members.
    ///   - control: The run.
    ///   - agent: The agent at the call of the run.
    ///   - kind: "batch", "chain" or "graph", for messages.
    ///   - priority: Replaces the priorities of the requests. Default `nil`: they keep their own.
    package init(
        _ members: [RequestUnit?], of control: RequestTask.Members, on agent: RequestAgent?,
        kind: String, priority: RequestPriority? = nil
    ) {
        list = members.map { Member(unit: $0) }
        self.agent = agent
        self.control = control
        self.kind = kind
        self.priority = priority
    }

    // MARK: - Before the run

    /// Reserves all members, including those of nested batches and graphs, so that none takes part
    /// in another run; or none of them, and returns the reason.
    ///
    /// Calls no hooks.
    package func reserve() -> RequestError? {
        for index in list.indices {
            guard let refusal = reserve(index) else { continue }
            for earlier in 0..<index { release(earlier) }
            return refusal
        }
        return nil
    }

    private func reserve(_ index: Int) -> RequestError? {
        guard let member = list[index].unit else { return nil }
        if let request = member as? BaseRequest {
            guard !request.isMember else { return .occursTwice(request, in: kind) }
            request.isMember = true
            list[index].state = .reserved(nil)
            return nil
        }
        guard let composite = member as? any CompositeRun else {
            return member.refusal
        }
        let task = composite.makeTask(on: agent, within: control)
        if let refusal = composite.claim(task, on: agent) { return refusal }
        list[index].state = .reserved(task)
        return nil
    }

    /// Gives up the reservation of a member that was not described.
    private func release(_ index: Int) {
        if let request = list[index].unit as? BaseRequest {
            request.isMember = false
        } else if let composite = list[index].unit as? any CompositeRun {
            composite.unclaim()
        }
        list[index].state = .known
    }

    /// Gives up the reservation of all members, none of which was described.
    package func release() {
        for index in list.indices { release(index) }
    }

    /// Notifies the members of the start and describes their requests; sends nothing.
    ///
    /// The first request of a nested chain is described when the chain runs.
    package func describe() {
        for index in list.indices { describe(index) }
    }

    private func describe(_ index: Int) {
        if let request = list[index].unit as? BaseRequest {
            list[index].state = .described(prepare(request))
        } else if let task = list[index].state.task {
            (list[index].unit as? any CompositeRun)?.announce(task)
        }
    }

    /// Reserves and describes a member that was made during the run; returns the reason why it is not possible.
    package func add(_ member: RequestUnit, at index: Int) -> RequestError? {
        list[index].unit = member
        if let refusal = reserve(index) {
            list[index].unit = nil
            return refusal
        }
        describe(index)
        return nil
    }

    private func prepare(_ request: BaseRequest) -> PreparedRequest {
        var it = request.prepare(on: agent)
        // Reading the configuration copies it; most members have one agent.
        if shared?.agent !== it.agent { shared = (it.agent, it.agent.configuration) }
        if let configuration = shared?.configuration {
            it.description.prepare(by: configuration)
            if let refusal = it.description.refusalOfTwoResponses(
                configuration.cachePolicy, part: "a member of a \(kind)")
            {
                it.description.mistake = refusal
            }
        }
        if let priority { it.description.sending.priority = priority }
        return it
    }

    // MARK: - The run

    /// Starts a described member; its end is delivered by ``next()``, never by this function.
    ///
    /// A nested composite runs in a Swift task of the caller's actor.
    package func start(_ index: Int, isolation: isolated (any Actor)? = #isolation) {
        let ends = ends
        if let request = list[index].unit as? BaseRequest {
            guard case .described(let prepared) = list[index].state else { return }
            list[index].state = .ended
            let run = request.start(prepared)
            list[index].state = .running(run)
            control.enter(run.task, at: index)
            run.task.whenEnded { ends.add(MemberOutcome(index: index, kind: .request($0))) }
        } else if let composite = list[index].unit as? any CompositeRun,
            let task = list[index].state.task
        {
            control.enter(task, at: index)
            Task {
                _ = isolation
                let error = await composite.carryOut(task)
                ends.add(MemberOutcome(index: index, kind: .composite(error)))
            }
        }
    }

    /// Starts the closure of a node; its end is delivered by ``nextOutcome()``.
    package func start(
        _ index: Int,
        closure: @escaping @Sendable () async -> Result<ClosureTask.Output, RequestError>
    ) {
        let ends = ends
        let task = ClosureTask()
        control.enter(task, at: index)
        task.start {
            Task { ends.add(MemberOutcome(index: index, kind: .closure(await closure()))) }
        }
    }

    /// Waits for the next end of a started member, calls its hooks, and returns it.
    ///
    /// It returns also if the calling Swift task is cancelled; cancel the run's task.
    nonisolated(nonsending) func next() async -> MemberEnd { end(await nextOutcome()) }

    /// Waits for the next end of a started member or closure; its hooks are not called yet.
    nonisolated(nonsending) package func nextOutcome() async -> MemberOutcome {
        if taken.isEmpty { taken = await ends.takeAll().reversed() }
        return taken.removeLast()
    }

    /// Records the end of a member and calls its hooks.
    package func end(_ end: MemberOutcome) -> MemberEnd {
        control.leave(end.index)
        switch end.kind {
        case .request(let outcome):
            if let request = list[end.index].unit as? BaseRequest,
                case .running(let run) = list[end.index].state
            {
                list[end.index].state = .ended
                request.isMember = false
                request.end(outcome, of: run) { _ in }
            }
            return MemberEnd(index: end.index, result: outcome.result.map { $0 })
        case .composite(let error):
            list[end.index].state = .ended
            return MemberEnd(
                index: end.index, result: error.map { .failure($0) } ?? .success(nil))
        case .closure(let result):
            return MemberEnd(index: end.index, result: result.map { _ in nil })
        }
    }

    /// Ends a described member that will not be started, with ``RequestError/Code/cancelled``, and
    /// calls its hooks.
    ///
    /// - Returns: `nil` if the member was started or has ended.
    nonisolated(nonsending) package func endWithoutStart(_ index: Int) async -> MemberEnd? {
        if let request = list[index].unit as? BaseRequest {
            guard case .described(let prepared) = list[index].state else { return nil }
            list[index].state = .ended
            request.isMember = false
            let error = prepared.agent.notStarted { $0.name(prepared.description, $1) }
            request.end(TaskOutcome(result: .failure(error)), of: nil, by: prepared.agent) { _ in }
            return MemberEnd(index: index, result: .failure(error))
        }
        guard let composite = list[index].unit as? any CompositeRun,
            let task = list[index].state.task
        else { return nil }
        list[index].state = .ended
        task.cancel()
        let error = await composite.carryOut(task)
        return MemberEnd(index: index, result: .failure(error ?? .cancelled))
    }
}
