// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import Glibc

    /// The loop's thread and its resources.
    final class LoopThread: Sendable {
        private let mailbox: Mailbox
        private let lock: LoopLock
        private let name: String
        private let poll: Int32
        private let wakeUp: Int32

        init(mailbox: Mailbox, lock: LoopLock, name: String, poll: Int32, wakeUp: Int32) {
            self.mailbox = mailbox
            self.lock = lock
            self.name = name
            self.poll = poll
            self.wakeUp = wakeUp
        }

        /// Starts the thread; returns false if the system cannot create one.
        func start() -> Bool {
            var thread = pthread_t()
            let reference = Unmanaged.passRetained(self)
            let result = pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    Unmanaged<LoopThread>.fromOpaque(context).takeRetainedValue().run()
                    return nil
                }, reference.toOpaque())
            guard result == 0 else {
                reference.release()
                return false
            }
            pthread_detach(thread)
            return true
        }

        private func run() {
            // Signals belong to the application: its handlers must not run on this thread, and
            // SIGPIPE must not end the process.
            var all = sigset_t()
            sigfillset(&all)
            // Fault signals stay unblocked, because a blocked one ends the process without a
            // backtrace. So does SIGPROF, for profilers.
            for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF] {
                sigdelset(&all, signal)
            }
            pthread_sigmask(SIG_BLOCK, &all, nil)
            errand_name_thread(name)
            serve()
            Glibc.close(poll)
            Glibc.close(wakeUp)
        }

        /// Runs turns until the mailbox is closed and every transfer has ended.
        private func serve() {
            let events = EventBuffer(poll: poll)
            while let limit = lock.runTurn(events) {
                events.wait(limit)
                if limit != 0 { mailbox.wake() }
            }
        }
    }

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

    /// Buffers that all easy handles of a loop use for the duration of one call.
    final class LoopScratch {
        /// The buffer for decoded bytes.
        let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The cache of field names and header lines.
        @exclusivity(unchecked) var fields = FieldCache()
        /// The peer address that was last converted to text.
        @exclusivity(unchecked) var peer = PeerAddress()

        init() {}

        deinit { decoded.deallocate() }
    }

    /// Formats the peer of a connection as `IP:port` and caches the text for further requests to
    /// the same peer.
    struct PeerAddress {
        private var bytes: [CChar] = []
        private var port = 0
        private var text: String?

        init() {}

        /// The peer of a handle's connection; `nil` if it has none.
        mutating func text(of handle: UnsafeMutableRawPointer) -> String? {
            var address: UnsafeMutablePointer<CChar>?
            var port = 0
            errand_get_string(handle, CURLINFO_PRIMARY_IP, &address)
            errand_get_long(handle, CURLINFO_PRIMARY_PORT, &port)
            guard let address, address[0] != 0 else { return nil }
            if port == self.port, isSame(address) { return text }
            bytes = Array(UnsafeBufferPointer(start: address, count: strlen(address) + 1))
            self.port = port
            let host = String(cString: address)
            text = host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)"
            return text
        }

        private func isSame(_ address: UnsafePointer<CChar>) -> Bool {
            bytes.withUnsafeBufferPointer { known in
                guard let start = known.baseAddress else { return false }
                return strcmp(start, address) == 0
            }
        }
    }
#endif
