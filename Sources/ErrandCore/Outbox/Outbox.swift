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
    struct State {
        var queue = OutboxQueue()
        var isRunning = false
        /// Counts starts and stops: what was begun before the last of them is out of date.
        var round = 0
        /// How many calls of ``add(_:)`` are writing, and how much.
        var writers = 0
        var writtenBytes = 0
        /// What was found in the store meanwhile: those do not take it up again.
        var found: Set<UUID> = []
        /// What is being put back, which the store is told before anybody sends it.
        var retrying: Set<UUID> = []
        /// What is not to be sent any more, while the store may still have it.
        var dropped: Set<UUID> = []
        /// The last sequence that was read.
        var lastRead: Int64 = 0
        var tasks: [UUID: Task<Void, Never>] = [:]
        var timer: (at: Duration, task: Task<Void, Never>)?
        /// Watch the network, and what others do to the store.
        var watches: [Task<Void, Never>] = []
        var idleWaiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter = 0

        /// The entry as it will be when it is put back; `nil` for one that is not set aside, or is being put back.
        mutating func beginsRetry(of id: UUID) -> OutboxEntry? {
            guard let entry = queue.retried(id), retrying.insert(id).inserted else { return nil }
            return entry
        }

        /// Takes up what was read from the store.
        mutating func take(_ entries: [OutboxEntry]) {
            _ = queue.merge(entries, except: dropped.union(tasks.keys))
            if writers > 0 { found.formUnion(entries.map(\.id)) }
            lastRead = entries.reduce(lastRead) { max($0, $1.sequence) }
        }

        /// Makes room for one more; why there is none.
        mutating func beginsWriting(_ size: Int, _ policy: OutboxPolicy) -> RequestError? {
            let (count, bytes) = (queue.count + writers, queue.bytes + writtenBytes)
            if let refusal = policy.refusal(count: count + 1, bytes: bytes + size) {
                return refusal
            }
            writers += 1
            writtenBytes += size
            return nil
        }

        /// Takes what was written, if it was.
        mutating func endsWriting(_ size: Int, _ entry: OutboxEntry?) {
            if let entry, found.remove(entry.id) == nil { queue.add(entry) }
            writers -= 1
            writtenBytes -= size
            if writers == 0 { found = [] }
        }

        /// Whether nothing is left to send.
        var isIdle: Bool { queue.waiting == 0 && tasks.isEmpty }

        /// Keeps what watches the network or others, while the outbox runs as it did when that began.
        mutating func keeps(_ watch: Task<Void, Never>, of round: Int) -> Bool {
            guard isRunning, self.round == round else { return false }
            watches.append(watch)
            return true
        }
    }

    /// Who carries the requests.
    public let agent: RequestAgent
    /// Where they are kept.
    public let store: any OutboxStore
    /// How it goes about them.
    public let policy: OutboxPolicy

    let state = Mutex(State())
    /// Names this outbox to others that use the same store.
    let owner = UUID()

    /// Makes an outbox; nothing is read or sent before ``start()``.
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

    /// All entries in order, those that were set aside included, without bodies where the store has these elsewhere:
    /// ``OutboxStore/entry(_:)`` reads one with its body.
    ///
    /// What another outbox has delivered since stays in the list until its turn comes here.
    public var entries: [OutboxEntry] { state.withLock { $0.queue.entries } }

    /// Reads what an earlier process left and begins to send; does nothing while it runs.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; then nothing runs.
    public func start() async throws(RequestError) {
        let before = state.withLock { $0.round }
        let left = try await store.outlines(after: .min)
        let round = state.withLock { state -> Int? in
            // Whoever has stopped it meanwhile meant this start, too.
            guard !state.isRunning, state.round == before else { return nil }
            state.isRunning = true
            state.round += 1
            state.queue.wake()
            state.take(left.filter { !state.queue.contains($0.id) })
            return state.round
        }
        guard let round else { return }
        watchTheNetwork(round)
        watchOthers(round)
        pump()
    }

    /// Sends nothing more; what is under way is cancelled and stays in the store.
    ///
    /// Whoever waits in ``untilDelivered()`` waits no longer.
    public func stop() async {
        let tasks = state.withLock { state in
            state.isRunning = false
            state.round += 1
            for watch in state.watches { watch.cancel() }
            state.timer?.task.cancel()
            (state.watches, state.timer) = ([], nil)
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        let (waiters, isIdle) = state.withLock {
            state -> ([CheckedContinuation<Bool, Never>], Bool) in
            // Somebody may have started it again.
            guard !state.isRunning else { return ([], false) }
            return (Array(exchange(&state.idleWaiters, with: [:]).values), state.isIdle)
        }
        for waiter in waiters { waiter.resume(returning: isIdle) }
    }

    /// Keeps a request and sends it when its turn comes.
    ///
    /// Its body must be in memory, in files or of parts of these; it is kept with the request. The endpoint's hooks,
    /// validator and typed output are not: a status that ``RequestDescription/acceptableStatusCodes`` holds is a success.
    /// The configuration's URL filters and arguments are applied now, the rest of it at each attempt.
    ///
    /// - Returns: The entry's identity, once it is in the store.
    /// - Throws: What is wrong with the request, ``RequestError/Code/unsupported`` for one with a security policy of its
    ///   own, ``RequestError/Code/queueFull`` where the limits of ``OutboxPolicy`` are reached by what this outbox knows of,
    ///   or ``RequestError/Code/storeFailed``; then it is not kept.
    @discardableResult
    public func add(_ description: RequestDescription) async throws(RequestError) -> UUID {
        let new = try await OutboxBuilder(
            configuration: agent.configuration, transport: agent.transport
        ).entry(for: description, at: agent.clock.now, maximumBodyBytes: policy.maximumBodyBytes)
        let size = new.size
        if let refusal = state.withLock({ $0.beginsWriting(size, policy) }) { throw refusal }
        let stored: OutboxEntry
        do {
            stored = try await store.append(new)
        } catch {
            state.withLock { $0.endsWriting(size, nil) }
            throw error
        }
        // A store in memory has the body there already.
        let entry = store is MemoryOutboxStore ? stored : stored.withoutBody
        state.withLock { $0.endsWriting(size, entry) }
        pump()
        return entry.id
    }

    /// Sends an entry again that was set aside, in its old place.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; then it stays set aside.
    public func retry(_ id: UUID) async throws(RequestError) {
        guard state.withLock({ $0.queue.retried(id) }) != nil else { return }
        // That it is set aside may be on its way into the store, and must not come behind.
        await state.withLock { $0.tasks[id] }?.value
        // One at a time: the store must not hear of the second behind what came of the first.
        guard var entry = state.withLock({ $0.beginsRetry(of: id) }) else { return }
        defer { state.withLock { _ = $0.retrying.remove(id) } }
        if entry.bodyBytes > 0, entry.body == nil { entry.body = try await store.entry(id)?.body }
        // First the store: another outbox, and a claim, believe what is there.
        try await store.update(entry)
        _ = state.withLock { $0.queue.retry(id) }
        pump()
    }

    /// Forgets an entry; one that is under way may still be delivered.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; then this outbox does not send it, but the store still has it.
    public func remove(_ id: UUID) async throws(RequestError) {
        state.withLock { state in
            state.dropped.insert(id)
            state.queue.remove(id)
        }
        // It may have been the last that somebody waits for.
        defer { pump() }
        try await erase(id)
    }

    /// Tries at once what waits for a host to come back.
    public func wake() {
        state.withLock { $0.queue.wake() }
        pump()
    }

    /// Waits until nothing is left to send, what was set aside excepted.
    ///
    /// - Returns: Whether that came about: false, at once, while the outbox is stopped with something left, and when it is
    ///   stopped, or the calling Swift task is cancelled, before.
    @discardableResult
    public func untilDelivered() async -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.isIdle { return true }
                    guard state.isRunning, !Task.isCancelled else { return false }
                    state.idleWaiters[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.idleWaiters.removeValue(forKey: id) }
            waiter?.resume(returning: false)
        }
    }
}
