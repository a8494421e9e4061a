import ErrandSystem
public import ErrandTransport
import Synchronization

/// Runs requests.
///
/// A process can have any number of agents. Each has a transport, a store and a configuration.
///
///     let agent = RequestAgent(
///         configuration: Configuration(baseURL: "https://api.example.com/v1"))
public final class RequestAgent: Sendable {
    private struct State {
        var configuration: SharedConfiguration
        /// The ``reconfigure(_:)`` that made the latest change; `nil` for an assignment.
        var author: UUID?
        var tasks = TaskTable()
        var isShutDown = false
        var activity = ActivityState()
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
        var connections: ConnectionReports.Observation?
    }

    /// The transport that sends the requests.
    public let transport: any Transport
    /// The store of cached responses; `nil` disables caching.
    public let store: (any ResponseStore)?

    package let clock: any RequestClock
    package let reconnectingStreams = ReconnectingStreams<RequestTask>()
    private let ownCookieJar: CookieJar
    package let services: TaskServices
    let pipeline: Pipeline
    let writes: PendingCacheWrites
    private let runners = RunnerPool<(agent: RequestAgent, task: RequestTask)> {
        await $0.agent.run($0.task)
    }
    private let state: Mutex<State>
    private let sharesAccessories: Atomic<Bool>

    /// Makes an agent.
    ///
    /// - Parameters:
    ///   - configuration: The settings that its requests share.
    ///   - transport: The transport that sends them.
    ///   - store: The store of cached responses; by default one in memory of at most 32 MiB. `nil` disables caching.
    ///   - clock: The clock for time limits, delays and cache ages; tests pass a manual clock.
    public init(
        configuration: Configuration = Configuration(), transport: any Transport,
        store: (any ResponseStore)? = MemoryResponseStore(), clock: any RequestClock = SystemClock()
    ) {
        self.transport = transport
        self.store = store
        self.clock = clock
        let jar = CookieJar(clock: clock)
        ownCookieJar = jar
        services = TaskServices(
            transport: transport, store: store, clock: clock, cookieJar: jar)
        let writes = PendingCacheWrites()
        self.writes = writes
        let refresher = CacheRefresher(presence: .of(store))
        pipeline = Pipeline(
            sharedTransfers: SharedTransferTable(), writes: writes, refresher: refresher)
        sharesAccessories = Atomic(!configuration.sharedAccessories.isEmpty)
        state = Mutex(State(configuration: SharedConfiguration(configuration)))
        if !configuration.eventListeners.isEmpty { listenToConnections() }
    }

    private func listenToConnections() {
        guard state.withLock({ $0.connections == nil }), let new = observeConnections() else {
            return
        }
        // Of two that are made at the same time, one is released after this call.
        state.withLock { if $0.connections == nil { $0.connections = new } }
    }

    /// The settings that requests share.
    ///
    /// Can be replaced at any time; each task keeps the configuration that it started with. An assignment to a member,
    /// such as `agent.configuration.baseURL = url`, reads the configuration and then replaces it: a change by another
    /// thread between the two is lost. ``reconfigure(_:)`` loses none.
    public var configuration: Configuration {
        get { state.withLock { $0.configuration }.value }
        set { replace(nil, by: SharedConfiguration(newValue)) }
    }

    /// The call of ``reconfigure(_:)`` whose closure the current thread runs.
    @TaskLocal private static var author: UUID?

    /// Changes the configuration atomically and returns the result of the closure.
    ///
    ///     agent.reconfigure { $0.cacheIdentity = user.id }
    ///
    /// The closure runs on the calling thread and without a lock, so it can use the agent. If the configuration was
    /// changed meanwhile, the closure is called again with the changed one: it should only change its argument. A change
    /// of the same agent within the closure is kept, unless the closure overwrites it. Running tasks keep their
    /// configuration. An error that the closure throws leaves the configuration unchanged.
    @discardableResult
    public func reconfigure<Value, Failure>(
        _ change: (inout Configuration) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let author = TaskID.next()
        var wasRepeated = false
        while true {
            let (base, latest) = state.withLock { ($0.configuration, $0.author) }
            var configuration = base.value
            let result = Self.$author.withValue(author) { () -> Result<Value, Failure> in
                do throws(Failure) {
                    return .success(try change(&configuration))
                } catch {
                    return .failure(error)
                }
            }
            let value = try result.get()
            // A closure that changes the agent itself has seen its own change in the second call.
            let own = wasRepeated && latest == author ? author : nil
            if replace(base, or: own, by: SharedConfiguration(configuration)) { return value }
            wasRepeated = true
        }
    }

