import Foundation
import Synchronization

/// The outcome of a credential refresh.
enum RefreshOutcome: Sendable {
    case renewed
    /// There is nothing to refresh: the 401 is delivered.
    case nothing
    case failed(RequestError)
}

/// The refresh state of one authenticator scope, without locks or I/O.
///
/// Each completed refresh, successful or not, starts a new round. A request remembers the round in
/// which it took its credentials; if it is refused with credentials of an earlier round, it uses
/// the outcome of the latest refresh instead of starting another.
struct CredentialRefreshState {
    private(set) var round = 0
    private(set) var last = RefreshOutcome.nothing
    private(set) var isRefreshing = false
    private var waiting: Set<Int> = []

    var isBusy: Bool { isRefreshing || !waiting.isEmpty }

    enum Action {
        /// Start a refresh, then wait.
        case begin
        case wait
        case take(RefreshOutcome)
    }

    /// Decides the next step of a request that was refused with credentials of the given round.
    mutating func refused(inRound refusedRound: Int, waiter: Int) -> Action {
        if refusedRound < round { return .take(last) }
        waiting.insert(waiter)
        if isRefreshing { return .wait }
        isRefreshing = true
        return .begin
    }

    /// Removes a cancelled waiter; the refresh continues.
    ///
    /// - Returns: Whether it was still waiting.
    mutating func leave(_ waiter: Int) -> Bool { waiting.remove(waiter) != nil }

    /// Ends the refresh.
    ///
    /// - Returns: The waiters to resume.
    mutating func end(_ outcome: RefreshOutcome) -> Set<Int> {
        defer { waiting = [] }
        round += 1
        last = outcome
        isRefreshing = false
        return waiting
    }
}

/// Refreshes credentials once for all requests that are refused at the same time.
final class CredentialRefresher: Sendable {
    private struct State {
        var scopes: [String: CredentialRefreshState] = [:]
        var nextWaiter = 0
        var continuations: [Int: CheckedContinuation<RefreshOutcome, Never>] = [:]
        /// Waiters whose continuation does not exist yet, and whether they were cancelled.
        var unregistered: [Int: Bool] = [:]
    }

    /// The refreshers whose refresh runs in the current task: its requests must not wait for them.
    @TaskLocal static var underRefresh: Set<ObjectIdentifier> = []

    /// Above this number of scopes, idle ones are removed.
    private static let maximumScopes = 1024

    private let state = Mutex(State())

    var isUnderRefresh: Bool { Self.underRefresh.contains(ObjectIdentifier(self)) }

    func round(of scope: String) -> Int { state.withLock { $0.scopes[scope]?.round ?? 0 } }

    /// Waits for the refresh that a refused request needs, and starts it if none is in progress.
    func outcome(
        scope: String, refusedInRound round: Int, cancelledWith cancellation: CancellationScope,
        refresh: @escaping @Sendable () async -> RefreshOutcome
    ) async -> RefreshOutcome {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            state.unregistered[state.nextWaiter] = false
            return state.nextWaiter
        }
        return await cancellation.wait {
            await withCheckedContinuation { continuation in
                register(continuation, as: waiter, scope: scope, round: round, refresh: refresh)
            }
        } onCancel: {
            self.leave(waiter, scope: scope)
        }
    }

    private func register(
        _ continuation: CheckedContinuation<RefreshOutcome, Never>, as waiter: Int, scope: String,
        round: Int, refresh: @escaping @Sendable () async -> RefreshOutcome
    ) {
        let action = state.withLock { state -> CredentialRefreshState.Action in
            if state.unregistered.removeValue(forKey: waiter) == true {
                return .take(.failed(.cancelled))
            }
            if state.scopes.count >= Self.maximumScopes, state.scopes[scope] == nil {
                // A removed scope starts again at round 0: at worst one extra refresh, never a lost
                // response.
                state.scopes = state.scopes.filter { $0.value.isBusy }
            }
            let action = state.scopes[scope, default: CredentialRefreshState()]
                .refused(inRound: round, waiter: waiter)
            if case .take = action { return action }
            state.continuations[waiter] = continuation
            return action
        }
        switch action {
        case .take(let outcome): continuation.resume(returning: outcome)
        case .wait: break
        case .begin:
            // An unstructured task: the refresh outlives the request that started it.
            Task { [self] in
                let marked = Self.underRefresh.union([ObjectIdentifier(self)])
                let outcome = await Self.$underRefresh.withValue(marked) { await refresh() }
                end(scope: scope, outcome)
            }
        }
    }

    private func end(scope: String, _ outcome: RefreshOutcome) {
        let continuations = state.withLock { state in
            let waiters = state.scopes[scope]?.end(outcome) ?? []
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
