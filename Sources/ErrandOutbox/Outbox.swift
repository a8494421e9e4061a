public import ErrandSystem
import HTTPTypes
import Synchronization

/// Stores requests and sends each one until a server has accepted it, also after a restart of the
/// process.
///
///     let outbox = Outbox(agent: agent, store: SQLiteOutboxStore(path: path))
///     try await outbox.start()                    // continues with entries of earlier processes
///     try await outbox.add(SaveNote(text: "…").makeDescription())
///
/// Requests to one origin are sent one after another, in the order in which they were added. Each
/// carries an `Idempotency-Key` that stays the same: if a response is lost, the server receives the
/// request twice and recognises it by the key. An entry that the server refuses permanently, or too
/// often, is parked with its reason and does not block other entries. Headers with secrets are not
/// stored: use the agent's authenticators to add credentials at each attempt.
public final class Outbox: Sendable {
    struct State {
        var queue = OutboxQueue()
        var isRunning = false
        /// Counts starts and stops; work of an earlier round is out of date.
        var round = 0
        /// The number of calls of ``add(_:)`` that are writing, and the size of their entries.
        var writers = 0
        var writtenBytes = 0
        /// Entries read from the store while ``add(_:)`` writes; it must not add them again.
        var found: Set<UUID> = []
        /// Entries that ``retry(_:)`` is writing to the store; they are not sent before that.
        var retrying: Set<UUID> = []
        /// Entries that must not be sent any more, but may still be in the store.
        var dropped: Set<UUID> = []
        /// The greatest sequence that was read.
        var lastRead: Int64 = 0
        var tasks: [UUID: Task<Void, Never>] = [:]
        var timer: (at: Duration, task: Task<Void, Never>)?
        /// The tasks that watch the network and poll the shared store.
        var watches: [Task<Void, Never>] = []
        var idleWaiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter = 0

        /// The entry as it is after a retry; `nil` if it is not parked, or a retry is in progress.
        mutating func beginRetry(of id: UUID) -> OutboxEntry? {
            guard let entry = queue.retried(id), retrying.insert(id).inserted else { return nil }
            return entry
        }

        /// Merges entries that were read from the store.
        mutating func take(_ entries: [OutboxEntry]) {
            _ = queue.merge(entries, except: dropped.union(tasks.keys))
            if writers > 0 { found.formUnion(entries.map(\.id)) }
            lastRead = entries.reduce(lastRead) { max($0, $1.sequence) }
        }

        /// Reserves room for one entry; returns the error if a limit is reached.
        mutating func beginWriting(_ size: Int, _ policy: OutboxPolicy) -> RequestError? {
            let (count, bytes) = (queue.count + writers, queue.bytes + writtenBytes)
            if let refusal = policy.refusal(count: count + 1, bytes: bytes + size) {
                return refusal
            }
            writers += 1
            writtenBytes += size
            return nil
        }

        /// Releases the reservation and adds the entry; `nil` if writing it failed.
        mutating func endWriting(_ size: Int, _ entry: OutboxEntry?) {
            if let entry, found.remove(entry.id) == nil { queue.add(entry) }
            writers -= 1
            writtenBytes -= size
            if writers == 0 { found = [] }
        }

        /// Whether no entry is left to send.
        var isIdle: Bool { queue.waiting == 0 && tasks.isEmpty }

        /// Keeps a watching task; false if the outbox was stopped or restarted since `round`.
        mutating func keep(_ watch: Task<Void, Never>, of round: Int) -> Bool {
            guard isRunning, self.round == round else { return false }
            watches.append(watch)
            return true
        }
    }

    /// The agent that performs the requests.
    public let agent: RequestAgent
    /// The store of the entries.
    public let store: any OutboxStore
    /// The pauses and limits.
    public let policy: OutboxPolicy

    let state = Mutex(State())
    /// Identifies this outbox among those that use the same store.
    let owner = UUID()

    /// Creates an outbox; nothing is read or sent before ``start()``.
    public init(agent: RequestAgent, store: any OutboxStore, policy: OutboxPolicy = OutboxPolicy())
    {
        self.agent = agent
        self.store = store
        self.policy = policy
    }

    deinit {
        let tasks = state.withLock { state in
            state.tasks.values + state.watches + [state.timer?.task].compactMap(\.self)
        }
        for task in tasks { task.cancel() }
    }

    /// All entries in order, including parked ones.
    ///
    /// Entries of a store on disk have no bodies here; ``OutboxStore/entry(_:)`` reads one with its
    /// body. An entry that another outbox has delivered stays in the list until it is due here.
    public var entries: [OutboxEntry] { state.withLock { $0.queue.entries } }

    /// Reads the entries of the store and starts to send them; does nothing if it runs already.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; the outbox is not started then.
    public func start() async throws(RequestError) {
        let before = state.withLock { $0.round }
        let left = try await store.outlines(after: .min)
        let round = state.withLock { state -> Int? in
            // A `stop` during the read applies to this start, too.
            guard !state.isRunning, state.round == before else { return nil }
            state.isRunning = true
            state.round += 1
            state.queue.wake()
            state.take(left.filter { !state.queue.contains($0.id) })
            return state.round
        }
        guard let round else { return }
        watchReachability(round)
        pollSharedStore(round)
        sendDueEntries()
    }

