/// Flow control of one stream or of the connection (RFC 9113 §5.2, §6.9).
enum FlowWindow {
    /// The largest window, 2^31 - 1.
    static let largest = 0x7FFF_FFFF
    /// The window of both sides until SETTINGS change it (RFC 9113 §6.5.2).
    static let initial = 65_535

    /// The window of what this side sends; negative after the peer has reduced its initial window.
    struct Sending: Sendable, Hashable {
        private(set) var size: Int

        init(_ size: Int = FlowWindow.initial) { self.size = size }

        /// The number of bytes that may be sent.
        var available: Int { max(0, size) }

        /// Records sent bytes, at most ``available``.
        mutating func use(_ count: Int) { size -= count }

        /// Adds an increment, or the change of the initial window; returns false if the window then
        /// exceeds its maximum.
        mutating func add(_ change: Int) -> Bool {
            guard size + change <= FlowWindow.largest else { return false }
            size += change
            return true
        }
    }

    /// The window of what the peer sends.
    ///
    /// Bytes become free when their recipient accepts them. They are announced to the peer when half of
    /// the window is free, so that an update costs little. The window of a stream begins small and
    /// doubles while its recipient keeps up: a recipient that pauses holds a small window, and one that
    /// does not gets the throughput of a large one.
    struct Receiving: Sendable, Hashable {
        /// The size that the window has when the recipient has accepted everything.
        private(set) var target: Int
        private let limit: Int
        /// The number of bytes that the peer may send.
        private(set) var available: Int
        /// The number of accepted bytes that were not announced.
        private var unannounced = 0

        /// Creates a window that grows to a limit.
        init(_ target: Int, limit: Int) {
            (self.target, self.limit, available) = (target, limit, target)
        }

        /// The number of bytes that the recipient holds.
        var held: Int { target - available - unannounced }

        /// Records received bytes; returns false if they exceed the window.
        mutating func receive(_ count: Int) -> Bool {
            guard count <= available else { return false }
            available -= count
            return true
        }

        /// Records accepted bytes; returns the increment to announce now, or 0.
        mutating func accept(_ count: Int) -> Int {
            unannounced += min(count, held)
            guard unannounced >= target / 2, unannounced > 0 else { return 0 }
            var increment = unannounced
            if target < limit, held <= target / 8 {
                let larger = min(2 * target, limit)
                increment += larger - target
                target = larger
            }
            available += increment
            unannounced = 0
            return increment
        }
    }
}
