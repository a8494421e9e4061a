#if os(Linux)
    // Performance annotations: decision 17.
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// The events of the sockets, the mailbox and libcurl's multi handle, which opens connections;
    /// ``LoopLock`` admits one thread.
    ///
    /// Each turn processes socket events, the mailbox, libcurl's timer, deadlines and finished
    /// connects. Then the loop sleeps until an event or a message (`docs/curl-transport.md`).
    final class EventLoop {
        private let mailbox: Mailbox
        var connections: ConnectionCount { mailbox.connections }
        var reports: ConnectionReports { mailbox.reports }
        /// The established connections, for events.
        @exclusivity(unchecked) var connectionTable = ConnectionTable()
        private let poll: Int32
        private let wakeUp: Int32
        let configuration: CurlConfiguration
        private(set) var multi: UnsafeMutableRawPointer?
        private var isOpen = false
        /// The engine; `nil` before the first turn.
        private(set) var engine: Engine?
        /// The socket that stays open when libcurl closes it; -1 for none.
        var socketToKeep: Int32 = -1

        /// The time at which this turn began.
        private(set) var now = EventLoop.readClock()
        /// Buffers that all exchanges share, because only one of them is processed at a time.
        let scratch = LoopScratch()
        /// TLS sessions for new connections.
        let sessions: TLSSessionCache

        @exclusivity(unchecked) var sockets: SocketTable
        @exclusivity(unchecked) private var batch: [Mailbox.Message] = []
        var curlTimer = MonotonicTime.never
        private var nextSweep = MonotonicTime.never
        /// The end of the thread's sleep, and whether a caller has run a turn meanwhile.
        private var asleepUntil = MonotonicTime.never
        private var wasCallerTurn = false
        /// The origins for which a caller may run a turn.
        @exclusivity(unchecked) var origins = RecentOrigins()
        /// The ends that are not yet reported; see ``reportEnds(isCallerTurn:)``.
        @exclusivity(unchecked) var ends: [EndedTransfer] = []
        private(set) var isShutDown = false
        private var isClosing = false

        init(mailbox: Mailbox, configuration: CurlConfiguration, poll: Int32, wakeUp: Int32) {
            self.mailbox = mailbox
            self.poll = poll
            self.wakeUp = wakeUp
            sockets = SocketTable(poll: poll)
            sessions = TLSSessionCache(isEnabled: configuration.resumesTLSSessions)
            self.configuration = configuration
        }

        /// Creates the multi handle, in the first turn of the thread.
        private func open() {
            CurlLibrary.initialize()
            multi = curl_multi_init()
            isOpen = true
            guard let multi else { return }
            let context = Unmanaged.passUnretained(self).toOpaque()
            _ = errand_multi_set_callbacks(multi, onSocket, onTimer, context)
            // libcurl counts the connections whose handles carry their bytes, and must not close them; the pool
            // limits their number.
            _ = errand_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Int(Int32.max))
            engine = Engine(loop: self, poll: poll, configuration: configuration)
        }

        /// Frees libcurl's handles.
        ///
        /// Closing connections invokes callbacks, so `deinit` would be too late.
        private func cleanUp() {
            connectionTable.isShuttingDown = true
            engine?.cleanUp()
            if let multi { curl_multi_cleanup(multi) }
            reportClosedConnections()
            multi = nil
            sessions.close()
        }

        // MARK: - Turns

        /// Runs a turn on the loop's own thread, with the events that arrived while it slept.
        ///
        /// Returns the number of milliseconds for which the thread may sleep, -1 for no limit;
        /// `nil` if the mailbox is closed and every transfer has ended.
        func turn(_ events: EventBuffer) -> Int32? {
            if !isOpen { open() }
            sockets.expireIdleCheck()
            // A caller's turn may already have processed these events: the response may be read,
            // the connection idle, or the descriptor reused for another socket.
            if wasCallerTurn { events.wait(0) }
            wasCallerTurn = false
            serve(events.found)
            if !events.found.isEmpty {
                collect()
                engine?.flush()
                reportEnds()
            }
            mailbox.take(into: &batch)
            // Unsolicited data on idle connections must not become the response to a request that
            // starts now.
            if !batch.isEmpty { checkIdleSockets(events) }
            readBatch()
            engine?.continueWork()
            runCurlTimer()
            if nextSweep <= now { sweep() }
            collect()
            engine?.flush()
            reportEnds()
            if isClosing, transferCount == 0, mailbox.leave() {
                cleanUp()
                return nil
            }
            // If a thread is still about to signal this loop, check again at once: no later event
            // would wake it.
            let isLeaving = isClosing && transferCount == 0
            guard !isLeaving, !isBusy,
                mailbox.fallAsleep(allowsCallerTurns: transferCount < Self.callerTurnLimit)
            else { return 0 }
            asleepUntil = min(curlTimer, nextSweep)
            // The turn may have been long, so the clock is read again.
            return asleepUntil == .never ? -1 : asleepUntil.milliseconds(from: Self.readClock())
        }

        /// Runs a turn on the thread of a caller that posted a new transfer, or of a reader that asks
        /// for more of a body, while the loop's thread sleeps.
        ///
        /// This is cheaper than waking the loop's thread (decisions 13 and 29). The turn handles only
        /// such messages. Returns true if the loop's thread must be woken for remaining work.
        func callerTurn() -> Bool {
            var event = epoll_event()
            guard multi != nil, epoll_wait(poll, &event, 1, 0) == 0,
                mailbox.takeAll(into: &batch, where: isForCaller)
            else { return true }
            sockets.checkedIdleSockets(isIdle: true)
            now = EventLoop.readClock()
            wasCallerTurn = true
            readBatch()
            runCurlTimer()
            collect()
            engine?.flush()
            reportEnds(isCallerTurn: true)
            return isBusy || min(curlTimer, nextSweep) < asleepUntil
        }

        /// The number of active transfers from which on callers run no turns.
        ///
        /// With so many transfers the loop's thread sleeps only briefly, and callers would contend
        /// with it for the lock.
        private static var callerTurnLimit: Int { 8 }

        /// Whether there is work to do without waiting.
        private var isBusy: Bool {
            engine?.isBusy == true || curlTimer <= now || nextSweep <= now
        }

        // MARK: - Events

        /// Serves all events that have arrived.
        ///
        /// A second check without events is cheaper than one of each connection that is reused.
        private func checkIdleSockets(_ events: EventBuffer) {
            for _ in 0..<2 {
                events.wait(0)
                sockets.checkedIdleSockets(isIdle: events.found.isEmpty)
                if events.found.isEmpty { return }
                serve(events.found)
                // libcurl might close a connection that was just opened when another connect starts.
                collect()
            }
        }

        private func serve(_ events: UnsafeBufferPointer<epoll_event>) {
            now = EventLoop.readClock()
            guard var event = events.baseAddress else { return }
            for _ in events {
                serve(event)
                event += 1
            }
        }

        private func serve(_ event: UnsafePointer<epoll_event>) {
            let socket = errand_event_descriptor(event)
            let flags = errand_event_flags(event)
            if socket == wakeUp {
                var count: UInt64 = 0
                _ = read(wakeUp, &count, MemoryLayout<UInt64>.size)
            } else if let engine, engine.serve(socket, flags) {
                return
            } else if sockets.isRequested(socket) {
                var action: Int32 = 0
                if flags & errand_epoll_in != 0 { action |= CURL_CSELECT_IN }
                if flags & errand_epoll_out != 0 { action |= CURL_CSELECT_OUT }
                if flags & errand_epoll_failure != 0 { action |= CURL_CSELECT_ERR }
                call(socket, action)
            } else {
                sockets.unwatch(socket)
            }
        }

        private func runCurlTimer() {
            // A new transfer sets a zero timeout a few times. Calling libcurl here is cheaper than
            // another `epoll_wait`.
            var rounds = 0
            while curlTimer <= now, rounds < 4 {
                curlTimer = .never
                rounds += 1
                call(CURL_SOCKET_TIMEOUT)
            }
        }

        /// Ends transfers whose deadline has passed and computes the time of the next check.
        ///
        /// Checking all transfers rarely is cheaper than a timer for each of them.
        private func sweep() {
            nextSweep = .never
            if let engine { nextSweep = min(nextSweep, engine.sweep(at: now)) }
        }

        /// Makes sure that the deadlines are checked by this time.
        func scheduleSweep(by moment: MonotonicTime) { nextSweep = min(nextSweep, moment) }

        private func collect() {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle
                else { continue }
                let result = errand_message_result(message)
                engine?.finishConnect(handle, result)
            }
        }

        // MARK: - Messages

        private func readBatch() {
            guard !batch.isEmpty else { return }
            for message in batch {
                switch message {
                case .start(let transfer): engine?.start(transfer)
                case .attend(let transfer): attend(transfer)
                case .close: isClosing = true
                case .shutDown:
                    isShutDown = true
                    isClosing = true
                    engine?.shutDown()
                }
            }
            batch.removeAll(keepingCapacity: true)
        }

        private func attend(_ transfer: CurlTransfer) {
            let signals = transfer.takeSignals()
            // A receiver that resumes, or a body source, may take any time.
            sockets.expireIdleCheck()
            transfer.exchange?.attend(signals)
        }

        fileprivate func setInterest(_ interest: Int32, _ socket: Int32) {
            var events: UInt32 = 0
            if interest != CURL_POLL_REMOVE {
                if interest & CURL_POLL_IN != 0 { events |= errand_epoll_in }
                if interest & CURL_POLL_OUT != 0 { events |= errand_epoll_out }
            }
            sockets.setRequestedEvents(events, of: socket)
        }

        fileprivate func setTimer(_ milliseconds: Int) {
            curlTimer = milliseconds < 0 ? .never : now.advanced(milliseconds: milliseconds)
        }
    }

    private let onSocket: errand_socket_callback = { _, socket, interest, context, _ in
        guard let context else { return 0 }
        Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.setInterest(interest, socket)
        }
        return 0
    }

    private let onTimer: errand_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.setTimer(milliseconds)
        }
        return 0
    }
#endif
