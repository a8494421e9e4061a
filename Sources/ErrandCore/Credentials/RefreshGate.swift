import Foundation
import Synchronization

/// What came of renewing credentials.
enum RefreshOutcome: Sendable {
    case renewed
    /// There is nothing to renew: the 401 is the answer.
    case nothing
    case failed(RequestError)
}

/// When credentials are renewed: a pure machine for one scope.
///
/// Each end of a renewal, good or bad, begins a new round. A request remembers the round in which it took its
/// credentials; refused in a later one, it takes over what has come of the renewal meanwhile.
struct RefreshRounds {
    private(set) var round = 0
    private(set) var last = RefreshOutcome.nothing
    private(set) var isRefreshing = false
    private var waiting: Set<Int> = []

    /// Whether somebody waits, or is about to.
    var isBusy: Bool { isRefreshing || !waiting.isEmpty }

    enum Action {
        /// Renew, then wait.
        case begin
        case wait
        case take(RefreshOutcome)
    }

    /// A request with credentials of a round was refused.
    mutating func refused(inRound its: Int, waiter: Int) -> Action {
        if its < round { return .take(last) }
        waiting.insert(waiter)
        if isRefreshing { return .wait }
        isRefreshing = true
        return .begin
    }

    /// A waiter was cancelled.
    ///
    /// Returns whether it was still waiting. The renewal goes on.
    mutating func leave(_ waiter: Int) -> Bool { waiting.remove(waiter) != nil }

    /// The renewal is over.
    ///
    /// Returns who waits for it.
    mutating func end(_ outcome: RefreshOutcome) -> Set<Int> {
        defer { waiting = [] }
        round += 1
        last = outcome
        isRefreshing = false
        return waiting
    }
}

/// Renews credentials once for everybody who is refused at the same time.
final class RefreshGate: Sendable {
    private struct State {
        var scopes: [String: RefreshRounds] = [:]
        var nextWaiter = 0
        var continuations: [Int: CheckedContinuation<RefreshOutcome, Never>] = [:]
        /// Those who do not stand in line yet, and whether they were cancelled on the way.
        var coming: [Int: Bool] = [:]
    }

    /// The gates whose renewal the present task is part of: its requests must not wait for it.
    @TaskLocal static var underRefresh: Set<ObjectIdentifier> = []

    /// More scopes than this are remembered only while somebody waits in them.
    private static let mostScopes = 1024

    private let state = Mutex(State())

    var isUnderRefresh: Bool { Self.underRefresh.contains(ObjectIdentifier(self)) }

    func round(of scope: String) -> Int { state.withLock { $0.scopes[scope]?.round ?? 0 } }

    /// Waits for the renewal that a refused request needs, begins it if nobody has.
    func outcome(
        scope: String, refusedInRound round: Int, cancelledWith cancellation: CancellationScope,
        refresh: @escaping @Sendable () async -> RefreshOutcome
    ) async -> RefreshOutcome {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            state.coming[state.nextWaiter] = false
            return state.nextWaiter
        }
        return await cancellation.wait {
            await withCheckedContinuation { continuation in
                stand(continuation, as: waiter, scope: scope, round: round, refresh: refresh)
            }
        } onCancel: {
            self.leave(waiter, scope: scope)
        }
    }

    private func stand(
        _ continuation: CheckedContinuation<RefreshOutcome, Never>, as waiter: Int, scope: String,
        round: Int, refresh: @escaping @Sendable () async -> RefreshOutcome
    ) {
        let action = state.withLock { state -> RefreshRounds.Action in
            if state.coming.removeValue(forKey: waiter) == true {
                return .take(.failed(.cancelled))
            }
            if state.scopes.count >= Self.mostScopes, state.scopes[scope] == nil {
                // A scope that is forgotten begins anew: that may cost a renewal, never an answer.
                state.scopes = state.scopes.filter { $0.value.isBusy }
            }
            let action = state.scopes[scope, default: RefreshRounds()]
                .refused(inRound: round, waiter: waiter)
            if case .take = action { return action }
            state.continuations[waiter] = continuation
            return action
        }
        switch action {
        case .take(let outcome): continuation.resume(returning: outcome)
        case .wait: break
        case .begin:
            // A task of its own: whoever began it may leave.
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
            if state.coming[waiter] != nil { state.coming[waiter] = true }
            guard state.scopes[scope]?.leave(waiter) == true else { return nil }
            return state.continuations.removeValue(forKey: waiter)
        }
        continuation?.resume(returning: .failed(.cancelled))
    }
}
