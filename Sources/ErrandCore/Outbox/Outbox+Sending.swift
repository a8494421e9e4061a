import Foundation
import Synchronization

// What may go, goes; what came of it is written down.
extension Outbox {
    /// Sends whatever may go by now, and sets the alarm for the rest.
    func pump() {
        let clock = agent.clock
        let waiters = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            if state.isRunning {
                while let entry = state.queue.next(now: clock.uptime) {
                    state.tasks[entry.id] = Task { [weak self] in await self?.send(entry) }
                }
                setAlarm(&state)
            }
            guard state.isIdle else { return [] }
            return Array(exchange(&state.idleWaiters, with: [:]).values)
        }
        for waiter in waiters { waiter.resume(returning: true) }
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
        let shared = store as? any SharedOutboxStore
        if let shared, await !takesLease(of: entry, in: shared) { return pump() }
        let loaded: OutboxEntry?
        do throws(RequestError) {
            loaded = try await store.entry(entry.id)
        } catch {
            // Who cannot ask the store does not know what to send.
            if let shared { await release(entry.id, in: shared) }
            passesOver(entry, .stopped)
            return pump()
        }
        guard let entry = loaded else {
            passesOver(entry, .gone)
            return pump()
        }
        let failure: RequestError?
        var renewal: Task<Void, Never>?
        do throws(RequestError) {
            let task = agent.start(entry.description)
            renewal = shared.map { renewing(entry.id, in: $0, of: task) }
            _ = try await task.response()
            failure = nil
        } catch {
            failure = error
        }
        // A renewal that is under way must not come behind the release.
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
        // A store that fails now costs a second delivery by a later process, which the server knows by its key.
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
        pump()
    }

    /// An entry is not sent now, and nothing about it is written.
    func passesOver(
        _ entry: OutboxEntry, _ obstacle: OutboxVerdict, stored: [OutboxEntry] = []
    ) {
        state.withLock { state in
            _ = state.queue.ended(
                entry, obstacle, reason: nil, policy: policy, now: agent.clock.uptime)
            // What stands in the way is in the store already.
            state.queue.written(entry)
            state.tasks[entry.id] = nil
            state.take(stored)
        }
    }

    /// Takes what is not to be sent out of the store; until that succeeds it is remembered.
    func erase(_ id: UUID) async throws(RequestError) {
        try await store.remove(id)
        state.withLock { _ = $0.dropped.remove(id) }
    }

    /// A network that comes back is an occasion to try.
    func watchTheNetwork(_ round: Int) {
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
        if !state.withLock({ $0.keeps(task, of: round) }) { task.cancel() }
    }
}
