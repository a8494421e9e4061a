import Foundation
import Synchronization

// Several outboxes over one store: each entry is sent by the one that has its lease.
extension Outbox {
    /// Takes the lease of an entry that is about to be sent; false when it is not to be sent now.
    func takesLease(of entry: OutboxEntry, in store: any SharedOutboxStore) async -> Bool {
        let obstacle: OutboxVerdict
        var stored: [OutboxEntry] = []
        do throws(RequestError) {
            switch try await store.claim(entry.id, lease: lease) {
            case .granted: return true
            case .gone: obstacle = .gone
            case .taken(let until):
                let rest = Duration.seconds(max(0, until.timeIntervalSince(agent.clock.now)))
                obstacle = .elsewhere(after: min(rest, pauseForOthers))
            case .outdated:
                // What could not be removed then is in the way now.
                for id in state.withLock({ $0.dropped }) { try? await erase(id) }
                stored = try await store.outlines(after: .min)
                obstacle = .elsewhere(after: pauseForOthers)
            }
        } catch {
            // Who cannot ask the store does not know whether somebody else is at it.
            obstacle = .stopped
        }
        passesOver(entry, obstacle, stored: stored)
        return false
    }

    /// Renews a lease while its entry is under way; gives the request up when another outbox has taken it over.
    ///
    /// That happens to a process that was suspended, or whose clock was set.
    func renewing(
        _ id: UUID, in store: any SharedOutboxStore, of task: RequestTask
    ) -> Task<Void, Never> {
        let pause = policy.usedLease / 3
        return Task { [self] in
            while (try? await agent.clock.sleep(for: pause)) != nil {
                // A store that does not answer now may do so the next time.
                guard let claim = try? await store.claim(id, lease: lease) else { continue }
                switch claim {
                case .granted: continue
                case .gone: return
                case .taken, .outdated: return task.cancel()
                }
            }
        }
    }

    /// Gives a lease back, also when the sending was stopped.
    func release(_ id: UUID, in store: any SharedOutboxStore) async {
        let owner = owner
        await Task { try? await store.release(id, by: owner) }.value
    }

    /// Looks from time to time for what others have added: they may have died since.
    func watchOthers(_ round: Int) {
        guard let store = store as? any SharedOutboxStore else { return }
        let (clock, pause) = (agent.clock, policy.usedLease)
        let task = Task { [weak self] in
            while (try? await clock.sleep(for: pause)) != nil {
                await self?.look(into: store)
            }
        }
        if !state.withLock({ $0.keeps(task, of: round) }) { task.cancel() }
    }

    private func look(into store: any SharedOutboxStore) async {
        let last = state.withLock { $0.lastRead }
        guard let more = try? await store.outlines(after: last) else { return }
        state.withLock { $0.take(more) }
        pump()
    }

    private var lease: OutboxLease {
        let now = agent.clock.now
        return OutboxLease(
            owner: owner, takenAt: now,
            expiresAt: now.addingTimeInterval(policy.usedLease / .seconds(1)))
    }

    /// How long to leave an origin to the outbox that sends to it before asking again.
    private var pauseForOthers: Duration {
        min(max(policy.baseDelay, .milliseconds(100)), policy.usedLease)
    }
}
