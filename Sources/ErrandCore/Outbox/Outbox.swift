public import Foundation
import HTTPTypes
import Synchronization

/// Delivers requests that must not be lost: it keeps each in a store until a server has taken it, across the end of
/// the process, and sends them in order when their host is back.
///
///     let outbox = Outbox(agent: agent, store: SQLiteOutboxStore(path: path))
///     try await outbox.start()                    // goes on with what an earlier process left
///     try await outbox.add(SaveNote(text: "…").describe())
///
/// Requests to one origin go one after another in the order in which they were added, each with an `Idempotency-Key`
/// that stays the same: a server may see a request twice, when the answer was lost, and knows it by that. A request that
/// the server refuses for good, or too often, is set aside with its reason and blocks nobody. Headers that hold secrets
/// are not written to the store: let the agent's authenticators put credentials on at each attempt.
public final class Outbox: Sendable {
    private struct State {
        var queue = OutboxQueue()
        var isRunning = false
        /// What ``start()`` found in the store: an ``add(_:)`` on its way does not take it up again.
        var found: Set<UUID> = []
        var tasks: [UUID: Task<Void, Never>] = [:]
        var timer: (at: Duration, task: Task<Void, Never>)?
        var watch: Task<Void, Never>?
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Who carries the requests.
    public let agent: RequestAgent
    /// Where they are kept.
    public let store: any OutboxStore
    /// How it goes about them.
    public let policy: OutboxPolicy

    private let state = Mutex(State())

    /// Makes an outbox; nothing is read or sent before ``start()``.
    public init(agent: RequestAgent, store: any OutboxStore, policy: OutboxPolicy = OutboxPolicy())
    {
        self.agent = agent
        self.store = store
        self.policy = policy
    }

    deinit {
        let (tasks, watch) = state.withLock { state in
            (state.tasks.values + [state.timer?.task].compactMap(\.self), state.watch)
        }
        watch?.cancel()
        for task in tasks { task.cancel() }
    }

    /// All entries in order, those that were set aside included.
    public var entries: [OutboxEntry] { state.withLock { $0.queue.entries } }

    /// Reads what an earlier process left and begins to send; does nothing while it runs.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; then nothing runs.
    public func start() async throws(RequestError) {
        let left = try await store.entries()
        let isNew = state.withLock { state in
            guard !state.isRunning else { return false }
            state.isRunning = true
            state.queue.wake()
            let known = Set(state.queue.entries.map(\.id))
            for entry in left where !known.contains(entry.id) {
                state.queue.add(entry)
                state.found.insert(entry.id)
            }
            return true
        }
        guard isNew else { return }
        watchTheNetwork()
        pump()
    }

    /// Sends nothing more; what is under way is cancelled and stays in the store.
    public func stop() async {
        let tasks = state.withLock { state in
            state.isRunning = false
            state.watch?.cancel()
            state.timer?.task.cancel()
            (state.watch, state.timer) = (nil, nil)
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Keeps a request and sends it when its turn comes.
    ///
    /// Its body must be in memory, in files or of parts of these; it is kept with the request. The endpoint's hooks,
    /// validator and typed output are not: a status that ``RequestDescription/acceptableStatusCodes`` holds is a success.
    /// The configuration's URL filters and arguments are applied now, the rest of it at each attempt.
    ///
    /// - Returns: The entry's identity, once it is in the store.
    /// - Throws: What is wrong with the request, ``RequestError/Code/unsupported`` for one with a security policy of its
    ///   own, or ``RequestError/Code/storeFailed``; then it is not kept.
    @discardableResult
    public func add(_ description: RequestDescription) async throws(RequestError) -> UUID {
        let entry = try await store.append(
            try await OutboxBuilder(configuration: agent.configuration, transport: agent.transport)
                .entry(
                    for: description, at: agent.clock.now,
                    maximumBodyBytes: policy.maximumBodyBytes))
        state.withLock { state in
            if state.found.remove(entry.id) == nil { state.queue.add(entry) }
        }
        pump()
        return entry.id
    }

    /// Sends an entry again that was set aside, in its old place.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func retry(_ id: UUID) async throws(RequestError) {
        guard let entry = state.withLock({ $0.queue.retry(id) }) else { return }
        try await store.update(entry)
        pump()
    }

    /// Forgets an entry; one that is under way may still be delivered.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; then this outbox does not send it, but the store still has it.
    public func remove(_ id: UUID) async throws(RequestError) {
        state.withLock { $0.queue.remove(id) }
        // It may have been the last that somebody waits for.
        defer { pump() }
        try await store.remove(id)
    }

    /// Tries at once what waits for a host to come back.
    public func wake() {
        state.withLock { $0.queue.wake() }
        pump()
    }

    /// Waits until nothing is left to send, what was set aside excepted; for ever while it is stopped.
    public func untilDelivered() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.queue.waiting == 0, state.tasks.isEmpty { return true }
                state.idleWaiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Sends whatever may go by now, and sets the alarm for the rest.
    private func pump() {
        let clock = agent.clock
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            if state.isRunning {
                while let entry = state.queue.next(now: clock.uptime) {
                    state.tasks[entry.id] = Task { [weak self] in await self?.send(entry) }
                }
                setAlarm(&state)
            }
            guard state.queue.waiting == 0, state.tasks.isEmpty else { return [] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func setAlarm(_ state: inout State) {
        guard let at = state.queue.wakesAt else {
            state.timer?.task.cancel()
            state.timer = nil
            return
        }
        guard state.timer?.at != at else { return }
        state.timer?.task.cancel()
        let clock = agent.clock
        let task = Task { [weak self] in
            guard (try? await clock.sleep(for: at - clock.uptime)) != nil else { return }
            self?.state.withLock { state in
                if state.timer?.at == at { state.timer = nil }
            }
            self?.pump()
        }
        state.timer = (at, task)
    }

    private func send(_ entry: OutboxEntry) async {
        let failure: RequestError?
        do throws(RequestError) {
            _ = try await agent.start(entry.description).response()
            failure = nil
        } catch {
            failure = error
        }
        let verdict = OutboxVerdict.judge(
            failure, acceptable: entry.acceptableStatusCodes, now: agent.clock.now)
        let change = state.withLock { state in
            state.queue.ended(
                entry, verdict, reason: failure.map { "\($0.code): \($0.message)" }, policy: policy,
                now: agent.clock.uptime)
        }
        // A store that fails now costs at most a second delivery, which the server knows by its key.
        switch change {
        case .nothing: break
        case .remove: try? await store.remove(entry.id)
        case .update(let changed): try? await store.update(changed)
        }
        state.withLock { $0.tasks[entry.id] = nil }
        pump()
    }

    /// A network that comes back is an occasion to try.
    private func watchTheNetwork() {
        guard let reachability = agent.configuration.reachability else { return }
        let changes = reachability.changes()
        let task = Task { [weak self] in
            var wasConnected = true
            for await status in changes {
                let isConnected = status.isConnected != false
                if isConnected, !wasConnected { self?.wake() }
                wasConnected = isConnected
            }
        }
        state.withLock { $0.watch = task }
    }
}
