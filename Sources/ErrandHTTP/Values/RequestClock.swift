public import Foundation

/// The source of time for the framework; tests replace it with a manual clock.
public protocol RequestClock: Sendable {
    /// The current date, for the age of cache entries and for `Retry-After`.
    var now: Date { get }
    /// The time since a fixed moment; monotonic.
    var uptime: Duration { get }
    /// Suspends for a duration; throws `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clocks.
public struct SystemClock: RequestClock {
    /// Creates the clock.
    public init() {}
    /// The current date of the system.
    public var now: Date { Date() }
    /// The time since the first use of the clock in this process.
    public var uptime: Duration { Self.start.duration(to: ContinuousClock.now) }
    /// Suspends on the continuous clock, for about 31 years at most.
    public func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: min(duration, Self.longest))
    }
    private static let start = ContinuousClock.now
    /// An upper bound, because the clock traps on the overflow of `.seconds(Int64.max)`, a common "no limit".
    private static let longest = Duration.seconds(1_000_000_000)
}