    /// Replaces the configuration if it is the expected one, or if the given author made the latest change.
    @discardableResult
    private func replace(
        _ expected: SharedConfiguration?, or author: UUID? = nil, by new: SharedConfiguration
    ) -> Bool {
        if !new.value.eventListeners.isEmpty { listenToConnections() }
        return state.withLock { state in
            guard
                expected == nil || state.configuration === expected
                    || author != nil && state.author == author
            else { return false }
            state.configuration = new
            state.author = Self.author
            sharesAccessories.store(!new.value.sharedAccessories.isEmpty, ordering: .releasing)
            return true
        }
    }

    /// Whether every request has accessories; without a lock, because each request reads it several times.
    package var hasSharedAccessories: Bool { sharesAccessories.load(ordering: .acquiring) }

    /// The accessories of every request.
    package var sharedAccessories: [any Sendable] {
        guard hasSharedAccessories else { return [] }
        return state.withLock { $0.configuration }.value.sharedAccessories
    }

    /// The cookie jar: the configuration's, or else the agent's own, which is in memory.
    public var cookieJar: CookieJar { configuration.cookieJar ?? ownCookieJar }

    /// The number of requests in progress: the current value, then every change.
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

    /// The tasks that have not ended, in no particular order.
    public var activeTasks: [RequestTask] { state.withLock { $0.tasks.tasks } }

    /// The circuits that are not closed or have counted failures, by host.
    package var circuits: [String: CircuitBreaker] { pipeline.hostHealth.circuits }

