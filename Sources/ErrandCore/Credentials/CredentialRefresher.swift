package import ErrandHTTP
import Synchronization

/// Refreshes the credentials of an authenticator once for all requests that are refused at the same time.
package final class CredentialRefresher: Sendable {
    private struct State {
        var scopes: [String: CredentialRefreshState] = [:]
        /// The first round of new scopes: a refresh of a removed scope must not end a later one.
        var firstRound = 0
        var nextWaiter = 0
        var continuations: [Int: CheckedContinuation<RefreshOutcome, Never>] = [:]
        /// Waiters whose continuation does not exist yet, and whether they were cancelled.
        var unregistered: [Int: Bool] = [:]
    }

    /// A refused request, and the refresh that it needs.
    package struct Refusal: Sendable {
        let scope: String
        let round: Int
        let clock: any RequestClock
        let refresh: @Sendable () async -> RefreshOutcome

        package init(
            scope: String, round: Int, clock: any RequestClock,
            refresh: @escaping @Sendable () async -> RefreshOutcome
        ) {
            self.scope = scope
            self.round = round
            self.clock = clock
            self.refresh = refresh
        }
    }

    /// Above this number of scopes, idle ones are removed.
    private static let maximumScopes = 1024
    private static let waits = Mutex(RefreshWaits<CredentialOperation.Refresh>())

    /// The refreshers in use, by authenticator.
    ///
    /// A refresher retains its authenticator, so the object identifier is unique as long as the refresher exists.
    private static let refreshers = Mutex<[ObjectIdentifier: Reference]>([:])

    private struct Reference: Sendable { weak var refresher: CredentialRefresher? }

    let authenticator: any Authenticator
    private let state = Mutex(State())

    private init(_ authenticator: any Authenticator) { self.authenticator = authenticator }

    deinit {
        let id = ObjectIdentifier(authenticator)
        let successor = Self.refreshers.withLock { refreshers -> CredentialRefresher? in
            let successor = refreshers[id]?.refresher
            if successor == nil { refreshers[id] = nil }
            return successor
        }
        // Released outside the lock, which its deinitializer takes as well.
        _ = consume successor
    }

    /// The refresher of an authenticator: the same for all configurations that contain the object.
    package static func refresher(of authenticator: any Authenticator) -> CredentialRefresher {
        let id = ObjectIdentifier(authenticator)
        return refreshers.withLock { refreshers in
            if let refresher = refreshers[id]?.refresher { return refresher }
            let refresher = CredentialRefresher(authenticator)
            refreshers[id] = Reference(refresher: refresher)
            return refresher
        }
    }

    /// The number of requests that wait for a refresh.
    package var waitingCount: Int { state.withLock { $0.continuations.count } }

    package func round(of scope: String) -> Int { state.withLock { $0.scopes[scope]?.round ?? 0 } }

    /// Waits for the refresh that a refused request needs, and starts it if none is in progress.
    package func outcome(
        of refusal: Refusal, cancelledWith cancellation: CancellationScope
    ) async -> RefreshOutcome {
        let waiting = CredentialOperation.refreshes
        let target = CredentialOperation.Refresh(of: self, scope: refusal.scope)
        guard waiting.isEmpty || Self.waits.withLock({ $0.add(waiting, for: target) }) else {
            return .failed(CredentialOperation.cycle)
        }
        defer {
            if !waiting.isEmpty { Self.waits.withLock { $0.remove(waiting, for: target) } }
        }
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            state.unregistered[state.nextWaiter] = false
            return state.nextWaiter
        }
        return await cancellation.wait {
            await withCheckedContinuation { continuation in
                register(continuation, as: waiter, refusal)
            }
        } onCancel: {
            self.leave(waiter, scope: refusal.scope)
        }
    }

    private func register(
        _ continuation: CheckedContinuation<RefreshOutcome, Never>, as waiter: Int,
        _ refusal: Refusal
    ) {
        let action = state.withLock { state -> CredentialRefreshState.Action in
            if state.unregistered.removeValue(forKey: waiter) == true {
                return .take(.failed(.cancelled))
            }
            if state.scopes.count >= Self.maximumScopes, state.scopes[refusal.scope] == nil {
                // A removed scope forgets its refreshes: at worst one extra refresh, never a lost
                // response.
                state.firstRound = state.scopes.reduce(state.firstRound) { max($0, $1.value.round) }
                state.scopes = state.scopes.filter { $0.value.isBusy }
            }
            let action = state.scopes[
                refusal.scope, default: CredentialRefreshState(round: state.firstRound)
            ]
            .refused(inRound: refusal.round, waiter: waiter)
            if case .take = action { return action }
            state.continuations[waiter] = continuation
            return action
        }
        switch action {
        case .take(let outcome): continuation.resume(returning: outcome)
        case .wait: break
        case .begin(let number): begin(number, refusal)
        }
    }

    private func begin(_ number: Int, _ refusal: Refusal) {
        let operation = CredentialOperation(self, refreshing: refusal.scope)
        // An unstructured task: the refresh outlives the request that started it.
        let work = Task { [self] in
            let outcome = await CredentialOperation.$current.withValue(operation) {
                await refusal.refresh()
            }
            operation.end()
            end(refusal.scope, outcome) { $0.end(number, outcome) }
        }
        guard let limit = authenticator.refreshTimeout else { return }
        let deadline = ScheduledCall(after: limit, refusal.clock) { [self] in
            work.cancel()
            end(refusal.scope, .failed(CredentialOperation.timedOut(limit))) { $0.expire(number) }
        }
        Task {
            await work.value
            deadline.cancel()
        }
    }

    private func end(
        _ scope: String, _ outcome: RefreshOutcome,
        _ change: (inout CredentialRefreshState) -> Set<Int>
    ) {
        let continuations = state.withLock { state in
            var waiters: Set<Int> = []
            if var refreshState = state.scopes[scope] {
                waiters = change(&refreshState)
                state.scopes[scope] = refreshState
            }
            return waiters.compactMap { state.continuations.removeValue(forKey: $0) }
        }
        for continuation in continuations { continuation.resume(returning: outcome) }
    }

    private func leave(_ waiter: Int, scope: String) {
        let continuation = state.withLock {
            state -> CheckedContinuation<RefreshOutcome, Never>? in
            if state.unregistered[waiter] != nil { state.unregistered[waiter] = true }
            guard state.scopes[scope]?.leave(waiter) == true else { return nil }
            return state.continuations.removeValue(forKey: waiter)
        }
        continuation?.resume(returning: .failed(.cancelled))
    }
}
