/// The state of a batch: which member starts next, and whether the batch has succeeded or failed.
///
/// A pure value without requests and tasks. Members start in order.
nonisolated package struct BatchState: Sendable {
    /// The state of the batch: undecided, succeeded or failed.
    enum Verdict: Sendable, Hashable {
        case open, succeeded, failed
    }

    private let policy: BatchRequest.Policy
    /// The number of members of this run.
    private let count: Int
    /// The number of members that succeeded in an earlier run and are not repeated.
    private let earlier: Int
    private let maxConcurrent: Int
    private var next = 0
    private var inProgress = 0
    private var successes = 0
    private var failures = 0
    private(set) var verdict: Verdict

    init(
        _ policy: BatchRequest.Policy, count: Int, successes: Int = 0, maxConcurrent: Int? = nil
    ) {
        self.policy = policy
        self.count = count
        earlier = successes
        self.maxConcurrent = maxConcurrent ?? .max
        verdict = .open
        judge()
    }

    /// The number of required successes; `nil` for policies without such a number.
    package static func needed(by policy: BatchRequest.Policy) -> Int? {
        switch policy {
        case .failFast, .collectAll, .requireAll: nil
        case .firstSuccess: 1
        case .quorum(let number): number
        }
    }

    /// The error of a policy and a limit with which no run is possible; `nil` if they are valid.
    package static func fault(
        _ policy: BatchRequest.Policy, maxConcurrent: Int?, in kind: String
    ) -> RequestError? {
        var problem: String?
        if let maxConcurrent, maxConcurrent < 1 {
            problem = "maxConcurrent is \(maxConcurrent). Set at least 1, or nil for no limit."
        } else if case .quorum(let number) = policy, number < 1 {
            problem =
                "its policy requires \(number) successes. Require at least 1, or use collectAll."
        }
        return problem.map {
            RequestError(
                .invalidConfiguration, stage: .build, "The \(kind) cannot run: \($0)")
        }
    }

    var hasMembersInProgress: Bool { inProgress > 0 }

    /// The members that were not started.
    var notStarted: Range<Int> { next..<count }

    /// Takes the next member to start; `nil` if none may start now.
    mutating func start() -> Int? {
        guard verdict == .open, next < count, inProgress < maxConcurrent else { return nil }
        defer {
            next += 1
            inProgress += 1
        }
        return next
    }

    /// Counts the end of a started member; ends after the verdict do not change it.
    ///
    /// - Returns: Whether this end decides the batch, so that the members in progress are cancelled.
    mutating func end(isSuccess: Bool) -> Bool {
        inProgress -= 1
        guard verdict == .open else { return false }
        if isSuccess { successes += 1 } else { failures += 1 }
        judge()
        return verdict != .open
    }

    private mutating func judge() {
        switch (policy, Self.needed(by: policy)) {
        case (_, let needed?):
            if earlier + successes >= needed { verdict = .succeeded }
            if earlier + count - failures < needed { verdict = .failed }
        case (.failFast, nil) where failures > 0: verdict = .failed
        case (.requireAll, nil) where failures > 0:
            if successes + failures == count { verdict = .failed }
        case (_, nil):
            if successes + failures == count { verdict = .succeeded }
        }
    }
}
