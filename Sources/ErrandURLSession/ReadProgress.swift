import Synchronization

/// The number of bytes that remain to be read of a body with a known length.
final class ReadProgress: Sendable {
    private let left: Mutex<Int64>

    init(length: Int64) { left = Mutex(length) }

    var isDone: Bool { left.withLock { $0 <= 0 } }

    func add(_ count: Int) { left.withLock { $0 -= Int64(count) } }

    func finish() { left.withLock { $0 = 0 } }
}