    /// Stops sending; requests in progress are cancelled, and their entries stay in the store.
    ///
    /// Calls of ``untilDelivered()`` return.
    public func stop() async { await stop(within: .zero) }

    /// Stops sending; requests in progress may end within a time, and are cancelled after it.
    ///
    /// Entries that are not delivered stay in the store. Calls of ``untilDelivered()`` return. Cancelling the calling
    /// Swift task cancels the requests in progress.
    ///
    /// - Parameter limit: The time, on the agent's clock. Zero or less cancels at once.
    public func stop(within limit: Duration) async {
        let tasks = state.withLock { state in
            state.isRunning = false
            state.round += 1
            for watch in state.watches { watch.cancel() }
            state.timer?.task.cancel()
            (state.watches, state.timer) = ([], nil)
            return Array(state.tasks.values)
        }
        if limit <= .zero { for task in tasks { task.cancel() } }
        let timer = Task { [clock = agent.clock] in
            // A cancelled sleep: all requests have ended before the limit.
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            for task in tasks { task.cancel() }
        }
        await withTaskCancellationHandler {
            for task in tasks { await task.value }
        } onCancel: {
            for task in tasks { task.cancel() }
        }
        timer.cancel()
        let (waiters, isIdle) = state.withLock {
            state -> ([CheckedContinuation<Bool, Never>], Bool) in
            // The outbox may have been started again meanwhile.
            guard !state.isRunning else { return ([], false) }
            return (Array(exchange(&state.idleWaiters, with: [:]).values), state.isIdle)
        }
        for waiter in waiters { waiter.resume(returning: isIdle) }
    }

    /// Stores a request and sends it when it is due.
    ///
    /// The body must consist of bytes in memory or files; it is stored with the request. The
    /// endpoint's hooks, validator and typed output are not stored: a status in
    /// `acceptance.statuses` is a success. ``Configuration/prepare`` and the
    /// configuration's arguments are applied now, its other settings at each attempt.
    ///
    /// - Returns: The entry's id, once the entry is in the store.
    /// - Throws: The error of an invalid request; ``RequestError/Code/unsupported`` for a request
    ///   with its own security policy or transport overrides; ``RequestError/Code/queueFull`` if
    ///   the entries known to this outbox reach a limit of ``OutboxPolicy``; or
    ///   ``RequestError/Code/storeFailed``. The request is not stored then.
    @discardableResult
    public func add(_ description: RequestDescription) async throws(RequestError) -> UUID {
        let new = try await OutboxBuilder(
            configuration: agent.configuration, transport: agent.transport
        ).entry(for: description, at: agent.clock.now, maximumBodyBytes: policy.maximumBodyBytes)
        let size = new.size
        if let refusal = state.withLock({ $0.beginWriting(size, policy) }) { throw refusal }
        let stored: OutboxEntry
        do {
            stored = try await store.append(new)
        } catch {
            state.withLock { $0.endWriting(size, nil) }
            throw error
        }
        // The memory store shares the body's bytes, so keeping it costs nothing.
        let entry = store is MemoryOutboxStore ? stored : stored.withoutBody
        state.withLock { $0.endWriting(size, entry) }
        sendDueEntries()
        return entry.id
    }

    /// Returns a parked entry to its position in the order; does nothing for other entries.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; the entry stays parked then.
    public func retry(_ id: UUID) async throws(RequestError) {
        guard state.withLock({ $0.queue.retried(id) }) != nil else { return }
        // The task that parked the entry may still be writing that to the store: wait for it.
        await state.withLock { $0.tasks[id] }?.value
        // One retry at a time: a second one must not overwrite the result of the first.
        guard var entry = state.withLock({ $0.beginRetry(of: id) }) else { return }
        defer { state.withLock { _ = $0.retrying.remove(id) } }
        if entry.bodyBytes > 0, entry.body == nil { entry.body = try await store.entry(id)?.body }
        // Update the store first: other outboxes and claims read it.
        try await store.update(entry)
        _ = state.withLock { $0.queue.retry(id) }
        sendDueEntries()
    }

    /// Removes an entry; if it is being sent, it may still be delivered.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; this outbox does not send the entry then, but
    ///   it is still in the store.
    public func remove(_ id: UUID) async throws(RequestError) {
        state.withLock { state in
            state.dropped.insert(id)
            state.queue.remove(id)
        }
        // It may have been the last entry that `untilDelivered` waits for.
        defer { sendDueEntries() }
        try await erase(id)
    }

    /// Ends all pauses after failures: due entries are sent at once.
    public func wake() {
        state.withLock { $0.queue.wake() }
        sendDueEntries()
    }

    /// Waits until no entry is left to send, except parked ones.
    ///
    /// - Returns: True if no entry is left. False at once if the outbox is stopped with entries
    ///   left; false if it is stopped, or the calling Swift task is cancelled, while waiting.
    @discardableResult
    public func untilDelivered() async -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> Bool? in
                    if state.isIdle { return true }
                    guard state.isRunning, !Task.isCancelled else { return false }
                    state.idleWaiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.idleWaiters.removeValue(forKey: id) }
            waiter?.resume(returning: false)
        }
    }
}
