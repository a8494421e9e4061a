#if os(Linux)
    import CLibcurl
    import Glibc

    /// What the kernel has found at the sockets, and room for it.
    // @unchecked: only the loop's thread uses it, between its turns to wait and in them to read.
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

        /// Waits for so many milliseconds at most; -1 waits for as long as nothing happens.
        func wait(_ milliseconds: Int32) {
            count = Int(max(0, epoll_wait(poll, events, capacity, milliseconds)))
        }

        /// What was found, until the next wait.
        var found: UnsafeBufferPointer<epoll_event> {
            UnsafeBufferPointer(start: events, count: count)
        }
    }
#endif
