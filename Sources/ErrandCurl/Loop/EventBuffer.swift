#if os(Linux)
    import CLibcurl
    import Glibc

    /// The buffer for the events that `epoll_wait` returns.
    // @unchecked: only the loop's thread uses the buffer, to wait between turns and to read within one.
    final class EventBuffer: @unchecked Sendable {
        private let poll: Int32
        private let capacity: Int32 = 128
        private let events: UnsafeMutablePointer<epoll_event>
        private var count = 0

        init(poll: Int32) {
            self.poll = poll
            events = .allocate(capacity: Int(capacity))
        }

        deinit { events.deallocate() }

        /// Waits for events for at most this many milliseconds; -1 waits without limit.
        func wait(_ milliseconds: Int32) {
            count = Int(max(0, epoll_wait(poll, events, capacity, milliseconds)))
        }

        /// The events of the last wait.
        var found: UnsafeBufferPointer<epoll_event> {
            UnsafeBufferPointer(start: events, count: count)
        }
    }
#endif
