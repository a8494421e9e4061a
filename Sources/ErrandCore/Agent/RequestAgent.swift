import Foundation
import Synchronization

/// Carries requests out.
///
/// Any number of agents live side by side; each has its transport, its store and its configuration.
///
///     let agent = RequestAgent(
///         configuration: Configuration(baseURL: "https://api.example.com/v1"))
public final class RequestAgent: Sendable {
    private struct State {
        var configuration: Shared<Configuration>
        var tasks = TaskTable()
        var isShutDown = false
        var activity = ActivityState()
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// What carries the requests.
    public let transport: any Transport
    /// Where answers are kept; `nil` caches nothing.
    public let store: (any ResponseStore)?

    package let clock: any RequestClock
    private let ownCookieJar: CookieJar
    private let pipeline: Pipeline
    private let writes: PendingCacheWrites
    private let runners = RunnerPool<(agent: RequestAgent, task: RequestTask)> {
        await $0.agent.run($0.task)
    }
    private let state: Mutex<State>
    private let hasCompanions: Atomic<Bool>

    /// Makes an agent.
    ///
    /// - Parameters:
    ///   - configuration: What its requests have in common.
    ///   - transport: What carries them.
    ///   - store: Where answers are kept; by default in memory, up to 8 MiB. `nil` caches nothing.
    ///   - clock: Time; tests give a manual one.
    public init(
        configuration: Configuration = Configuration(), transport: any Transport,
        store: (any ResponseStore)? = MemoryResponseStore(), clock: any RequestClock = SystemClock()
    ) {
        self.transport = transport
        self.store = store
        self.clock = clock
        ownCookieJar = CookieJar(clock: clock)
        let writes = PendingCacheWrites()
        self.writes = writes
        let refresher = CacheRefresher(use: .of(store))
        pipeline = Pipeline(flights: FlightTable(), writes: writes, refresher: refresher)
        hasCompanions = Atomic(!configuration.companions.isEmpty)
        state = Mutex(State(configuration: Shared(configuration)))
        refresher.start { [weak self] in self?.start($0) }
    }

    /// What requests have in common.
    ///
    /// May be replaced at any time; a task keeps what it started with.
    public var configuration: Configuration {
        get { state.withLock { $0.configuration }.value }
        set {
            state.withLock { state in
                state.configuration = Shared(newValue)
                hasCompanions.store(!newValue.companions.isEmpty, ordering: .releasing)
            }
        }
    }

    /// The accessories of every request; asked for several times by each, so not under the lock where there are none.
    package var companions: [any Sendable] {
        guard hasCompanions.load(ordering: .acquiring) else { return [] }
        return state.withLock { $0.configuration }.value.companions
    }

    /// Where cookies are kept: the configuration's jar, else the agent's own, in memory.
    public var cookieJar: CookieJar { configuration.cookieJar ?? ownCookieJar }

    /// How many requests are under way: now, and whenever that changes.
    ///
    ///     for await count in agent.activity { spinner.isAnimating = count > 0 }
    public var activity: ActivityCounter { ActivityCounter(agent: self) }

