public import Foundation

/// Time as the framework sees it: replaced by a manual clock in tests.
public protocol RequestClock: Sendable {
    /// The date, for ages of cache entries and for `Retry-After`.
    var now: Date { get }
    /// Time since some fixed moment; never goes backwards.
    var uptime: Duration { get }
    /// Waits; throws `CancellationError` when the task is cancelled meanwhile.
    func sleep(for duration: Duration) async throws
}

/// The machine's clocks.
public struct SystemClock: RequestClock {
    /// Makes the clock.
    public init() {}
    /// The system's date.
    public var now: Date { Date() }
    /// The time since the process's first use of a clock.
    public var uptime: Duration { Self.start.duration(to: ContinuousClock.now) }
    /// Waits on the continuous clock, thirty years at most.
    public func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: min(duration, Self.longest))
    }
    private static let start = ContinuousClock.now
    /// The moment in `.seconds(Int64.max)`, which many write for "no limit", cannot be counted: Swift's clock would trap.
    private static let longest = Duration.seconds(1_000_000_000)
}
