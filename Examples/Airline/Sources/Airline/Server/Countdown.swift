import Synchronization

/// Returns true for the first `count` calls, then false.
final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func tick() -> Bool {
        left.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
    }
}
