#if Redis
    import CHiredis
    import ErrandHTTP
    import ErrandSystem
    import Synchronization

    /// The thread that receives replies, watches time limits, and has connections made.
    struct RedisLoop {
        private let shared: RedisLoopState

        init(_ shared: RedisLoopState) { self.shared = shared }

        /// Runs until the client is released.
        func run() {
            startConnecting()
            var lastTimeout = Int64.max
            var nextCheck = Int64.max
            while true {
                let links = shared.state.withLock { state in
                    state.isClosed ? nil : (state.session.links, state.session.invalidation)
                }
                guard let (links, invalidation) = links else { return finish() }
                let now = RedisTime.now
                if !links.allSatisfy(\.isWatched) {
                    if now >= nextCheck { for link in links { link.checkUse() } }
                    if now >= nextCheck || nextCheck == .max {
                        nextCheck = now + RedisLoopState.useInterval
                    }
                } else {
                    nextCheck = .max
                }
                // The planned time is kept once more after the last reply, so that a command after
                // another one need not wake the thread to be watched.
                var wakeup = min(nextTime(links, now: now), nextCheck)
                if wakeup == .max, lastTimeout != .max, lastTimeout > now { wakeup = lastTimeout }
                lastTimeout = wakeup
                shared.nextWakeup.store(wakeup, ordering: .sequentiallyConsistent)
                // A command that was sent before the store above did not wake the thread.
                wakeup = min(wakeup, nextTime(links, now: now))
                poll(links, invalidation, until: wakeup)
                let time = RedisTime.now
                receive(links, now: time)
                if let invalidation { receive(invalidation, now: time) }
                watch(links, now: time)
                attend(now: time)
            }
        }

        /// The next time at which something is due; `.max` if nothing is.
        private func nextTime(_ links: [RedisLink], now: Int64) -> Int64 {
            var time = Int64.max
            for link in links {
                if let deadline = link.deadline(limit: shared.limit) { time = min(time, deadline) }
            }
            return shared.state.withLock { state in
                for waiter in state.waiters { time = min(time, waiter.deadline) }
                if let retry = state.health.retryAt { time = min(time, retry) }
                if let replace = state.replaceAt { time = min(time, replace) }
                if state.session.invalidation != nil {
                    if !state.isPinging {
                        time = min(time, state.lastPing + RedisLoopState.pingInterval)
                    }
                    time = min(time, state.lastPong + RedisLoopState.silenceLimit)
                }
                return time
            }
        }

        private func poll(_ links: [RedisLink], _ invalidation: RedisLink?, until time: Int64) {
            guard let wakeup = shared.wakeup else { return }
            var descriptors = [pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0)]
            for link in links {
                // The end of a connection is reported without any event as well.
                let events =
                    (link.isWatched ? Int16(POLLIN) : 0) | (link.hasOutput ? Int16(POLLOUT) : 0)
                descriptors.append(pollfd(fd: link.descriptor, events: events, revents: 0))
            }
            if let invalidation {
                let events = Int16(POLLIN) | (invalidation.hasOutput ? Int16(POLLOUT) : 0)
                descriptors.append(
                    pollfd(fd: invalidation.descriptor, events: events, revents: 0))
            }
            let rest = max(0, time == .max ? -1 : time - RedisTime.now)
            let milliseconds = time == .max ? -1 : Int32(clamping: (rest + 999_999) / 1_000_000)
            _ = ErrandSystem.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
            if descriptors[0].revents != 0 { wakeup.clear() }
            let ended = Int16(POLLHUP) | Int16(POLLERR)
            for (link, descriptor) in zip(links, descriptors.dropFirst())
            where descriptor.revents & ended != 0 { link.connectionEnded() }
        }

        private func receive(_ links: [RedisLink], now: Int64) {
            for link in links {
                do throws(RedisFailure) {
                    link.flush(now: now)
                    try link.receive(now: now, unexpected: RedisFailure.refuse)
                } catch { return lose(error) }
            }
        }

        /// Ends all connections; a server that closed them is connected again at once.
        private func lose(_ failure: RedisFailure) {
            let now = RedisTime.now
            let (session, isReported) = shared.state.withLock { state in
                defer { state.session = RedisConnector.Session() }
                if failure.kind == .connectionLost {
                    state.health.closed()
                    return (state.session, false)
                }
                let jitter = Double.random(in: 0..<1)
                return (
                    state.session, state.health.failed(failure, now: now, jitter: jitter)
                )
            }
            // Before the commands fail, so that their callers find the problem.
            if isReported { shared.handlers.problem(failure) }
            end(session, failure)
            if failure.kind == .connectionLost { startConnecting() }
        }

        private func end(_ session: RedisConnector.Session, _ failure: RedisFailure) {
            if let invalidation = session.invalidation {
                shared.handlers.heartbeat(nil)
                invalidation.end(failure)
            }
            for link in session.links { link.end(failure) }
        }

        // MARK: - Notices of changed keys

        private func receive(_ link: RedisLink, now: Int64) {
            do throws(RedisFailure) {
                link.flush(now: now)
                try link.receive(now: now) { reply throws(RedisFailure) in handle(reply, now: now) }
            } catch { loseInvalidation(error) }
        }

        private func handle(_ reply: RedisReply, now: Int64) {
            let parts = reply.elements
            switch parts.first?.text {
            case "message":
                guard parts.count == 3 else { return shared.handlers.invalidated(nil) }
                if case .array(let keys) = parts[2] {
                    shared.handlers.invalidated(keys.compactMap(\.text))
                } else {
                    // The whole database was emptied.
                    shared.handlers.invalidated(nil)
                }
            case "pong":
                let sent = shared.state.withLock { state in
                    state.lastPong = now
                    state.isPinging = false
                    return state.lastPing
                }
                shared.handlers.heartbeat(sent)
            default: break
            }
        }

        private func loseInvalidation(_ failure: RedisFailure) {
            shared.handlers.heartbeat(nil)
            let link = shared.state.withLock { state in
                state.replaceAt = 0
                defer { state.session.invalidation = nil }
                return state.session.invalidation
            }
            link?.end(failure)
        }

        private func ping(now: Int64) {
            let (link, isSilent) = shared.state.withLock { state -> (RedisLink?, Bool) in
                guard let link = state.session.invalidation else { return (nil, false) }
                if now - state.lastPong >= RedisLoopState.silenceLimit { return (link, true) }
                guard !state.isPinging, now - state.lastPing >= RedisLoopState.pingInterval
                else { return (nil, false) }
                state.lastPing = now
                state.isPinging = true
                return (link, false)
            }
            guard let link else { return }
            if isSilent {
                return loseInvalidation(
                    RedisFailure(kind: .timedOut, message: "no reply of the connection for notices")
                )
            }
            link.sendUnwatched(RedisCommand("PING").bytes)
        }

        // MARK: - Time

        /// Ends the connections if a command makes no progress.
        private func watch(_ links: [RedisLink], now: Int64) {
            for link in links {
                if let deadline = link.deadline(limit: shared.limit), now >= deadline {
                    return lose(.timedOut(shared.settings.commandLimit))
                }
            }
        }

        private func attend(now: Int64) {
            ping(now: now)
            expireWaiters(now: now)
            let (isDue, replaces, failure) = shared.state.withLock { state in
                let isDue = !state.isConnecting && state.health.attemptIsDue(now: now)
                let replaces =
                    !state.isReplacing && !state.session.links.isEmpty
                    && (state.replaceAt.map { $0 <= now } ?? false)
                if replaces {
                    state.replaceAt = nil
                    state.isReplacing = true
                }
                defer { state.recoveryFailure = nil }
                return (isDue, replaces, state.recoveryFailure)
            }
            if isDue { startConnecting() }
            if replaces { startReplacing() }
            if let failure, shared.state.withLock({ $0.health.state == .recovering }) {
                lose(RedisFailure(kind: .timedOut, message: failure.message))
            }
            takeResults(now: now)
        }

        private func expireWaiters(now: Int64) {
            let failure = RedisFailure(
                kind: .unreachable,
                message: "no connection within \(shared.settings.commandLimit.wholeMilliseconds) ms"
            )
            let (expired, isReported) = shared.state.withLock { state in
                guard state.waiters.contains(where: { $0.deadline <= now }) else {
                    return ([RedisLoopState.Waiter](), false)
                }
                defer { state.waiters = [] }
                return (state.waiters, state.health.waitExpired(failure))
            }
            if isReported { shared.handlers.problem(failure) }
            for waiter in expired { waiter.batch.fail(failure) }
        }

        private func finish() {
            let (session, waiters) = shared.state.withLock { state in
                defer {
                    state.session = RedisConnector.Session()
                    state.waiters = []
                }
                return (state.session, state.waiters)
            }
            let failure = RedisFailure(kind: .connectionLost, message: "the store was released")
            end(session, failure)
            for waiter in waiters { waiter.batch.fail(failure) }
        }
    }

    // MARK: - Connecting

    extension RedisLoop {
        private func startConnecting() {
            let mustStart = shared.state.withLock { state in
                defer { state.isConnecting = true }
                return !state.isConnecting && !state.isClosed
            }
            guard mustStart else { return }
            inThread(
                { connector throws(RedisFailure) in try connector.connect() },
                then: { state, result in state.result = result })
        }

        private func startReplacing() {
            inThread(
                { connector throws(RedisFailure) in try connector.connectInvalidation() },
                then: { state, result in state.replacement = result })
        }

        /// Connects in a thread of its own, and lets the loop take the result.
        private func inThread<Connection: Sendable>(
            _ connect: @escaping @Sendable (RedisConnector) throws(RedisFailure) -> Connection,
            then keep:
                @escaping @Sendable (
                    inout RedisLoopState.State, Result<Connection, RedisFailure>
                ) -> Void
        ) {
            let end = { @Sendable [shared] (result: Result<Connection, RedisFailure>) in
                shared.state.withLock { keep(&$0, result) }
                shared.wakeup?.wake()
            }
            let isStarted = SystemThread.start { [shared] in
                errand_redis_name_thread("errand-redis-c")
                end(
                    Result { () throws(RedisFailure) in
                        try connect(RedisConnector(settings: shared.settings))
                    })
            }
            if !isStarted { end(.failure(.noThread)) }
        }

        private func takeResults(now: Int64) {
            let (result, replacement) = shared.state.withLock { state in
                defer {
                    if state.result != nil { state.isConnecting = false }
                    if state.replacement != nil { state.isReplacing = false }
                    state.result = nil
                    state.replacement = nil
                }
                return (state.result, state.replacement)
            }
            switch result {
            case .success(let session): adopt(session, now: now)
            case .failure(let failure): refuse(failure, now: now)
            case nil: break
            }
            switch replacement {
            case .success(let (link, id)): adopt(link, id, now: now)
            case .failure:
                shared.state.withLock { $0.replaceAt = now + 500_000_000 }
            case nil: break
            }
        }

        private func adopt(_ session: RedisConnector.Session, now: Int64) {
            for problem in session.problems { shared.handlers.problem(problem) }
            let (waiters, needsRecovery) = shared.state.withLock { state in
                let needsRecovery = shared.handlers.needsRecovery()
                state.session = session
                state.scripts = session.scripts
                state.evictsIndex = session.evictsIndex
                state.replaceAt = nil
                (state.lastPing, state.lastPong, state.isPinging) = (0, now, false)
                state.health.connected(needsRecovery: needsRecovery)
                defer { state.waiters = [] }
                return (state.waiters, needsRecovery)
            }
            if needsRecovery { shared.handlers.recover() }
            for waiter in waiters {
                if needsRecovery {
                    waiter.batch.fail(
                        RedisFailure(
                            kind: .bypassed, message: "removals that it missed are being repeated"))
                } else {
                    shared.submit(waiter.batch, isRecovery: false, mayRead: false)
                }
            }
        }

        private func refuse(_ failure: RedisFailure, now: Int64) {
            let (waiters, isReported) = shared.state.withLock { state in
                let jitter = Double.random(in: 0..<1)
                let isReported = state.health.failed(failure, now: now, jitter: jitter)
                defer { state.waiters = [] }
                return (state.waiters, isReported)
            }
            if isReported { shared.handlers.problem(failure) }
            for waiter in waiters { waiter.batch.fail(failure) }
        }

        /// Uses a new connection for notices, and has the others direct their notices to it.
        private func adopt(_ link: RedisLink, _ id: Int, now: Int64) {
            let links = shared.state.withLock { $0.session.links }
            guard !links.isEmpty else { return }
            let remaining = SharedCount(count: links.count)
            for data in links {
                let batch = RedisBatch([RedisConnector.tracking(id)]) { [shared] outcome in
                    guard case .success(let replies) = outcome, replies == [.status("OK")] else {
                        return
                    }
                    guard remaining.decrement() else { return }
                    shared.state.withLock { state in
                        // Another session has its own connection for notices.
                        guard state.session.links.first === links.first else { return }
                        state.session.invalidation = link
                        (state.lastPing, state.lastPong, state.isPinging) = (0, now, false)
                    }
                }
                if !data.send(batch, now: now, mayRead: false).isAccepted { return }
            }
        }
    }

    /// Counts down; true once at zero.
    private final class SharedCount: Sendable {
        private let left: Atomic<Int>

        init(count: Int) { left = Atomic(count) }

        func decrement() -> Bool {
            left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        }
    }
#endif
