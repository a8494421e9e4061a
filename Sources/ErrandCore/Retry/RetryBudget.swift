/// How many retries one host may cost, in proportion to the requests it gets: when everything fails, retries
/// must not multiply the load.
public struct RetryBudget: Sendable, Hashable {
    /// How many retries each first attempt pays for.
    ///
    /// Default 0.2: one retry for five requests.
    public var ratio: Double
    /// How many retries are there from the beginning, and the most that are saved.
    ///
    /// Default 10.
    public var reserve: Int

    /// Makes a budget.
    public init(ratio: Double = 0.2, reserve: Int = 10) {
        self.ratio = ratio
        self.reserve = reserve
    }
}

/// What is left of a host's budget: a pure machine.
package struct RetryPurse: Sendable, Equatable {
    private var balance: Double

    package init(_ budget: RetryBudget) { balance = Double(max(0, budget.reserve)) }

    /// A first attempt was made.
    package mutating func deposit(_ budget: RetryBudget) {
        let most = Double(max(1, budget.reserve))
        balance = min(most, balance + max(0, budget.ratio.isFinite ? budget.ratio : 0))
    }

    /// Pays for a retry; false when there is not enough.
    package mutating func withdraw() -> Bool {
        // Five fifths are a whole, whatever binary fractions make of them.
        guard balance >= 1 - 1e-9 else { return false }
        balance = max(0, balance - 1)
        return true
    }
}
