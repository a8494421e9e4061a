package import ErrandHTTP

/// The outcome of a credential refresh.
package enum RefreshOutcome: Sendable {
    case renewed
    /// There is nothing to refresh: the 401 is delivered.
    case nothing
    case failed(RequestError)
}

/// The refresh state of one authenticator scope, without locks or I/O.
///
/// Each refresh that ends or exceeds its limit starts a new round. A request remembers the round in
/// which it took its credentials; if it is refused with credentials of an earlier round, it uses the
/// outcome of the latest refresh instead of starting another.
package struct CredentialRefreshState: Sendable {
    /// The number of refreshes that have ended, and the number of the refresh in progress.
    package private(set) var round = 0
    /// `nil` if there was no refresh, or if the latest one exceeded its limit.
    private var last: RefreshOutcome?
    package private(set) var isRefreshing = false
    private var waiting: Set<Int> = []

    /// - Parameter round: The first number, above those of an earlier state of the scope.
    package init(round: Int = 0) { self.round = round }

    package var isBusy: Bool { isRefreshing || !waiting.isEmpty }

    /// The next step of a refused request.
    package enum Action: Sendable {
        /// Start the refresh with this number, then wait.
        case begin(refresh: Int)
        case wait
        case take(RefreshOutcome)
    }

    /// Decides the next step of a request that was refused with credentials of the given round.
    package mutating func refused(inRound refusedRound: Int, waiter: Int) -> Action {
        if refusedRound < round, let last { return .take(last) }
        waiting.insert(waiter)
        if isRefreshing { return .wait }
        isRefreshing = true
        return .begin(refresh: round)
    }

    /// Removes a cancelled waiter; the refresh continues.
    ///
    /// - Returns: Whether it was still waiting.
    package mutating func leave(_ waiter: Int) -> Bool { waiting.remove(waiter) != nil }

    /// Ends a refresh; has no effect on a refresh that has ended or exceeded its limit.
    ///
    /// - Returns: The waiters to resume.
    package mutating func end(_ refresh: Int, _ outcome: RefreshOutcome) -> Set<Int> {
        finish(refresh, outcome)
    }

    /// Gives up a refresh that exceeded its limit; its late result has no effect.
    ///
    /// Nothing is known about the credentials, so the next refused request starts a new refresh.
    ///
    /// - Returns: The waiters to resume with an error.
    package mutating func expire(_ refresh: Int) -> Set<Int> { finish(refresh, nil) }

    private mutating func finish(_ refresh: Int, _ outcome: RefreshOutcome?) -> Set<Int> {
        guard isRefreshing, refresh == round else { return [] }
        defer { waiting = [] }
        round += 1
        last = outcome
        isRefreshing = false
        return waiting
    }
}

/// The refreshes whose requests wait for other refreshes; pure.
///
/// Two refreshes that wait for each other would wait for ever.
package struct RefreshWaits<Refresh: Hashable & Sendable>: Sendable {
    private var targets: [Refresh: [Refresh]] = [:]

    package init() {}

    /// Records that a request of the given refreshes waits for another refresh.
    ///
    /// - Returns: False, and nothing is recorded, if that refresh waits for one of them.
    package mutating func add(_ waiting: [Refresh], for target: Refresh) -> Bool {
        var reached: Set<Refresh> = []
        var unvisited = [target]
        while let refresh = unvisited.popLast() {
            if waiting.contains(refresh) { return false }
            guard reached.insert(refresh).inserted else { continue }
            unvisited += targets[refresh] ?? []
        }
        for refresh in waiting { targets[refresh, default: []].append(target) }
        return true
    }

    /// Removes what ``add(_:for:)`` recorded.
    package mutating func remove(_ waiting: [Refresh], for target: Refresh) {
        for refresh in waiting {
            guard let index = targets[refresh]?.firstIndex(of: target) else { continue }
            targets[refresh]?.remove(at: index)
            if targets[refresh]?.isEmpty == true { targets[refresh] = nil }
        }
    }
}
