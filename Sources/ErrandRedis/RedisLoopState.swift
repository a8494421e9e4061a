#if Redis
    import CHiredis
    import ErrandHTTP
    import ErrandSystem
    import Synchronization

    /// What the callers and the loop's thread share.
    final class RedisLoopState: Sendable {
        /// A command that waits for the connection.
        struct Waiter: Sendable {
            var batch: RedisBatch
            var deadline: Int64
        }

        struct State: Sendable {
            var health = ServerHealth()
            var session = RedisConnector.Session()
            var scripts: [String] = []
            var evictsIndex = true
            var waiters: [Waiter] = []
            var nextLink = 0
            var isRunning = false
            var isClosed = false
            /// Whether a thread is connecting.
            var isConnecting = false
            /// The result of the thread that connects.
            var result: Result<RedisConnector.Session, RedisFailure>?
            /// The result of the thread that replaces the connection for notices.
            var replacement: Result<(RedisLink, Int), RedisFailure>?
            var isReplacing = false
            var replaceAt: Int64?
            var lastPing: Int64 = 0
            var lastPong: Int64 = 0
            /// Whether the connection for notices has not replied yet.
            var isPinging = false
            var recoveryFailure: RedisFailure?
        }

        /// The interval of checks of the connection for notices.
        static let pingInterval: Int64 = 250_000_000
        /// The time after which a silent connection for notices counts as lost.
        static let silenceLimit: Int64 = 900_000_000

        /// The time after which an unused connection is polled by the loop again.
        static let useInterval: Int64 = 20_000_000
        /// How long a caller waits for its reply itself: longer than a round trip in a data centre,
        /// and short, because its thread belongs to the Swift concurrency pool.
        static let callerWait: Int64 = 250_000

        let settings: RedisSettings
        let handlers: RedisClient.Handlers
        let limit: Int64
        let state = Mutex(State())
        let wakeup: WakeupPipe?
        /// The time at which the loop wakes up by itself.
        let nextWakeup = Atomic<Int64>(.max)
        /// The callers that wait for replies.
        ///
        /// Only a single caller receives its reply itself: with more, the loop receives the replies
        /// of many at a time.
        let callers = Atomic(0)

        init(settings: RedisSettings, handlers: RedisClient.Handlers) {
            self.settings = settings
            self.handlers = handlers
            limit = max(settings.commandLimit.clamped.wholeNanoseconds, 1_000_000)
            wakeup = WakeupPipe()
        }

        var evictsIndex: Bool { state.withLock { $0.evictsIndex } }

        func sha(of script: StoreScript) -> String? {
            state.withLock { script.index < $0.scripts.count ? $0.scripts[script.index] : nil }
        }

        private enum Action {
            case send(RedisLink)
            case start
            case wait
            case fail(RedisFailure)
        }

        /// Sends a batch, lets it wait for the connection, or fails it.
        ///
        /// - Parameter mayRead: Whether the calling thread may wait for the reply, for a short time.
        func submit(_ batch: RedisBatch, isRecovery: Bool, mayRead: Bool) {
            guard batch.count > 0 else { return batch.succeed() }
            let now = RedisTime.now
            switch state.withLock({ plan(&$0, batch, now: now, isRecovery: isRecovery) }) {
            case .send(let link): send(batch, link, now: now, mayRead: mayRead)
            case .start:
                let isStarted = SystemThread.start {
                    errand_redis_name_thread("errand-redis")
                    RedisLoop(self).run()
                }
                if !isStarted { endWithoutThread() }
            case .wait: wakeup?.wake()
            case .fail(let failure): batch.fail(failure)
            }
        }

        /// Fails the commands that wait for a loop that could not start; the next one tries again.
        private func endWithoutThread() {
            let waiters = state.withLock { state in
                state.isRunning = false
                return exchange(&state.waiters, with: [])
            }
            for waiter in waiters { waiter.batch.fail(.noThread) }
        }

        private func send(_ batch: RedisBatch, _ link: RedisLink, now: Int64, mayRead: Bool) {
            let sent = link.send(batch, now: now, mayRead: mayRead)
            guard sent.isAccepted else {
                return batch.fail(
                    RedisFailure(kind: .connectionLost, message: "the connection has just ended"))
            }
            if sent.wakesLoop || nextWakeup.load(ordering: .sequentiallyConsistent) > now + limit {
                wakeup?.wake()
            }
            if sent.callerReads, link.receiveReply(of: batch, until: now + Self.callerWait) {
                wakeup?.wake()
            }
        }

        private func plan(
            _ state: inout State, _ batch: RedisBatch, now: Int64, isRecovery: Bool
        ) -> Action {
            guard !state.isClosed, wakeup != nil else {
                return .fail(
                    RedisFailure(kind: .unreachable, message: "the process has no file descriptors")
                )
            }
            let isRecovering = state.health.state == .recovering
            if !(isRecovery && isRecovering) {
                switch state.health.request() {
                case .send: break
                case .bypass(let failure): return .fail(failure)
                case .wait:
                    state.waiters.append(Waiter(batch: batch, deadline: now + limit))
                    defer { state.isRunning = true }
                    return state.isRunning ? .wait : .start
                }
            }
            let links = state.session.links
            guard !links.isEmpty else {
                return .fail(RedisFailure(kind: .bypassed, message: "no connection"))
            }
            state.nextLink = (state.nextLink + 1) % links.count
            return .send(links[state.nextLink])
        }

        /// Ends the recovery, unless further removals were missed meanwhile.
        func recovered() {
            let repeats = state.withLock { state in
                guard state.health.state == .recovering else { return false }
                if handlers.needsRecovery() { return true }
                state.health.recovered()
                return false
            }
            if repeats { handlers.recover() }
        }

        func demandRecovery() {
            let starts = state.withLock { $0.health.recover() }
            if starts { handlers.recover() }
        }

        func recoveryFailed(_ failure: RedisFailure) {
            state.withLock { $0.recoveryFailure = failure }
            wakeup?.wake()
        }

        /// Ends the thread and the connections.
        func shutDown() {
            state.withLock { $0.isClosed = true }
            wakeup?.wake()
        }
    }

    /// A pipe that interrupts `poll`.
    final class WakeupPipe: Sendable {
        let readEnd: Int32
        private let writeEnd: Int32
        private let isSet = Atomic(false)

        init?() {
            var ends: (Int32, Int32) = (-1, -1)
            let result = withUnsafeMutableBytes(of: &ends) { bytes in
                pipe(bytes.bindMemory(to: Int32.self).baseAddress)
            }
            guard result == 0 else { return nil }
            (readEnd, writeEnd) = ends
            for end in [readEnd, writeEnd] {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }

        deinit {
            close(readEnd)
            close(writeEnd)
        }

        /// Interrupts the current or the next `poll`.
        func wake() {
            guard !isSet.exchange(true, ordering: .acquiringAndReleasing) else { return }
            var byte: UInt8 = 1
            _ = write(writeEnd, &byte, 1)
        }

        /// Empties the pipe.
        func clear() {
            var bytes: UInt64 = 0
            _ = read(readEnd, &bytes, 8)
            isSet.store(false, ordering: .releasing)
        }
    }
#endif
