/// How long an exchange may take, in its three parts (row RSQ-4).
///
/// Every value is exact to the millisecond on both transports. `nil` means no limit. A value of zero or
/// less is refused when the request is built.
public struct Timeouts: Sendable, Hashable, Codable {
    /// From the start of an attempt until the connection, TLS included, is there (default 30 s).
    public var connect: Duration?
    /// The longest silence: no byte sent or received for this long ends the attempt (default 60 s).
    public var idle: Duration?
    /// From start to end over all attempts, waiting included (default none).
    public var total: Duration?

    /// Makes the three limits; each has the default its property names.
    public init(
        connect: Duration? = .seconds(30), idle: Duration? = .seconds(60), total: Duration? = nil
    ) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}
