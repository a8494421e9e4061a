import Foundation

/// A moment on the clock that never goes back, in nanoseconds since some moment in the past.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Later than anything that will be seen.
    package static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment so much later; ``never`` where that cannot be counted.
    package func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return self }
        let (whole, tooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let part = UInt64(attoseconds) / 1_000_000_000
        let (length, overflow) = whole.addingReportingOverflow(part)
        return tooLong || overflow ? .never : advanced(nanoseconds: length)
    }

    /// The moment so many nanoseconds later; ``never`` where that cannot be counted.
    package func advanced(nanoseconds length: UInt64) -> MonotonicTime {
        let (sum, beyond) = nanoseconds.addingReportingOverflow(length)
        return beyond ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// The moment so many milliseconds later; a negative number is 0.
    package func advanced(milliseconds: Int) -> MonotonicTime {
        let (length, tooLong) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(
            by: 1_000_000)
        return tooLong ? .never : advanced(nanoseconds: length)
    }

    /// How long ago an earlier moment was; zero for a later one.
    package func since(_ earlier: MonotonicTime) -> Duration {
        guard nanoseconds > earlier.nanoseconds else { return .zero }
        return .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds))
    }

    /// Whole milliseconds until this moment, rounded up, as `epoll_wait` wants them; -1 for ``never``.
    package func milliseconds(from now: MonotonicTime) -> Int32 {
        if self == .never { return -1 }
        guard self > now else { return 0 }
        let distance = nanoseconds - now.nanoseconds
        return Int32(clamping: distance / 1_000_000 + (distance % 1_000_000 == 0 ? 0 : 1))
    }
}

extension Duration {
    /// Whole milliseconds for libcurl, rounded up, from 1 to the largest that it takes.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        guard seconds < Int64(Int32.max) / 1000 else { return Int(Int32.max) }
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return max(1, Int(seconds) * 1000 + Int(part))
    }
}
