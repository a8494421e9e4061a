#if os(Linux)
    import CLibcurl
    import Synchronization

    /// The loop, for one thread at a time: its own, or that of a caller while its own sleeps.
    ///
    /// The lock is held for a whole turn, in which receivers are called: it says whose turn it is, and nobody who is called in
    /// a turn asks for one (``LoopWatch``).
    final class LoopTurns: Sendable {
        private let loop: Mutex<EventLoop>
        private let lendings = Atomic<Int>(0)

        init(_ loop: sending EventLoop) { self.loop = Mutex(loop) }

        /// A turn of the loop's own thread; see ``EventLoop/turn(_:)``.
        func take(_ events: EventBuffer) -> Int32? { loop.withLock { $0.turn(events) } }

        /// A turn of a caller; true where the loop's thread has to be woken.
        func lend() -> Bool {
            let isThreadNeeded = loop.withLockIfAvailable { $0.lentTurn() } ?? true
            if !isThreadNeeded { lendings.add(1, ordering: .relaxed) }
            return isThreadNeeded
        }

        /// How often a caller's turn has spared the thread one.
        var lentTurns: Int { lendings.load(ordering: .relaxed) }
    }
#endif
