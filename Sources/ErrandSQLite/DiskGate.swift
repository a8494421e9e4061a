/// Decides whether writing is suspended because the disk is full or fails.
///
/// While it is suspended, one write is tried after each pause; the pauses grow up to a maximum. The
/// first write that succeeds ends the suspension.
struct DiskGate: Sendable {
    typealias Instant = ContinuousClock.Instant

    private let firstPause: Duration
    private let maximumPause: Duration
    private var suspension: (cause: SQLiteFailure, pause: Duration, until: Instant)?

    init(_ limits: StoreLimits) {
        firstPause = limits.diskPause
        maximumPause = limits.maximumDiskPause
    }

    /// The cause of the suspension if no write is due yet.
    func refusal(now: @autoclosure () -> Instant) -> SQLiteFailure? {
        guard let suspension, now() < suspension.until else { return nil }
        return suspension.cause
    }

    /// Records a failed write.
    ///
    /// - Returns: Whether it is the first one, which is to be reported.
    mutating func failed(_ cause: SQLiteFailure, now: Instant) -> Bool {
        let pause = suspension.map { min($0.pause * 2, maximumPause) } ?? firstPause
        defer { suspension = (cause, pause, now + pause) }
        return suspension == nil
    }

    /// Records a successful write.
    mutating func succeeded() { if suspension != nil { suspension = nil } }
}
