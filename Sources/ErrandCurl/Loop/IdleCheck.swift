/// Whether idle sockets were examined for input a moment ago.
///
/// One call of `epoll_wait` for all of them is cheaper than a read of each connection that is used again.
struct IdleCheck {
    /// The number of checks.
    private(set) var count: UInt64 = 0
    private var isRecent = false

    /// Records that `epoll_wait` has reported all input; `isIdle` if it has reported none.
    mutating func checked(isIdle: Bool) {
        count += 1
        isRecent = isIdle
    }

    /// Records that time has passed since the last check.
    mutating func expire() { isRecent = false }

    /// Whether a recent check has found no input on a socket that was watched and idle when there had
    /// been this number of checks.
    func isKnownIdle(since check: UInt64) -> Bool { isRecent && check < count }
}
