/// The admission of a transfer at an origin with shared connections.
struct AdmissionState<Waiting> {
    /// The permission to use the origin's connections; `nil` if it is not needed or not granted.
    var slot: HTTP2Admission<Waiting>.Slot?
    /// The number of the current wait.
    private var ticket: UInt64?

    /// Whether the transfer is the origin's probe.
    var isProbe: Bool { slot?.isProbe == true }

    /// Records that the transfer waits for admission.
    mutating func wait(_ ticket: UInt64) { self.ticket = ticket }

    /// Whether the transfer still waits for the admission with this number.
    func isAwaiting(_ ticket: UInt64) -> Bool { self.ticket == ticket }

    /// Records that the transfer begins; returns whether it has waited.
    mutating func begin() -> Bool {
        defer { ticket = nil }
        return ticket != nil
    }

    /// Records that the transfer has ended; the loop takes the slot back.
    mutating func stopWaiting() { ticket = nil }
}
