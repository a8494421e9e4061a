/// Limits retries to a host in proportion to its requests.
///
/// When every request fails, unlimited retries would multiply the load.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries that each first attempt adds.
    ///
    /// Default 0.2: one retry for five requests.
    public var ratio: Double
    /// The number of saved retries of a new host, which is also the maximum.
    ///
    /// Default 10.
    public var reserve: Int

    /// Creates a budget.
    public init(ratio: Double = 0.2, reserve: Int = 10) {
        self.ratio = ratio
        self.reserve = reserve
    }
}

/// The retry tokens of one host; pure state without locks.
package struct RetryTokenBucket: Sendable, Equatable {
    private var balance: Double

    package init(_ budget: RetryBudget) { balance = Double(max(0, budget.reserve)) }

    /// Adds the share of a first attempt.
    package mutating func deposit(_ budget: RetryBudget) {
        let most = Double(max(1, budget.reserve))
        balance = min(most, balance + max(0, budget.ratio.isFinite ? budget.ratio : 0))
    }

    /// Takes a token for a retry; false if there is none.
    package mutating func withdraw() -> Bool {
        // Tolerates the rounding of binary fractions: five deposits of 0.2 make one token.
        guard balance >= 1 - 1e-9 else { return false }
        balance = max(0, balance - 1)
        return true
    }
}
