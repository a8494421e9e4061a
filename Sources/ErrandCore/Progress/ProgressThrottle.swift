package import ErrandHTTP

/// Decides whether a progress value is due; pure state without a timer.
///
/// A value that is held back is superseded by the next one, or delivered at the end, or offered again after
/// ``pause(of:at:)``.
package struct ProgressThrottle: Sendable, Equatable {
    /// The minimum time between two values; zero delivers each changed value.
    package var interval: Duration
    /// A change of this many bytes in either direction is due at once; `nil` waits for the time.
    package var bytes: Int64?
    private var delivered: (progress: TransferProgress, at: Duration)?

    package init(every interval: Duration = .zero, bytes: Int64? = nil) {
        self.interval = interval
        self.bytes = bytes
    }

    /// Whether every changed value is due, so that the time is not needed.
    package var isPlain: Bool { interval <= .zero }

    /// Whether the value is due, which is then delivered; one that equals the last delivered value is not.
    package mutating func offer(_ progress: TransferProgress, now: Duration) -> Bool {
        guard let delivered else {
            self.delivered = (progress, now)
            return true
        }
        guard progress != delivered.progress else { return false }
        let isDue =
            now - delivered.at >= interval || hasMoved(from: delivered.progress, to: progress)
        if isDue { self.delivered = (progress, now) }
        return isDue
    }

    /// Whether this value has not been delivered yet.
    package func hasNotDelivered(_ progress: TransferProgress) -> Bool {
        delivered?.progress != progress
    }

    /// The time until a value that is held back is due; `nil` if the value is delivered.
    package func pause(of progress: TransferProgress, at now: Duration) -> Duration? {
        guard hasNotDelivered(progress) else { return nil }
        return max(.zero, interval.clamped - (now - (delivered?.at ?? now)))
    }

    private func hasMoved(from old: TransferProgress, to new: TransferProgress) -> Bool {
        guard let bytes else { return false }
        let sent = new.bytesSent.subtractingReportingOverflow(old.bytesSent)
        let received = new.bytesReceived.subtractingReportingOverflow(old.bytesReceived)
        // A new attempt resets the counts; this is reported, too.
        if sent.partialValue < 0 || received.partialValue < 0 { return true }
        return sent.partialValue >= bytes || received.partialValue >= bytes
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.interval == other.interval && one.bytes == other.bytes
            && one.delivered?.progress == other.delivered?.progress
            && one.delivered?.at == other.delivered?.at
    }
}
