import ErrandSystem
import Synchronization

// Several outboxes over one store: an entry is sent by the outbox that holds its lease.
extension Outbox {
    /// Acquires the lease of an entry that is due; false if the entry must not be sent now.
    func acquireLease(of entry: OutboxEntry, in store: any SharedOutboxStore) async -> Bool {
        let obstacle: OutboxVerdict
        var stored: [OutboxEntry] = []
        do throws(RequestError) {
            switch try await store.claim(entry.id, lease: lease) {
            case .granted: return true
            case .gone: obstacle = .gone
            case .taken(let until):
                let rest = Duration.seconds(max(0, until.timeIntervalSince(agent.clock.now)))
                obstacle = .leasedElsewhere(after: min(rest, pauseBeforeNextClaim))
            case .outdated:
                // An entry whose removal failed earlier may block this one: remove it again.
                for id in state.withLock({ $0.dropped }) { try? await erase(id) }
                stored = try await store.outlines(after: .min)
                obstacle = .leasedElsewhere(after: pauseBeforeNextClaim)
            }
        } catch {
            // The claim failed, so another outbox may be sending the entry.
            obstacle = .stopped
        }
        skip(entry, obstacle, stored: stored)
        return false
    }

    /// Renews a lease while its entry is being sent; cancels the request if another outbox has the
    /// lease now.
    ///
    /// Another outbox can get the lease if this process was suspended, or if the clock was set.
    func renewLease(
        _ id: UUID, in store: any SharedOutboxStore, of task: RequestTask
    ) -> Task<Void, Never> {
        let pause = policy.leaseDuration / 3
        return Task { [self] in
            while (try? await agent.clock.sleep(for: pause)) != nil {
                // After an error of the store, try again next time.
                guard let claim = try? await store.claim(id, lease: lease) else { continue }
                switch claim {
                case .granted: continue
                case .gone: return
                case .taken, .outdated: return task.cancel()
                }
            }
        }
    }

    /// Releases a lease, also if the calling Swift task is cancelled.
    func release(_ id: UUID, in store: any SharedOutboxStore) async {
        let owner = owner
        await Task { try? await store.release(id, by: owner) }.value
    }

    /// Reads the entries that other outboxes have added, once per lease duration.
    ///
    /// This outbox sends them if the process of the other outbox has ended.
    func pollSharedStore(_ round: Int) {
        guard let store = store as? any SharedOutboxStore else { return }
        let (clock, pause) = (agent.clock, policy.leaseDuration)
        let task = Task { [weak self] in
            while (try? await clock.sleep(for: pause)) != nil {
                await self?.readNewEntries(from: store)
            }
        }
        if !state.withLock({ $0.keep(task, of: round) }) { task.cancel() }
    }

    private func readNewEntries(from store: any SharedOutboxStore) async {
        let last = state.withLock { $0.lastRead }
        guard let more = try? await store.outlines(after: last) else { return }
        state.withLock { $0.take(more) }
        sendDueEntries()
    }

    private var lease: OutboxLease {
        let now = agent.clock.now
        return OutboxLease(
            owner: owner, takenAt: now,
            expiresAt: now.addingTimeInterval(policy.leaseDuration / .seconds(1)))
    }

    /// The pause before the next claim while another outbox sends to the origin.
    private var pauseBeforeNextClaim: Duration {
        min(max(policy.baseDelay, .milliseconds(100)), policy.leaseDuration)
    }
}
