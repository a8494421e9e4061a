/// The time at which each phase of an attempt ended, and the number of bytes sent and received.
///
/// Times are measured from the start of the attempt. A phase is `nil` if it did not happen, such as DNS on a
/// reused connection, or if the transport does not report it. Times are rounded to the nearest nanosecond.
public struct AttemptTimings: Sendable, Hashable {
    /// The time at which the transport started the attempt, after it had waited in queues.
    public var queued: Duration? {
        get { moments.queued.duration }
        set { moments.queued = Moment(newValue) }
    }
    /// The time at which the host name was resolved.
    public var nameLookedUp: Duration? {
        get { moments.nameLookedUp.duration }
        set { moments.nameLookedUp = Moment(newValue) }
    }
    /// The time at which the TCP connection to the server or proxy was established.
    public var connected: Duration? {
        get { moments.connected.duration }
        set { moments.connected = Moment(newValue) }
    }
    /// The time at which the TLS handshake was complete.
    public var secured: Duration? {
        get { moments.secured.duration }
        set { moments.secured = Moment(newValue) }
    }
    /// The time at which the first byte of the response arrived.
    public var firstByte: Duration? {
        get { moments.firstByte.duration }
        set { moments.firstByte = Moment(newValue) }
    }
    /// The time at which the attempt ended.
    public var finished: Duration? {
        get { moments.finished.duration }
        set { moments.finished = Moment(newValue) }
    }
    /// The number of bytes of the head and the body that were sent.
    public var bytesSent: Int64
    /// The number of body bytes that were received, before content decoding.
    public var bytesReceived: Int64
    /// The number of bytes of heads and trailers that were received; 0 if the transport does not report it.
    ///
    /// Includes interim responses and a proxy's response to CONNECT. Over HTTP/2, the size before header
    /// compression.
    public var headBytesReceived: Int64
    /// Whether the attempt reused a connection; `nil` if the transport does not report it.
    public var reusedConnection: Bool?

    /// A time in nanoseconds, or none, in eight bytes: timings are copied on their way to the response.
    package struct Moment: Sendable, Hashable {
        private var nanoseconds = Int64.min

        package init() {}

        package init(nanoseconds: UInt64) { self.nanoseconds = Int64(clamping: nanoseconds) }

        fileprivate init(_ duration: Duration?) {
            guard let duration else { return }
            // A time that was computed from seconds in a Double may lack a part of its last nanosecond.
            let attoseconds = duration.components.attoseconds % 1_000_000_000
            let rest: Int64 = attoseconds >= 500_000_000 ? 1 : attoseconds <= -500_000_000 ? -1 : 0
            let (rounded, overflows) = duration.wholeNanoseconds.addingReportingOverflow(rest)
            nanoseconds = overflows ? duration.wholeNanoseconds : max(rounded, -.max)
        }

        fileprivate var duration: Duration? {
            nanoseconds == .min ? nil : .nanoseconds(nanoseconds)
        }
    }

    /// The times.
    package struct Moments: Sendable, Hashable {
        package var queued = Moment(), firstByte = Moment(), finished = Moment()
        fileprivate var nameLookedUp = Moment(), connected = Moment(), secured = Moment()
    }

    package var moments = Moments()

    /// Creates timings without any values.
    public init() {
        bytesSent = 0
        bytesReceived = 0
        headBytesReceived = 0
    }
}

extension AttemptTimings: CustomReflectable {
    /// The times and numbers, as their properties give them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "queued": queued as Any, "nameLookedUp": nameLookedUp as Any,
                "connected": connected as Any, "secured": secured as Any,
                "firstByte": firstByte as Any, "finished": finished as Any,
                "bytesSent": bytesSent, "bytesReceived": bytesReceived,
                "headBytesReceived": headBytesReceived,
                "reusedConnection": reusedConnection as Any,
            ], displayStyle: .struct)
    }
}