    /// Starts a request from its description: the result of an endpoint's `makeDescription()`, or one made by hand.
    ///
    /// Hooks of the request, such as authenticators, run without the caller's task-local values. Hooks of an awaited
    /// endpoint (`send()`, `value()`) have them.
    @discardableResult
    public func start(_ description: consuming RequestDescription) -> RequestTask {
        // A hook may start the description of a streamed request again. That task has no reader.
        if description.isStreamed { description.isStreamed = false }
        let (task, isAlone) = admit(description)
        let startsInline =
            isAlone && task.isCheapToBuild && task.sharedConfiguration.startsPlainly
        // A task-local value marks requests that authenticators send, and runners have the default priority.
        if CredentialOperation.current == nil, Task.currentPriority == .medium {
            if startsInline, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                // No other request keeps a pool thread awake, and waking one costs more (decision 13).
                task.startBarrier.start { Task.immediateDetached { await self.run(task) } }
            } else {
                runners.run((self, task))
            }
        } else if CredentialOperation.current == nil {
            Task.detached(priority: Task.currentPriority) { await self.run(task) }
        } else {
            Task { await run(task) }
        }
        return task
    }

    /// Adds a task to the table; ``perform(_:)`` runs it.
    package func enlist(_ description: consuming RequestDescription) -> RequestTask {
        admit(description).task
    }

    /// Adds a task to the table, and returns whether it is the only one.
    @inline(__always) private func admit(
        _ description: consuming RequestDescription
    ) -> (task: RequestTask, isAlone: Bool) {
        let configuration = state.withLock { $0.configuration }
        description.prepare(by: configuration)
        for instrument in configuration.instruments { instrument.willStart(&description) }
        if (description.ownCachePolicy ?? configuration.value.cachePolicy).isHTTP {
            // Not in `init`: after the first weak reference, each reference to the agent costs more.
            pipeline.cache.refresher.start { { [weak self] in self?.start($0) } }
        }
        let id = TaskID.next()
        var capture: (any RequestCapture)?
        if !configuration.capturingListeners.isEmpty {
            for listener in configuration.capturingListeners {
                capture = RequestCapturePair.joining(
                    capture, listener.willStart(&description, as: id))
            }
        }
        let task = RequestTask(
            id: id, description: description, configuration: consume configuration,
            services: services, capture: capture)
        let count = state.withLock { state in
            guard !state.isShutDown else { return 0 }
            task.place.store(state.tasks.add(task), ordering: .relaxed)
            state.activity.change(to: state.tasks.count)
            return state.tasks.count
        }
        if count == 0 { task.stop(.shutDown) }
        if let limit = Self.limit(of: task) { scheduleEnd(of: task, after: limit) }
        return (task, count == 1)
    }

    /// Runs a task to its end in the caller's Swift task; cancelling that cancels the request.
    ///
    /// A separate Swift task would cost a small request more than all the steps together. The caller reads the
    /// ``RequestTask/finalOutcome``. It is not returned, because then it would take memory in the caller's frame during
    /// the whole wait.
    @concurrent
    package func perform(_ task: RequestTask) async {
        await withTaskCancellationHandler {
            await run(task)
        } onCancel: {
            task.cancel()
        }
    }

    /// Cancels the tasks for which the predicate holds; each ends with ``RequestError/Code/cancelled``.
    public func cancelAll(where predicate: (RequestTask) -> Bool = { _ in true }) {
        reconnectingStreams.cancel(where: predicate)
        for task in activeTasks where predicate(task) { task.cancel() }
    }

    /// Cancels the tasks with a tag.
    public func cancel(tag: Int) { cancelAll { $0.tag == tag } }

    /// Whether ``shutdown(draining:)`` was called.
    package var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Accepts no more requests, lets current requests end or cancels them, then closes the transport.
    ///
    /// A suspended request keeps a draining agent waiting until it is resumed. Cancelling the calling Swift task cancels
    /// the requests that have not ended, and ends the wait for pending cache writes.
    ///
    /// - Parameter draining: Whether current requests run to their end (default true).
    public func shutdown(draining: Bool = true) async {
        state.withLock { $0.isShutDown = true }
        reconnectingStreams.cancel()
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

    /// Waits until all pending cache writes have finished, or the calling Swift task is cancelled.
    ///
    /// After a cancellation the writes continue.
    public func flushCache() async { await writes.flush() }

    /// Removes all stored responses, for example after a sign-out.
    ///
    /// Pending writes are discarded. Responses of requests that started before this call are delivered, but not stored.
    /// Requests that start later find none of the removed responses. Another agent, or another process, with the same
    /// store can still store responses of its requests.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` if the store cannot remove its entries.
    public func clearCache() async throws(RequestError) {
        guard let store else { return }
        let ticket = TaskID.ticket(of: TaskID.next())
        if let error = await writes.clear(store, before: ticket) { throw error }
    }

    /// Runs a task through the pipeline to its end.
    @inline(__always)  // decision 10
    nonisolated(nonsending) func run(_ task: RequestTask) async {
        var unreported: Shared<TaskOutcome>?
        if Self.begin(task) {
            let result: Result<Processed, RequestError>
            do throws(RequestError) {
                // A cancellation sets `isStopping` before it cancels the Swift task.
                try task.checkNotStopping()
                result = .success(try await pipeline(task))
            } catch {
                result = .failure(error)
            }
            unreported = endReporting(task, result)
            if unreported == nil { return }
        }
        await finishReported(task, unreported)
    }

    /// Reports the start; returns false if the task exceeded its total limit before, and has ended.
    @inline(never)  // decision 10
    static func begin(_ task: RequestTask) -> Bool {
        if limit(of: task) != nil, !task.begin() { return false }
        task.emitStart()
        return true
    }

    /// Removes the task from the table; an agent that was shut down is idle after its last task.
    func remove(_ task: RequestTask) {
        let (removed, waiters) = state.withLock { state in
            let removed = state.tasks.remove(at: task.place.load(ordering: .relaxed))
            state.activity.change(to: state.tasks.count)
            guard state.isShutDown, state.tasks.isEmpty else {
                return (removed, [] as [CheckedContinuation<Void, Never>])
            }
            return (removed, exchange(&state.idleWaiters, with: []))
        }
        // Released outside the lock: a task may hold the last reference to objects of users.
        withExtendedLifetime(removed) {}
        for waiter in waiters { waiter.resume() }
    }
}

extension RequestAgent {
    /// Reports the end of a task to the observers of its state, to progress handlers and to event listeners, and, after
    /// all of these have returned, to the callers that wait for the outcome.
    nonisolated(nonsending) func end(
        _ task: RequestTask, _ result: Result<Processed, RequestError>
    ) async {
        if let unreported = endReporting(task, result) { await finishReported(task, unreported) }
    }

    /// Ends and finishes a task; returns its outcome instead of finishing it if not all have received the end.
    @inline(never)  // decision 10
    func endReporting(
        _ task: RequestTask, _ result: Result<Processed, RequestError>
    ) -> Shared<TaskOutcome>? {
        let outcome = outcome(of: task, result)
        guard Self.reportEnd(outcome, task) else { return Shared(outcome) }
        remove(task)
        task.finish(outcome)
        return nil
    }

    /// Finishes a task when all have received the end; without an outcome, waits until it has ended elsewhere.
    @inline(never)  // decision 10
    func finishReported(_ task: RequestTask, _ outcome: Shared<TaskOutcome>?) async {
        guard let outcome else { return await task.untilEnded() }
        await Self.untilReported(outcome.value, task)
        remove(task)
        task.finish(outcome.value)
    }

