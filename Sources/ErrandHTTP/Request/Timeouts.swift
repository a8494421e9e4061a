/// The time limits of a request.
///
/// Limits are exact to the millisecond in both transports. `nil` means no limit. A limit of zero or less
/// fails the request when it is built.
public struct Timeouts: Sendable, Hashable, Codable {
    /// The limit from the start of an attempt until the connection is established, with TLS (default 30 s).
    public var connect: Duration?
    /// The limit for a time without any byte sent or received, which ends the attempt (default 60 s).
    ///
    /// With `CurlTransport`, bytes of the request body also count when the server acknowledges them, which may be long
    /// after the system has accepted them.
    public var idle: Duration?
    /// The limit for the whole request with all attempts and waiting times (default none).
    ///
    /// It counts from the start of the task. Time during which the computer is suspended does not count: the timer of
    /// `SystemClock` uses `CLOCK_MONOTONIC` on Linux and `mach_absolute_time` on Apple platforms, which do not
    /// advance meanwhile. Delays before retries and the `deadline` of a composite do count that time.
    public var total: Duration?

    /// Creates the three limits, with the defaults of the properties.
    public init(
        connect: Duration? = .seconds(30), idle: Duration? = .seconds(60), total: Duration? = nil
    ) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}
