#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Glibc
    import Synchronization

    /// What other threads put down for the loop; its thread starts with the first message.
    ///
    /// The event descriptor is written only while the loop sleeps, so a busy loop costs its callers a lock.
    final class Mailbox: Sendable {
        enum Message: Sendable {
            /// A new transfer.
            case start(CurlTransfer)
            /// A transfer's signals have changed.
            case attend(CurlTransfer)
            /// End everything, now and from now on.
            case shutDown
            /// Nobody will send anything new: leave when all transfers have ended.
            case close
        }

        private struct State {
            var messages: [Message] = []
            var watch = LoopWatch()
            /// Who is about to write to the event descriptor: it must not be closed under their hands.
            var wakers = 0
            var loop = LoopThread.none
        }

        private enum LoopThread: Sendable {
            case none
            case running(wakeUp: Int32, LoopTurns)
            case gone
        }

        private let configuration: CurlConfiguration
        private let state = Mutex(State())

        private let isCounting: Bool
        private let load = Atomic<Int>(0)

        /// Where nobody chooses between loops, transfers need not be counted.
        init(configuration: CurlConfiguration, isCounting: Bool) {
            self.configuration = configuration
            self.isCounting = isCounting
        }

        /// How many transfers are under way, as far as they are counted.
        var underWay: Int { load.load(ordering: .relaxed) }

        /// One more transfer is under way.
        func began() { if isCounting { load.add(1, ordering: .relaxed) } }

        /// One less.
        func ended() { if isCounting { load.subtract(1, ordering: .relaxed) } }

        /// How often a caller's turn has spared the loop's thread one.
        var lentTurns: Int {
            state.withLock { state in
                if case .running(_, let turns) = state.loop { turns.lentTurns } else { 0 }
            }
        }

        /// Puts a message down; false when there is no loop to read it.
        ///
        /// - Parameter mayLend: Whether the caller may have the turn itself, where the loop's thread sleeps.
        func post(_ message: Message, mayLend: Bool = false) -> Bool {
            let (isTaken, call) = state.withLock { state -> (Bool, Call) in
                if case .none = state.loop {
                    if case .shutDown = message {
                        // Nothing is under way; whoever starts something later finds it here first.
                        state.messages.append(message)
                        return (true, .nothing)
                    }
                    state.loop = startThread()
                }
                guard case .running(let wakeUp, let turns) = state.loop else {
                    return (false, .nothing)
                }
                state.messages.append(message)
                switch state.watch.posted(mayLend: mayLend) {
                case .nothing: return (true, .nothing)
                case .wake:
                    state.wakers += 1
                    return (true, .wake(wakeUp))
                case .lend: return (true, .turn(turns, wakeUp))
                }
            }
            carryOut(call)
            return isTaken
        }

        /// What whoever has put a message down does about it.
        private enum Call {
            case nothing
            case wake(Int32)
            case turn(LoopTurns, Int32)
        }

        private func carryOut(_ call: Call) {
            switch call {
            case .nothing: break
            case .wake(let descriptor):
                var one: UInt64 = 1
                _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
                state.withLock { $0.wakers -= 1 }
            case .turn(let turns, let descriptor):
                let isNeeded = turns.lend()
                let wakes = state.withLock { state in
                    let wakes = state.watch.returned(
                        isThreadNeeded: isNeeded || !state.messages.isEmpty)
                    if wakes { state.wakers += 1 }
                    return wakes
                }
                if wakes { carryOut(.wake(descriptor)) }
            }
        }

        /// Nobody will send anything new.
        func close() {
            let isRunning = state.withLock { state in
                if case .running = state.loop { return true }
                state.loop = .gone
                return false
            }
            if isRunning { _ = post(.close) }
        }

        /// Swaps the waiting messages for an empty array.
        ///
        /// Loop thread only.
        func take(into batch: inout [Message]) {
            state.withLock { swap(&$0.messages, &batch) }
        }

        /// The same for a caller who has the turn: false, and nothing is taken, where there is anything but new transfers, or
        /// one that is not wanted.
        func takeStarts(
            into batch: inout [Message], where isWanted: (TransportRequest) -> Bool
        ) -> Bool {
            state.withLock { state in
                for message in state.messages {
                    guard case .start(let transfer) = message, isWanted(transfer.request) else {
                        return false
                    }
                }
                swap(&state.messages, &batch)
                return true
            }
        }

        /// True when nothing waits: whoever posts from now on wakes the loop.
        ///
        /// Loop thread only.
        func fallAsleep() -> Bool {
            state.withLock { state in
                guard state.messages.isEmpty else { return false }
                state.watch.fallsAsleep()
                return true
            }
        }

        /// The loop is awake for another reason.
        ///
        /// Loop thread only.
        func wake() { state.withLock { $0.watch.wakes() } }

        /// True when nothing waits: later messages find no loop.
        ///
        /// Loop thread only.
        func leave() -> Bool {
            state.withLock { state in
                guard state.messages.isEmpty, state.wakers == 0, !state.watch.isLent else {
                    return false
                }
                state.loop = .gone
                return true
            }
        }

        private func startThread() -> LoopThread {
            let wakeUp = errand_eventfd_create()
            let poll = errand_epoll_create()
            guard wakeUp >= 0, poll >= 0, errand_epoll_add(poll, wakeUp, errand_epoll_in) == 0
            else {
                if wakeUp >= 0 { Glibc.close(wakeUp) }
                if poll >= 0 { Glibc.close(poll) }
                return .none
            }
            let turns = LoopTurns(
                EventLoop(
                    mailbox: self, configuration: configuration, poll: poll, wakeUp: wakeUp))
            let seed = LoopSeed(
                mailbox: self, turns: turns, name: configuration.name, poll: poll, wakeUp: wakeUp)
            guard seed.sprout() else {
                Glibc.close(wakeUp)
                Glibc.close(poll)
                return .none
            }
            return .running(wakeUp: wakeUp, turns)
        }
    }

    /// What the loop's thread needs to begin.
    private final class LoopSeed: Sendable {
        private let mailbox: Mailbox
        private let turns: LoopTurns
        private let name: String
        private let poll: Int32
        private let wakeUp: Int32

        init(mailbox: Mailbox, turns: LoopTurns, name: String, poll: Int32, wakeUp: Int32) {
            self.mailbox = mailbox
            self.turns = turns
            self.name = name
            self.poll = poll
            self.wakeUp = wakeUp
        }

        /// Starts the thread; false when the system has none to give.
        func sprout() -> Bool {
            var thread = pthread_t()
            let seed = Unmanaged.passRetained(self)
            let result = pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    Unmanaged<LoopSeed>.fromOpaque(context).takeRetainedValue().grow()
                    return nil
                }, seed.toOpaque())
            guard result == 0 else {
                seed.release()
                return false
            }
            pthread_detach(thread)
            return true
        }

        private func grow() {
            // Signals are the application's: no handler of its may run on, and no SIGPIPE end, this thread.
            var all = sigset_t()
            sigfillset(&all)
            // But faults stay visible: a blocked one ends the process without a backtrace. So does profiling.
            for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF] {
                sigdelset(&all, signal)
            }
            pthread_sigmask(SIG_BLOCK, &all, nil)
            errand_name_thread(name)
            serve()
            Glibc.close(poll)
            Glibc.close(wakeUp)
        }

        /// Serves until the mailbox is closed and every transfer has ended.
        private func serve() {
            let events = EventBuffer(poll: poll)
            while let limit = turns.take(events) {
                events.wait(limit)
                if limit != 0 { mailbox.wake() }
            }
        }
    }
#endif