    func subscribeToActivity() -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { $0.activity.add(continuation, count: $0.tasks.count) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.activity.remove(id) }
        }
        return stream
    }

    /// The tasks that have not ended, in no order.
    public var activeTasks: [RequestTask] { state.withLock { $0.tasks.tasks } }

    /// Starts what an endpoint described.
    ///
    /// `describe()` of an endpoint, or a description made by hand. Hooks of the request, such as authenticators, run
    /// without the caller's task-local values; those of an awaited endpoint have them.
    @discardableResult
    public func start(_ description: consuming RequestDescription) -> RequestTask {
        let isLight = description.isLight
        let (task, isAlone) = admit(description)
        let beginsHere = isLight && isAlone && Self.beginsQuietly(task.context)
        // What began while credentials are renewed must know; and a runner has the usual priority.
        if RefreshGate.underRefresh.isEmpty, Task.currentPriority == .medium {
            if beginsHere, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                // Nobody else keeps a thread awake that would go on with it: waking one costs more than beginning here.
                task.context.startGate.start { Task.immediateDetached { await self.run(task) } }
            } else {
                runners.run((self, task))
            }
        } else if RefreshGate.underRefresh.isEmpty {
            Task.detached(priority: Task.currentPriority) { await self.run(task) }
        } else {
            Task { await run(task) }
        }
        return task
    }

    /// Whether a light request begins without a look at the store, and without calling anybody: who starts a request may
    /// hold what a listener waits for.
    private static func beginsQuietly(_ context: TaskContext) -> Bool {
        context.configuration.cachePolicy == .cacheElseLoad
            && context.configuration.eventListeners.isEmpty
            && context.configuration.errorDecoder == nil
            && context.configuration.errorRecovery == nil
    }

    /// Takes in what an endpoint described; ``perform(_:)`` carries it out.
    package func enlist(_ description: consuming RequestDescription) -> RequestTask {
        admit(description).task
    }

    /// Takes in what an endpoint described, and says whether nothing else is under way.
    private func admit(
        _ description: consuming RequestDescription
    ) -> (task: RequestTask, isAlone: Bool) {
        let context = TaskContext(
            id: TaskID.next(), description: description,
            configuration: state.withLock { $0.configuration }, transport: transport, store: store,
            clock: clock, cookieJar: ownCookieJar)
        let task = RequestTask(context: context)
        let count = state.withLock { state in
            guard !state.isShutDown else { return 0 }
            task.place.store(state.tasks.add(task), ordering: .relaxed)
            state.activity.change(to: state.tasks.count)
            return state.tasks.count
        }
        if count == 0 { task.stop(.shutDown) }
        return (task, count == 1)
    }

    /// Carries out what was taken in and waits for its end, in the caller's own Swift task, whose cancelling
    /// cancels the request.
    ///
    /// A task of its own would cost a small request more than all the steps do.
    @concurrent
    package func perform(_ task: RequestTask) async -> TaskOutcome {
        await withTaskCancellationHandler {
            await run(task)
        } onCancel: {
            task.cancel()
        }
    }

    /// Cancels the tasks for which the predicate holds; each ends with ``RequestError/Code/cancelled``.
    public func cancelAll(where predicate: (RequestTask) -> Bool = { _ in true }) {
        for task in activeTasks where predicate(task) { task.cancel() }
    }

    /// Cancels the tasks with a tag.
    public func cancel(tag: Int) { cancelAll { $0.tag == tag } }

    /// Takes no more requests, lets those under way end or ends them, then closes the transport.
    ///
    /// A suspended request keeps a draining agent waiting until it is resumed. Cancelling the calling Swift
    /// task ends what is still under way.
    ///
    /// - Parameter draining: Whether tasks under way may end by themselves. Default true.
    public func shutdown(draining: Bool = true) async {
        state.withLock { $0.isShutDown = true }
        if !draining { stopAll() }
        await withTaskCancellationHandler {
            await untilIdle()
        } onCancel: {
            stopAll()
        }
        await writes.flush()
        transport.shutDown()
    }

    private func stopAll() {
        for task in activeTasks { task.stop(.shutDown) }
    }

    private func untilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.tasks.isEmpty { return true }
                state.idleWaiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Waits until what was to be cached so far is in the store.
    public func flushCache() async { await writes.flush() }

    @discardableResult
    nonisolated(nonsending) func run(_ task: RequestTask) async -> TaskOutcome {
        let deadline = begin(task)
        let result: Result<Response, RequestError>
        do throws(RequestError) {
            // Asked of the task, not of the Swift task, which hears of it a moment later.
            guard !task.isStopping else { throw .cancelled }
            result = .success(try await pipeline(task.context))
        } catch {
            result = .failure(error)
        }
        deadline?.cancel()
        let (outcome, isTold) = conclude(task, result)
        // A handler may be busy on the thread of another request that it shares a transfer with.
        if !isTold { await task.context.progress.untilTold() }
        // Whoever has the answer finds everything told that led to it.
        if !tellEnd(task, outcome) { await task.context.untilTold() }
        leave(task, outcome)
        return outcome
    }

    // What follows stands apart from `run`, which is suspended for as long as the request lasts and keeps room for
    // whatever it names.

    /// Starts the time that the request has in all.
    @inline(never)
    private func begin(_ task: RequestTask) -> Task<Void, Never>? {
        task.context.emit(.started)
        guard let limit = Self.limit(of: task.context) else { return nil }
        return Task { [clock] in
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            task.stop(.deadline)
        }
    }

    private static func limit(of context: TaskContext) -> Duration? {
        if let own = context.description.timeouts { return own.total }
        return context.configuration.timeouts.total
    }

    /// What the request came to, and whether everybody has heard of its progress.
    @inline(never)
    private func conclude(
        _ task: RequestTask, _ result: Result<Response, RequestError>
    ) -> (outcome: TaskOutcome, isTold: Bool) {
        let context = task.context
        var result = result
        if let reason = task.end() {
            let limit = Self.limit(of: context)
            result = .failure(Self.error(for: reason, limit: limit, result: result))
        }
        if let messages = context.configuration.errorMessages {
            result = result.mapError { messages.added(to: $0) }
        }
        switch result {
        case .success:
            let isTold = context.progress.finish(isWhole: true)
            return (TaskOutcome(result: result, output: context.output), isTold)
        case .failure:
            return (TaskOutcome(result: result), context.progress.finish(isWhole: false))
        }
    }

    /// Tells the listeners of the end; false where somebody else is telling them something, and will tell this.
    @inline(never)
    private func tellEnd(_ task: RequestTask, _ outcome: TaskOutcome) -> Bool {
        let context = task.context
        switch outcome.result {
        case .success: context.emit(.ended(nil))
        case .failure(let error): context.emit(.ended(error))
        }
        return !context.isHeard || context.isTold
    }

    /// Hands the outcome to whoever waits for it.
    @inline(never)
    private func leave(_ task: RequestTask, _ outcome: TaskOutcome) {
        let (left, waiters) = state.withLock { state in
            let left = state.tasks.remove(at: task.place.load(ordering: .relaxed))
            state.activity.change(to: state.tasks.count)
            guard state.isShutDown, state.tasks.isEmpty else {
                return (left, [] as [CheckedContinuation<Void, Never>])
            }
            defer { state.idleWaiters = [] }
            return (left, state.idleWaiters)
        }
        withExtendedLifetime(left) {}
        for waiter in waiters { waiter.resume() }
        task.finish(outcome)
    }

    private static func error(
        for reason: TaskLife.StopReason, limit: Duration?, result: Result<Response, RequestError>
    ) -> RequestError {
        var attempts = 0
        var underlying: RequestError?
        switch result {
        case .success(let response): attempts = response.attempts
        case .failure(let error):
            attempts = error.attempts
            // What was cancelled may have waited because of an earlier failure: that is the reason to know.
            underlying = error.isCancellation ? error.underlying as? RequestError : error
        }
        switch reason {
        case .cancelled:
            var error = RequestError.cancelled
            error.attempts = attempts
            error.underlying = underlying
            return error
        case .shutDown:
            return RequestError(
                .agentShutDown, stage: .schedule,
                "The agent was shut down; requests need another agent.", underlying: underlying,
                attempts: attempts)
        case .deadline:
            return RequestError(
                .timedOut, stage: .transport,
                "The request took longer than its total limit of \(limit ?? .zero). Raise timeouts.total, or find out from the events what it waited for.",
                underlying: underlying, attempts: attempts, timeout: .total)
        }
    }
}
