/// Counts the ends of a batch's members, and says when its own end is certain (row BAT-2).
///
/// Pure: it knows neither requests nor tasks.
nonisolated struct BatchTally: Sendable {
    /// What is known of the batch's end.
    enum Verdict: Sendable, Hashable {
        case open, succeeded, failed
    }

    private let policy: BatchRequest.Policy
    private let count: Int
    private var successes = 0
    private var failures = 0
    private(set) var verdict: Verdict

    init(_ policy: BatchRequest.Policy, count: Int) {
        self.policy = policy
        self.count = count
        verdict = .open
        judge()
    }

    /// How many have to succeed; `nil` where each counts.
    static func needed(by policy: BatchRequest.Policy) -> Int? {
        switch policy {
        case .failFast, .collectAll: nil
        case .firstSuccess: 1
        case .quorum(let number): max(1, number)
        }
    }

    /// A member has ended; what ends once the verdict is known changes nothing.
    mutating func add(isSuccess: Bool) {
        guard verdict == .open else { return }
        if isSuccess { successes += 1 } else { failures += 1 }
        judge()
    }

    private mutating func judge() {
        switch (policy, Self.needed(by: policy)) {
        case (_, let needed?):
            if successes >= needed { verdict = .succeeded }
            if count - failures < needed { verdict = .failed }
        case (.failFast, nil) where failures > 0: verdict = .failed
        case (_, nil):
            if successes + failures == count { verdict = failures == 0 ? .succeeded : .failed }
        }
    }
}
