/// Counts the ends of a batch's members and decides when the batch has succeeded or failed.
///
/// A pure value without requests and tasks.
nonisolated struct BatchTally: Sendable {
    /// The state of the batch: undecided, succeeded or failed.
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

    /// The number of required successes; `nil` for policies without such a number.
    static func needed(by policy: BatchRequest.Policy) -> Int? {
        switch policy {
        case .failFast, .collectAll: nil
        case .firstSuccess: 1
        case .quorum(let number): max(1, number)
        }
    }

    /// Counts the end of a member; has no effect after the verdict is known.
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
            if successes + failures == count { verdict = .succeeded }
        }
    }
}
