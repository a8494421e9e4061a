/// Whether a value is worth telling by now: a pure machine, without a timer of its own.
///
/// A value that is held back is told with the next one, or at the end: the last is never lost.
struct ProgressThrottle: Sendable, Equatable {
    /// The least time between two values; zero tells each.
    var interval: Duration
    /// So many bytes more, in either direction, are told at once whatever the time; `nil` waits.
    var bytes: Int64?
    private var told: (progress: TransferProgress, at: Duration)?

    init(every interval: Duration = .zero, bytes: Int64? = nil) {
        self.interval = interval
        self.bytes = bytes
    }

    /// Whether it needs to know the time.
    var isPlain: Bool { interval <= .zero }

    mutating func offer(_ progress: TransferProgress, now: Duration) -> Bool {
        guard let told else {
            self.told = (progress, now)
            return true
        }
        let isDue = now - told.at >= interval || hasMoved(from: told.progress, to: progress)
        if isDue { self.told = (progress, now) }
        return isDue
    }

    /// Whether this, the last value, was not told yet.
    func owes(_ progress: TransferProgress) -> Bool { told?.progress != progress }

    private func hasMoved(from old: TransferProgress, to new: TransferProgress) -> Bool {
        guard let bytes else { return false }
        let sent = new.bytesSent.subtractingReportingOverflow(old.bytesSent)
        let received = new.bytesReceived.subtractingReportingOverflow(old.bytesReceived)
        // An attempt that begins anew goes backwards: that is told, too.
        if sent.partialValue < 0 || received.partialValue < 0 { return true }
        return sent.partialValue >= bytes || received.partialValue >= bytes
    }

    static func == (one: Self, other: Self) -> Bool {
        one.interval == other.interval && one.bytes == other.bytes
            && one.told?.progress == other.told?.progress && one.told?.at == other.told?.at
    }
}
