public import ErrandCore

/// Requests one after another, each made from what came before (rows CHN-1 to CHN-10).
///
///     let chain = ChainRequest()
///     chain.add(Register(username: "a", password: "b"))
///         .then { register in GetUser(id: register.userId ?? 0) }
///     try await chain.send()
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

    typealias Step = (BaseRequest?) throws -> BaseRequest?

    /// The members that were made so far, in order.
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

    /// Adds a request as the last step.
    ///
    /// The callback runs after it succeeded and may add steps.
    @discardableResult
    public func add<Member: BaseRequest>(
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

    /// Decides what a failed member means.
    ///
    /// Not asked when the chain is cancelled.
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
        var previous: BaseRequest?
        // `steps` may grow while it is walked; what was added during this run is forgotten after it.
        let permanent = steps.count
        defer { steps.removeSubrange(min(permanent, steps.count)...) }
        while index < steps.count, !isFinished {
            control.expect(total: steps.count)
            if let abortion { return abortion }
            if control.isCancelled { return .cancelled }
            let made: BaseRequest?
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
        _ first: BaseRequest, control: CompositeTask, last: inout BaseRequest?
    ) async -> RequestError? {
        var member = first
        while true {
            requests.append(member)
            let task = member.begin()
            control.enter(task)
            let outcome = await task.outcome()
            control.leave(task)
            member.end(outcome) { _ in }
            last = member
            guard case .failure(let error) = outcome.result else { return nil }
            failedRequest = member
            if control.isCancelled { return .cancelled }
            switch recovery(member, error) {
            case .stop: return error
            case .proceed: return nil
            case .replace(let other):
                requests.removeLast()
                member = other
            }
        }
    }

    private static func error(for thrown: any Error) -> RequestError {
        if let error = thrown as? RequestError { return error }
        return RequestError(
            .chainFailed, stage: .build,
            "A step of the chain threw \(type(of: thrown)); the thrown error is underlying.",
            underlying: thrown)
    }
}
