import ErrandHTTP

/// Limits retries to a host in proportion to its requests.
///
/// When every request fails, unlimited retries would multiply the load.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries that each first attempt adds.
    ///
    /// Default 0.2: one retry for five requests.
    ///
    /// It must be a finite number of 0 or more; another number fails requests with
    /// ``RequestError/Code/invalidConfiguration``.
    public var ratio: Double
    /// The number of saved retries of a new host, which is also the maximum.
    ///
    /// Default 10; a negative number fails requests with ``RequestError/Code/invalidConfiguration``.
    public var reserve: Int

    /// Creates a budget.
    public init(ratio: Double = 0.2, reserve: Int = 10) {
        self.ratio = ratio
        self.reserve = reserve
    }

    /// Describes an invalid value; `nil` if all are valid.
    package var fault: String? {
        if !ratio.isFinite || ratio < 0 {
            return "retryBudget.ratio is \(ratio). Set a finite number of 0 or more."
        }
        return reserve < 0 ? "retryBudget.reserve is \(reserve). Set 0 or more." : nil
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
