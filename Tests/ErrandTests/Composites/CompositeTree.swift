import Errand
import TestSupport

/// A tree of batches and chains whose requests have known outcomes, and the outcome that it must have.
///
/// It is independent of the code under test and of the order in which the members of a batch end.
indirect enum CompositeTree: Sendable, CustomStringConvertible {
    /// How a request or composite ends; `none` is a request without a response, or a composite that waits for one.
    enum Outcome: String, Sendable { case success, failure, none }

    /// What must happen to a request.
    enum Expectation: Sendable, Equatable {
        /// It is sent and has its own outcome.
        case own
        /// It is never sent.
        case notSent
        /// It depends on the order of ends.
        case any
    }

    case request(Int, Outcome)
    case batch(Int, BatchRequest.Policy, isSerial: Bool, [CompositeTree])
    case chain(Int, proceeds: Bool, [CompositeTree])

    /// The path of a request, which states its outcome.
    static func path(_ number: Int, _ outcome: Outcome) -> String { "\(outcome.rawValue)\(number)" }

    var description: String {
        switch self {
        case .request(let number, let outcome): return Self.path(number, outcome)
        case .batch(let number, let policy, let isSerial, let members):
            return "batch\(number)(\(policy)\(isSerial ? ", serial" : ""), \(members))"
        case .chain(let number, let proceeds, let members):
            return "chain\(number)(\(proceeds ? "proceeds, " : "")\(members))"
        }
    }

    var members: [CompositeTree] {
        switch self {
        case .request: []
        case .batch(_, _, _, let members), .chain(_, _, let members): members
        }
    }

    /// The requests of the tree.
    var requests: [(number: Int, outcome: Outcome)] {
        if case .request(let number, let outcome) = self { return [(number, outcome)] }
        return members.flatMap(\.requests)
    }

    /// The number of members that run, if they run in order; the last one decides, or has no outcome.
    private var running: Int {
        switch self {
        case .request: return 0
        case .batch(_, _, isSerial: false, let members): return members.count
        case .batch(_, let policy, isSerial: true, let members):
            for count in 0..<members.count {
                let outcomes = members.prefix(count).map(\.outcome)
                if outcomes.last == Outcome.none { return count }
                if Self.verdict(policy, outcomes, of: members.count) != .none { return count }
            }
            return members.count
        case .chain(_, let proceeds, let members):
            let last = members.firstIndex {
                $0.outcome == .none || $0.outcome == .failure && !proceeds
            }
            return last.map { $0 + 1 } ?? members.count
        }
    }

    /// The outcome of the whole, if it is neither cancelled nor has a deadline.
    var outcome: Outcome {
        switch self {
        case .request(_, let outcome): return outcome
        case .batch(_, let policy, _, let members):
            return Self.verdict(
                policy, members.prefix(running).map(\.outcome), of: members.count)
        case .chain(_, let proceeds, let members):
            let outcomes = members.prefix(running).map(\.outcome)
            if outcomes.last == Outcome.none { return .none }
            return proceeds || !outcomes.contains(.failure) ? .success : .failure
        }
    }

    /// The definition of the policies.
    private static func verdict(
        _ policy: BatchRequest.Policy, _ outcomes: [Outcome], of count: Int
    ) -> Outcome {
        let (good, bad) = (outcomes.count { $0 == .success }, outcomes.count { $0 == .failure })
        switch policy {
        case .failFast: return bad > 0 ? .failure : good == count ? .success : .none
        case .collectAll: return good + bad == count ? .success : .none
        case .requireAll:
            return good + bad < count ? .none : bad == 0 ? .success : .failure
        case .firstSuccess: return good > 0 ? .success : bad == count ? .failure : .none
        case .quorum(let number):
            return good >= number ? .success : count - bad < number ? .failure : .none
        }
    }

    /// What must happen to each request if the tree is neither cancelled nor has a deadline, or, if its outcome is
    /// `none`, until it is cancelled.
    func expectations(isCertain: Bool = true) -> [Int: Expectation] {
        if case .request(let number, _) = self { return [number: isCertain ? .own : .any] }
        var needsAll = true
        if case .batch(_, let policy, isSerial: false, _) = self {
            needsAll = policy == .collectAll || policy == .failFast && outcome == .success
            needsAll = needsAll && outcome != .none
        }
        var all: [Int: Expectation] = [:]
        for (index, member) in members.enumerated() {
            let some =
                index < running
                ? member.expectations(isCertain: isCertain && needsAll)
                : Dictionary(uniqueKeysWithValues: member.requests.map { ($0.number, .notSent) })
            all.merge(some) { first, _ in first }
        }
        return all
    }

    /// The requests without a response for which the tree waits.
    var waiting: [Int] {
        guard outcome == .none else { return [] }
        switch self {
        case .request(let number, _): return [number]
        case .batch(_, _, isSerial: false, _): return members.flatMap(\.waiting)
        case .batch, .chain: return members[running - 1].waiting
        }
    }

    /// The tree with another outcome of one request.
    func setting(_ number: Int, to outcome: Outcome) -> CompositeTree {
        switch self {
        case .request(let own, let old): return .request(own, own == number ? outcome : old)
        case .batch(let own, let policy, let isSerial, let members):
            return .batch(
                own, policy, isSerial: isSerial, members.map { $0.setting(number, to: outcome) })
        case .chain(let own, let proceeds, let members):
            return .chain(
                own, proceeds: proceeds, members.map { $0.setting(number, to: outcome) })
        }
    }
}

extension CompositeTree {
    /// Makes random trees.
    struct Generator {
        var random: SeededGenerator
        /// Whether there are requests without a response.
        var hasSilence: Bool
        private var last = 0

        init(seed: UInt64, hasSilence: Bool) {
            random = SeededGenerator(seed: seed)
            self.hasSilence = hasSilence
        }

        /// A batch or chain whose deepest member is at most so many levels below it.
        mutating func composite(depth: Int) -> CompositeTree {
            last += 1
            let number = last
            let count = Int.random(in: 0...4, using: &random)
            let members = (0..<count).map { _ in member(depth: depth - 1) }
            guard Bool.random(using: &random) else {
                return .chain(number, proceeds: Int.random(in: 0..<3, using: &random) == 0, members)
            }
            return .batch(number, policy(count), isSerial: Bool.random(using: &random), members)
        }

        private mutating func member(depth: Int) -> CompositeTree {
            if depth > 0, Int.random(in: 0..<5, using: &random) < 3 {
                return composite(depth: depth)
            }
            last += 1
            switch Int.random(in: 0..<(hasSilence ? 5 : 4), using: &random) {
            case 0...2: return .request(last, .success)
            case 3: return .request(last, .failure)
            default: return .request(last, .none)
            }
        }

        private mutating func policy(_ count: Int) -> BatchRequest.Policy {
            switch Int.random(in: 0..<(count > 0 ? 4 : 2), using: &random) {
            case 0: .failFast
            case 1: .collectAll
            case 2: .firstSuccess
            default: .quorum(Int.random(in: 1...count, using: &random))
            }
        }
    }
}
