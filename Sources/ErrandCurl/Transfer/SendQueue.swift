import ErrandHTTP

#if os(Linux)
    import CLibcurl
#endif

/// The bytes that the system has accepted for a connection and that the peer has not acknowledged.
///
/// The system accepts megabytes at once and then no more until a part of them has arrived. A slow
/// peer may need longer than the idle limit for them, so its acknowledgements are activity too.
struct SendQueue: Sendable, Hashable {
    /// The number of acknowledged bytes, from an arbitrary start.
    var acknowledged: UInt64
    /// The number of bytes that wait for their acknowledgement.
    var waiting: UInt64
    /// The time since the last acknowledgement, which may have been one of no further bytes; `nil` if
    /// it is unknown.
    var silence: Duration?

    #if os(Linux)
        /// Reads the state of a socket; `nil` if it has no send queue.
        init?(of socket: Int32) {
            var queue = errand_send_queue()
            guard errand_get_send_queue(socket, &queue) == 0 else { return nil }
            acknowledged = queue.acknowledged
            waiting = UInt64(queue.waiting)
            silence = queue.has_times != 0 ? .milliseconds(Int64(queue.silence)) : nil
        }
    #endif

    init(acknowledged: UInt64, waiting: UInt64, silence: Duration?) {
        self.acknowledged = acknowledged
        self.waiting = waiting
        self.silence = silence
    }

    /// The time before a duration.
    fileprivate static func time(_ silence: Duration, before now: MonotonicTime) -> MonotonicTime {
        let length = UInt64(clamping: silence.wholeNanoseconds)
        return MonotonicTime(nanoseconds: now.nanoseconds - min(now.nanoseconds, length))
    }

    /// The latest time of the last acknowledgement.
    func lastAcknowledgement(at now: MonotonicTime) -> MonotonicTime {
        Self.time(silence ?? .zero, before: now)
    }
}

/// Whether the peer acknowledges the bytes that a transfer has sent.
///
/// Other transfers may share the connection. Their later bytes count as those of the transfer only
/// until the first observation, so a transfer that can send no more does not appear active because
/// of the others.
struct AcknowledgementWatch: Sendable, Hashable {
    private enum State: Hashable {
        /// The peer has everything that was sent.
        case settled
        /// The transfer has sent bytes since the last observation.
        case sent
        /// Bytes before the position `end` are not acknowledged; `acknowledged` was observed last.
        case waiting(acknowledged: UInt64, end: UInt64)
    }

    private var state = State.settled

    /// Whether an observation can find an acknowledgement.
    var isPending: Bool { state != .settled }

    /// Records that the transfer has sent bytes.
    mutating func sent() { state = .sent }

    /// Compares the send queue with the last observation; returns the latest time at which the peer
    /// may have acknowledged bytes of the transfer, or `nil` if it has not.
    mutating func observe(_ queue: SendQueue, at now: MonotonicTime) -> MonotonicTime? {
        let end: UInt64
        var silence = queue.silence
        switch state {
        case .settled: return nil
        // Whether bytes were acknowledged since the transfer has sent them is unknown.
        case .sent: end = queue.acknowledged &+ queue.waiting
        case .waiting(let acknowledged, let last):
            guard queue.acknowledged > acknowledged else { return nil }
            end = last
            silence = silence ?? .zero
        }
        state =
            queue.acknowledged >= end
            ? .settled : .waiting(acknowledged: queue.acknowledged, end: end)
        return silence.map { SendQueue.time($0, before: now) }
    }

}
