package import ErrandTransport

/// A pure state machine that decides which thread processes a posted message.
///
/// The loop's thread reports when it falls asleep and when it wakes. While it sleeps, one caller
/// may run a turn in its place. Other callers leave their messages to that caller, which checks the
/// mailbox again before it returns.
package struct WakeupState: Sendable, Hashable {
    /// The action of a thread that has posted a message.
    package enum Action: Sendable, Hashable {
        /// Another thread will read the message.
        case nothing
        /// Wake the loop's thread.
        case wake
        /// Run a turn, then call ``WakeupState/returned(isThreadNeeded:)``.
        case runOnCaller
    }

    private var isAsleep = false
    private var allowsCallerTurns = false
    private var isWoken = false
    /// Whether a caller runs a turn.
    package private(set) var isCallerTurn = false

    package init() {}

    /// Records that the loop's thread falls asleep.
    ///
    /// - Parameter allowsCallerTurns: Whether callers may run turns meanwhile.
    package mutating func fallsAsleep(allowsCallerTurns: Bool) {
        isAsleep = true
        self.allowsCallerTurns = allowsCallerTurns
    }

    /// Records that the loop's thread is awake, for any reason.
    package mutating func wakes() {
        isAsleep = false
        isWoken = false
    }

    /// Records that a message was posted; returns the action of the posting thread.
    package mutating func posted(mayRunOnCaller: Bool) -> Action {
        guard isAsleep, !isWoken, !isCallerTurn else { return .nothing }
        if mayRunOnCaller, allowsCallerTurns {
            isCallerTurn = true
            return .runOnCaller
        }
        isWoken = true
        return .wake
    }

    /// Records that a caller's turn is over; returns true if the caller has to wake the loop's
    /// thread.
    package mutating func returned(isThreadNeeded: Bool) -> Bool {
        isCallerTurn = false
        guard isThreadNeeded, isAsleep, !isWoken else { return false }
        isWoken = true
        return true
    }
}

/// The origins that responded recently, to which a connection probably exists.
///
/// The transport options are part of the origin: a request with another certificate policy or proxy
/// cannot use the same connection.
package struct RecentOrigins {
    private struct Origin: Equatable {
        let host: String?
        let port: Int
        let scheme: String?
        let options: TransportOptions

        init(_ url: HTTPURL, _ options: TransportOptions) {
            host = url.host
            port = url.effectivePort
            scheme = url.scheme
            self.options = options
        }
    }

    /// The origins, the latest first.
    private var origins: [Origin] = []
    /// The latest call of ``add(_:_:)``.
    private var latest: Call?

    private struct Call {
        let url: HTTPURL
        let options: TransportOptions

        func has(_ url: HTTPURL, _ options: TransportOptions) -> Bool {
            self.url == url && self.options.areEqualExceptReplay(to: options)
        }
    }

    package init() {}

    /// The maximum number of stored origins.
    package static var limit: Int { 8 }

    /// Records that an origin has responded.
    package mutating func add(_ url: HTTPURL, _ options: TransportOptions) {
        // Requests with the same URL often share its components.
        if latest?.has(url, options) == true {
            // References are compared from now on.
            if latest?.options.hasSameStorage(as: options) == false {
                latest = Call(url: url, options: Self.conditions(options))
            }
            return
        }
        let options = Self.conditions(options)
        // User and query may contain secrets.
        latest = url.hasOnlyPath ? Call(url: url, options: options) : nil
        let origin = Origin(url, options)
        guard origins.first != origin else { return }
        origins.removeAll { $0 == origin }
        if origins.count == Self.limit { origins.removeLast() }
        origins.insert(origin, at: 0)
    }

    /// Whether an origin has responded recently.
    package func contains(_ url: HTTPURL, _ options: TransportOptions) -> Bool {
        origins.contains(Origin(url, Self.conditions(options)))
    }

    /// The options that a connection depends on; `mayReplay` depends on the method only.
    private static func conditions(_ options: TransportOptions) -> TransportOptions {
        var options = options
        options.mayReplay = false
        return options
    }
}

#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import Synchronization

    /// The event loop, protected by a lock for one thread at a time: its own thread, or a caller's
    /// while its own sleeps.
    ///
    /// The lock is held for a whole turn, and receivers are called within a turn. No code called in
    /// a turn requests another turn (``WakeupState``).
    final class LoopLock: Sendable {
        private let loop: Mutex<EventLoop>
        private let callerTurnCount = Atomic<Int>(0)

        init(_ loop: sending EventLoop) { self.loop = Mutex(loop) }

        /// Runs a turn on the loop's own thread; see ``EventLoop/turn(_:)``.
        func runTurn(_ events: EventBuffer) -> Int32? { loop.withLock { $0.turn(events) } }

        /// Runs a turn on the caller's thread; returns true if the loop's thread must be woken.
        func runOnCaller() -> Bool {
            let isThreadNeeded = loop.withLockIfAvailable { $0.callerTurn() } ?? true
            if !isThreadNeeded { callerTurnCount.add(1, ordering: .relaxed) }
            return isThreadNeeded
        }

        /// The number of callers' turns after which the loop's thread was not needed.
        var callerTurns: Int { callerTurnCount.load(ordering: .relaxed) }
    }
#endif

#if os(Linux)
    import CLibcurl
    import ErrandHTTP

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
        func start() -> Bool { SystemThread.start { [self] in run() } }

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
            ErrandSystem.close(poll)
            ErrandSystem.close(wakeUp)
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

    /// Buffers that all exchanges of a loop use for the duration of one call.
    final class LoopScratch {
        /// The buffer for decoded bytes.
        let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The cache of field names and header lines.
        @exclusivity(unchecked) var fields = FieldCache()

        init() {}

        deinit { decoded.deallocate() }
    }

#endif
