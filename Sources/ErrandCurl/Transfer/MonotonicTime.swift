import ErrandHTTP

/// A time of the monotonic clock, in nanoseconds since an arbitrary start.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// A time that never comes, later than every other value.
    package static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the time after a duration; ``never`` on overflow.
    package func advanced(by duration: Duration) -> MonotonicTime {
        let length = max(0, duration.wholeNanoseconds)
        return length == .max ? .never : advanced(nanoseconds: UInt64(length))
    }

    /// Returns the time after this many nanoseconds; ``never`` on overflow.
    package func advanced(nanoseconds length: UInt64) -> MonotonicTime {
        let (sum, beyond) = nanoseconds.addingReportingOverflow(length)
        return beyond ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// Returns the time after this many milliseconds; negative values count as 0.
    package func advanced(milliseconds: Int) -> MonotonicTime {
        let (length, tooLong) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(
            by: 1_000_000)
        return tooLong ? .never : advanced(nanoseconds: length)
    }

    /// Returns the duration since an earlier time; zero if the other time is later.
    package func since(_ earlier: MonotonicTime) -> Duration {
        guard nanoseconds > earlier.nanoseconds else { return .zero }
        return .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds))
    }

    /// Returns the time for timings that begin at an earlier time; none for ``never``.
    func moment(since earlier: MonotonicTime) -> AttemptTimings.Moment {
        guard self != .never else { return AttemptTimings.Moment() }
        return AttemptTimings.Moment(
            nanoseconds: max(nanoseconds, earlier.nanoseconds) - earlier.nanoseconds)
    }

    /// Returns the milliseconds until this time, rounded up for `epoll_wait`; -1 for ``never``.
    package func milliseconds(from now: MonotonicTime) -> Int32 {
        if self == .never { return -1 }
        guard self > now else { return 0 }
        let distance = nanoseconds - now.nanoseconds
        return Int32(clamping: distance / 1_000_000 + (distance % 1_000_000 == 0 ? 0 : 1))
    }
}

extension Duration {
    /// The duration in milliseconds for libcurl, rounded up, from 1 to `Int32.max`.
    var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        let whole = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
        return Int(min(max(whole, 1), Int64(Int32.max)))
    }
}
