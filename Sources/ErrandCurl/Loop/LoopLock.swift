#if os(Linux)
    import CLibcurl
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
