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
    /// Waits on the continuous clock.
    public func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: duration)
    }
    private static let start = ContinuousClock.now
}
