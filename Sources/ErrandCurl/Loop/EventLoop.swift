#if os(Linux)
    // Performance annotations: decision 17.
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// libcurl's multi handle with its easy handles and sockets; ``LoopLock`` admits one thread.
    ///
    /// Each turn processes socket events, the mailbox, libcurl's timer, deadlines and finished
    /// transfers. Then the loop sleeps until an event or a message (`docs/curl-transport.md`).
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
        /// Closes connections that block a call of libcurl.
        let watchdog = StallWatchdog()
        private var isOpen = false
        /// The engine, if it is on.
        private(set) var engine: Engine?
        /// The socket that stays open when libcurl closes it; -1 for none.
        var socketToKeep: Int32 = -1
        /// The engine's connections that libcurl counts among its own.
        var keptHandles = 0 { didSet { limitIdleConnections() } }

        /// The time at which this turn began.
        private(set) var now = EventLoop.readClock()
        /// Buffers that all easy handles share, because only one of them is processed at a time.
        let scratch = LoopScratch()
        /// TLS sessions for new connections.
        let sessions: TLSSessionCache

        @exclusivity(unchecked) var sockets: SocketTable
        /// The number of reads of shared connections within one call of libcurl.
        var readsInCall = 0
        /// The number of the current call of libcurl.
        var callNumber: UInt64 = 0
        /// The last stream that each server has processed according to its GOAWAY, by connection;
        /// see EasyHandle+Replay.swift.
        var lastStreams: [UnsafeMutableRawPointer: UInt32] = [:]
        @exclusivity(unchecked) private var batch: [Mailbox.Message] = []
        @exclusivity(unchecked) private(set) var active: [EasyHandle] = []
        @exclusivity(unchecked) private var spare: [EasyHandle] = []
        var curlTimer = MonotonicTime.never
        private var nextSweep = MonotonicTime.never
        /// The end of the thread's sleep, and whether a caller has run a turn meanwhile.
        private var asleepUntil = MonotonicTime.never
        private var wasCallerTurn = false
        /// The origins for which a caller may run a turn.
        @exclusivity(unchecked) var origins = RecentOrigins()
        @exclusivity(unchecked) private var refusedUploads: [EasyHandle] = []
        @exclusivity(unchecked) var admission = HTTP2Admission<AdmissionTicket>()
        @exclusivity(unchecked) var admitted: [(waiting: AdmissionTicket, slot: AdmissionSlot)] = []
        /// The ends that are not yet reported; see ``reportEnds(isCallerTurn:)``.
        @exclusivity(unchecked) var ends: [EndedTransfer] = []
        var lastTicket: UInt64 = 0
        /// The connections whose writes wait for the end of this turn.
        @exclusivity(unchecked) var unflushed: [SharedWrites] = []
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
            setLimits(of: multi)
            if configuration.http1Engine == .own {
                engine = Engine(loop: self, poll: poll, configuration: configuration)
            }
        }

        /// Frees libcurl's handles.
        ///
        /// Closing connections invokes callbacks, so `deinit` would be too late.
        private func cleanUp() {
            spare.removeAll()
            refusedUploads.removeAll()
            admitted.removeAll()
            connectionTable.isShuttingDown = true
            engine?.cleanUp()
            if let multi { curl_multi_cleanup(multi) }
            reportClosedConnections()
            sockets.cleanUp()
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
                flushWrites()
                reportEnds()
            }
            mailbox.take(into: &batch)
            // Unsolicited data on idle connections must not become the response to a request that
            // starts now.
            if !batch.isEmpty { checkIdleSockets(events) }
            readBatch()
            startAdmitted()
            resumeRefusedUploads()
            engine?.continueWork()
            runCurlTimer()
            if nextSweep <= now { sweep() }
            collect()
            flushWrites()
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
            startAdmitted()
            runCurlTimer()
            collect()
            flushWrites()
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
            !refusedUploads.isEmpty || !admitted.isEmpty || engine?.isBusy == true
                || curlTimer <= now || nextSweep <= now
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
                // libcurl might close a connection that was opened for the engine when another
                // transfer starts.
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
            let flushing = flags & errand_epoll_out != 0 ? sockets.flushing(on: socket) : nil
            flushing?.flush()
            if socket == wakeUp {
                var count: UInt64 = 0
                _ = read(wakeUp, &count, MemoryLayout<UInt64>.size)
            } else if let engine, engine.serve(socket, flags) {
                return
            } else if sockets.recordEvents(flags, of: socket, at: now) {
                var action: Int32 = 0
                if flags & errand_epoll_in != 0 { action |= CURL_CSELECT_IN }
                if flags & errand_epoll_out != 0 { action |= CURL_CSELECT_OUT }
                if flags & errand_epoll_failure != 0 { action |= CURL_CSELECT_ERR }
                call(socket, action)
            } else {
                // The input belongs to an idle connection and is probably its end, or to a
                // connection whose receiver pauses.
                let isForReceiver = active.contains { $0.isPaused(on: socket) }
                let hasInput = flags & (errand_epoll_in | errand_epoll_failure) != 0
                if hasInput, !isForReceiver {
                    noteIdleInput(on: socket)
                    sockets.cutOff(socket)
                } else if hasInput || flushing == nil {
                    sockets.unwatch(socket)
                }
                sockets.watchFlush(socket)
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
            var late: [(EasyHandle, RequestError.TimeoutKind)] = []
            var completeRefusals: [EasyHandle] = []
            for easyHandle in active {
                let socket = easyHandle.connection.established?.socket
                let result = easyHandle.deadlines.check(at: now) {
                    socket.flatMap { SendQueue(of: $0) }
                }
                switch result {
                case .expired(.idle):
                    if let moment = easyHandle.postponeIdle(at: now) {
                        nextSweep = min(nextSweep, moment)
                    } else {
                        late.append((easyHandle, .idle))
                    }
                case .expired(let kind): late.append((easyHandle, kind))
                case .next(let moment):
                    nextSweep = min(nextSweep, moment, easyHandle.checkUploadStall())
                    if easyHandle.isRefusalComplete { completeRefusals.append(easyHandle) }
                }
            }
            for easyHandle in completeRefusals { easyHandle.takeResponse() }
            for (easyHandle, kind) in late { easyHandle.expire(kind) }
            if let engine { nextSweep = min(nextSweep, engine.sweep(at: now)) }
        }

        /// Queues an upload whose refusal arrived before its request was completely sent; it is
        /// resumed after libcurl returns.
        func queueRefusedUpload(of easyHandle: EasyHandle) { refusedUploads.append(easyHandle) }

        private func resumeRefusedUploads() {
            guard !refusedUploads.isEmpty else { return }
            let easyHandles = refusedUploads
            refusedUploads.removeAll(keepingCapacity: true)
            for easyHandle in easyHandles { easyHandle.resumeRefusedUpload() }
        }

        /// Makes sure that the deadlines are checked by this time.
        func scheduleSweep(by moment: MonotonicTime) { nextSweep = min(nextSweep, moment) }

        private func collect() {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle
                else { continue }
                let result = errand_message_result(message)
                if let engine, engine.finishConnect(handle, result) { continue }
                var context: UnsafeMutablePointer<CChar>?
                errand_get_string(handle, CURLINFO_PRIVATE, &context)
                guard let context else { continue }
                Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().libcurlFinished(
                    result)
            }
        }

        // MARK: - Messages

        private func readBatch() {
            guard !batch.isEmpty else { return }
            for message in batch {
                switch message {
                case .start(let transfer): start(transfer)
                case .attend(let transfer): attend(transfer)
                case .close: isClosing = true
                case .shutDown:
                    isShutDown = true
                    isClosing = true
                    for easyHandle in active { easyHandle.stop(.shutDown) }
                    engine?.shutDown()
                }
            }
            batch.removeAll(keepingCapacity: true)
        }

        /// Starts a transfer on the path that carries its request.
        private func start(_ transfer: CurlTransfer) {
            if let engine { return engine.start(transfer) }
            let easyHandle = spare.popLast() ?? EasyHandle(loop: self)
            easyHandle.activeIndex = active.count
            active.append(easyHandle)
            transfer.easyHandle = easyHandle
            easyHandle.assign(transfer)
            if isShutDown {
                easyHandle.stop(.shutDown)
            } else if transfer.signals().contains(.cancel) {
                easyHandle.stop(.cancelled)
            } else if requestAdmission(easyHandle, transfer.request) {
                easyHandle.begin()
            }
        }

        private func attend(_ transfer: CurlTransfer) {
            let signals = transfer.takeSignals()
            // A receiver that resumes, or a body source, may take any time.
            sockets.expireIdleCheck()
            if let exchange = transfer.exchange { return exchange.attend(signals) }
            guard let easyHandle = transfer.easyHandle else { return }
            if signals.contains(.cancel) { return easyHandle.stop(.cancelled) }
            if signals.contains(.readable) { easyHandle.bodyIsReadable() }
            if signals.contains(.resume), transfer.easyHandle != nil { easyHandle.resume() }
        }

        // MARK: - Easy handles

        /// Makes an easy handle whose transfer has ended available for another transfer.
        func recycle(_ easyHandle: EasyHandle) {
            let index = easyHandle.activeIndex
            guard active.indices.contains(index), active[index] === easyHandle else { return }
            releaseSlot(easyHandle)
            active[index] = active[active.count - 1]
            active[index].activeIndex = index
            active.removeLast()
            if spare.count < 256 { spare.append(easyHandle) }
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
