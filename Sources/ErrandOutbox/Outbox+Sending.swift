import ErrandSystem
import Synchronization

// Sending entries and storing the results.
extension Outbox {
    /// Starts sending all entries that are due, and sets the timer for the next ones.
    func sendDueEntries() {
        let clock = agent.clock
        let waiters = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            if state.isRunning {
                while let entry = state.queue.next(now: clock.uptime) {
                    state.tasks[entry.id] = Task { [weak self] in await self?.send(entry) }
                }
                setTimer(&state)
            }
            guard state.isIdle else { return [] }
            return Array(exchange(&state.idleWaiters, with: [:]).values)
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    private func setTimer(_ state: inout State) {
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
            self?.sendDueEntries()
        }
        state.timer = (at, task)
    }

    private func send(_ entry: OutboxEntry) async {
        let shared = store as? any SharedOutboxStore
        if let shared, await !acquireLease(of: entry, in: shared) { return sendDueEntries() }
        let loaded: OutboxEntry?
        do throws(RequestError) {
            loaded = try await store.entry(entry.id)
        } catch {
            // The entry cannot be read, so it cannot be sent now.
            if let shared { await release(entry.id, in: shared) }
            skip(entry, .stopped)
            return sendDueEntries()
        }
        guard let entry = loaded else {
            skip(entry, .gone)
            return sendDueEntries()
        }
        let failure: RequestError?
        var renewal: Task<Void, Never>?
        do throws(RequestError) {
            let task = agent.start(entry.description)
            renewal = shared.map { renewLease(entry.id, in: $0, of: task) }
            _ = try await task.response()
            failure = nil
        } catch {
            failure = error
        }
        // A renewal in progress must not run after the release.
        renewal?.cancel()
        await renewal?.value
        let verdict = OutboxVerdict.judge(
            failure, acceptable: entry.acceptableStatusCodes, now: agent.clock.now)
        let change = state.withLock { state in
            let change = state.queue.ended(
                entry, verdict, reason: failure.map { "\($0.code): \($0.message)" }, policy: policy,
                now: agent.clock.uptime)
            if change == .remove { state.dropped.insert(entry.id) }
            return change
        }
        // If the store fails here, a later process sends the entry again; the server recognises it
        // by its `Idempotency-Key`.
        switch change {
        case .nothing: break
        case .remove: try? await erase(entry.id)
        case .update(var changed):
            changed.body = entry.body
            try? await store.update(changed)
        }
        if let shared, change != .remove { await release(entry.id, in: shared) }
        state.withLock { state in
            state.queue.written(entry)
            state.tasks[entry.id] = nil
        }
        sendDueEntries()
    }

    /// Ends an attempt that was not started; the entry does not change in the store.
    ///
    /// - Parameter stored: Entries read from the store because another entry goes first.
    func skip(
        _ entry: OutboxEntry, _ obstacle: OutboxVerdict, stored: [OutboxEntry] = []
    ) {
        state.withLock { state in
            _ = state.queue.ended(
                entry, obstacle, reason: nil, policy: policy, now: agent.clock.uptime)
            // There is no change that must be stored first.
            state.queue.written(entry)
            state.tasks[entry.id] = nil
            state.take(stored)
        }
    }

    /// Removes an entry from the store; until that succeeds, its id stays in `dropped`.
    func erase(_ id: UUID) async throws(RequestError) {
        try await store.remove(id)
        state.withLock { _ = $0.dropped.remove(id) }
    }

    /// Ends all pauses when the network becomes reachable again.
    func watchReachability(_ round: Int) {
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
        if !state.withLock({ $0.keep(task, of: round) }) { task.cancel() }
    }
}
