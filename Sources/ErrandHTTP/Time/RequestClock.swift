public import ErrandSystem

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
    /// The time since a moment less than a second before the first use of the clock in this process.
    public var uptime: Duration {
        #if os(Linux)
            // The clock of `ContinuousClock`, read directly, because each request and each event needs it.
            let now = Self.read()
            return Duration(
                secondsComponent: Int64(now.tv_sec) - Self.startSecond,
                attosecondsComponent: Int64(now.tv_nsec) * 1_000_000_000)
        #else
            Self.start.duration(to: ContinuousClock.now)
        #endif
    }
    /// Suspends on the continuous clock, for about 31 years at most.
    public func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: min(duration, Self.longest))
    }
    #if os(Linux)
        private static let startSecond = Int64(read().tv_sec)

        private static func read() -> timespec {
            var now = timespec()
            clock_gettime(CLOCK_BOOTTIME, &now)
            return now
        }
    #else
        private static let start = ContinuousClock.now
    #endif
    /// An upper bound, because the clock traps on the overflow of `.seconds(Int64.max)`, a common "no limit".
    private static let longest = Duration.seconds(1_000_000_000)
}