    /// Reports the end to handlers and listeners; returns false if not all have received it.
    private static func reportEnd(_ outcome: TaskOutcome, _ task: RequestTask) -> Bool {
        task.capture?.requestEnded(outcome.result, task.cacheMiss)
        // Another request that shares the transfer may be calling a progress handler of this task on its thread.
        guard task.finishProgress(isWhole: outcome.error == nil) else { return false }
        task.emitEnd(outcome)
        return !task.isObserved || task.hasDeliveredEvents
    }

    /// Suspends until handlers and listeners have received the end.
    private static func untilReported(_ outcome: TaskOutcome, _ task: RequestTask) async {
        await task.untilProgressIsDelivered()
        // The event queue delivers only the first end.
        task.emitEnd(outcome)
        await task.untilDelivered()
    }

    /// Starts the total time limit, which counts from the start of the task.
    func scheduleEnd(of task: RequestTask, after limit: Duration) {
        // A limit of zero or less is refused when the request is built.
        guard limit > .zero else { return }
        task.limitTime(
            ScheduledCall(after: limit, clock) { [weak self, weak task] in
                guard let self, let task else { return }
                task.stop(.deadline)
                // A running task is ended by the pipeline. Listeners do not run on the thread of time limits.
                if task.begin() { ListenerQueue.run { self.endUnstarted(task) } }
            })
    }

    /// Ends a task that exceeded its total limit before it ran, without a thread of the cooperative pool: hooks of other
    /// requests may block them all.
    private func endUnstarted(_ task: RequestTask) {
        task.emitStart()
        if let unreported = endReporting(task, .failure(.cancelled)) {
            Task { await finishReported(task, unreported) }
        }
    }

    /// The error of a request that a batch, a chain or a graph did not start, with the message for users.
    ///
    /// - Parameter name: Names the request in the error.
    package func notStarted(
        _ name: (inout RequestError, Configuration) -> Void
    ) -> RequestError {
        let configuration = configuration
        var error = RequestError(
            .cancelled, stage: .cancel,
            "The request was not started, because its batch ended without it.")
        name(&error, configuration)
        error.setUserMessage(of: configuration)
        return error
    }

    package static func limit(of task: RequestTask) -> Duration? {
        if let own = task.description.timeouts { return own.total }
        return task.configuration.timeouts.total
    }

    /// Records the end of the task.
    ///
    /// A reason to stop takes precedence over the result of the pipeline.
    @inline(never)  // decision 10
    private func outcome(
        of task: RequestTask, _ result: Result<Processed, RequestError>
    ) -> TaskOutcome {
        var failure: RequestError
        switch (task.end(), result) {
        case (nil, .success(let processed)):
            return TaskOutcome(result: .success(processed.response), output: processed.output)
        case (nil, .failure(let error)): failure = error
        case (let reason?, _):
            failure = Self.error(for: reason, limit: Self.limit(of: task), result: result)
            // The network had no time left: the stored response, which was delivered, is the result.
            if reason == .deadline, let stored = task.storedOutcome,
                let response = try? stored.result.get()
            {
                failure.name(task)
                task.markStoredAsRepeated()
                task.emit(.storedResponseKept(failure))
                return TaskOutcome(
                    result: .success(response.used(after: failure)), output: stored.output)
            }
        }
        failure.name(task)
        failure.setUserMessage(of: task.configuration)
        return TaskOutcome(result: .failure(failure))
    }

    private static func error(
        for reason: TaskState.StopReason, limit: Duration?, result: Result<Processed, RequestError>
    ) -> RequestError {
        var attempts = 0
        var underlying: RequestError?
        var stopped: RequestError?
        switch result {
        case .success(let processed): attempts = processed.response.attempts
        case .failure(let error):
            stopped = error
            attempts = error.attempts
            // A cancelled request may have been waiting for a retry: the failure before it is the cause to report.
            underlying = error.isCancellation ? error.underlying as? RequestError : error
        }
        var error: RequestError
        switch reason {
        case .cancelled:
            error = .cancelled
        case .shutDown:
            error = RequestError(
                .agentShutDown, stage: .schedule,
                "The agent was shut down. Send the request through another agent.")
        case .deadline:
            error = RequestError(
                .timedOut, stage: .transport,
                "The request took longer than its total limit of \(limit ?? .zero). Increase timeouts.total, or read the events to see what it waited for."
                    + (underlying?.code == .authenticationFailed
                        ? " " + (underlying?.message ?? "") : ""),
                timeout: .total)
        }
        error.attempts = attempts
        error.underlying = underlying
        if let stopped {
            error.takeName(of: stopped)
            error.previousErrors = stopped.previousErrors
            error.bytesReceived = stopped.bytesReceived
        }
        return error
    }
}
