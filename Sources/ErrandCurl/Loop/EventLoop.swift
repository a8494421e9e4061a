#if os(Linux)
    import CLibcurl
    import Dispatch
    import ErrandCore
    import Glibc

    /// libcurl's multi handle, its easy handles and its sockets, for whoever has the turn (``LoopTurns``).
    ///
    /// Each turn of its thread: what the sockets have, the mailbox, libcurl's timer and our deadlines, what is done; then it
    /// sleeps until a socket, a deadline or the mailbox has something. `docs/curl-loop.md` has the picture.
    final class EventLoop {
        private let mailbox: Mailbox
        private let poll: Int32
        private let wakeUp: Int32
        private let configuration: CurlConfiguration
        private(set) var multi: UnsafeMutableRawPointer?
        /// Ends what holds a call of libcurl.
        let watch = CallWatch()
        private var isOpen = false

        /// The moment this turn began.
        @exclusivity(unchecked) private(set) var now = EventLoop.readClock()
        /// What all exchanges share because only one of them is served at a time.
        let workbench = Workbench()
        /// TLS sessions for new connections.
        let sessions: SessionShelf

        @exclusivity(unchecked) var sockets: SocketTable
        /// What shared connections have read within one call of libcurl; see Exchange+Flood.swift.
        @exclusivity(unchecked) var readsInCall = 0
        /// Which call of libcurl this is.
        @exclusivity(unchecked) var callNumber: UInt64 = 0
        /// Up to which stream servers that went away have looked, by connection; see Exchange+Unprocessed.swift.
        @exclusivity(unchecked) var lastStreams: [UnsafeMutableRawPointer: UInt32] = [:]
        @exclusivity(unchecked) private var batch: [Mailbox.Message] = []
        @exclusivity(unchecked) private(set) var active: [Exchange] = []
        @exclusivity(unchecked) private var spare: [Exchange] = []
        @exclusivity(unchecked) private var curlTimer = MonotonicTime.never
        @exclusivity(unchecked) private var nextSweep = MonotonicTime.never
        /// Until when the loop's thread means to sleep, and whether somebody has had a turn meanwhile.
        @exclusivity(unchecked) private var asleepUntil = MonotonicTime.never
        @exclusivity(unchecked) private var wasLent = false
        /// To where a turn may be lent.
        @exclusivity(unchecked) private var origins = RecentOrigins()
        @exclusivity(unchecked) private var answered: [Exchange] = []
        @exclusivity(unchecked) var gate = StreamGate<GateTicket>()
        @exclusivity(unchecked) var admitted: [(waiting: GateTicket, place: GatePlace)] = []
        /// Who is yet to be told of an end; see ``tellEnds()``.
        @exclusivity(unchecked) private var ends:
            [(receiver: any TransferReceiver, end: TransferEnd)] = []
        @exclusivity(unchecked) var lastTicket: UInt64 = 0
        private var isShutDown = false
        private var isClosing = false

        init(mailbox: Mailbox, configuration: CurlConfiguration, poll: Int32, wakeUp: Int32) {
            self.mailbox = mailbox
            self.poll = poll
            self.wakeUp = wakeUp
            sockets = SocketTable(poll: poll)
            sessions = SessionShelf(isEnabled: configuration.resumesTLSSessions)
            self.configuration = configuration
        }

        /// Gets ready, in the first turn of the thread.
        private func open() {
            CurlLibrary.initialize()
            multi = curl_multi_init()
            isOpen = true
            guard let multi else { return }
            let context = Unmanaged.passUnretained(self).toOpaque()
            _ = errand_multi_set_callbacks(multi, onSocket, onTimer, context)
            set(CURLMOPT_MAXCONNECTS, max(1, configuration.idleConnections))
            set(CURLMOPT_MAX_TOTAL_CONNECTIONS, max(0, configuration.maximumConnections ?? 0))
            set(CURLMOPT_MAX_HOST_CONNECTIONS, max(0, configuration.connectionsPerHost ?? 0))
            // How many requests share a connection is the server's to say.
            set(CURLMOPT_MAX_CONCURRENT_STREAMS, 1000)
        }

        /// Gives libcurl's handles back.
        ///
        /// Closing connections calls back, so this cannot wait for `deinit`.
        private func cleanUp() {
            spare.removeAll()
            answered.removeAll()
            admitted.removeAll()
            if let multi { curl_multi_cleanup(multi) }
            sockets.cleanUp()
            multi = nil
            sessions.close()
        }

        // MARK: - Turns

        /// A turn of the loop's own thread, with what it has found after sleeping.
        ///
        /// Returns for how many milliseconds it may sleep next, -1 for as long as nothing happens; `nil` when the mailbox
        /// is closed and every transfer has ended.
        func turn(_ events: EventBuffer) -> Int32? {
            if !isOpen { open() }
            // What was found before somebody else's turn may have been served in it: the answer may be read, the
            // connection idle, the number another socket's.
            if wasLent { events.wait(0) }
            wasLent = false
            serve(events.found)
            if !events.found.isEmpty {
                collect()
                tellEnds()
            }
            mailbox.take(into: &batch)
            // What idle connections have said by now must not become the answer to what begins here.
            if !batch.isEmpty {
                events.wait(0)
                serve(events.found)
            }
            readBatch()
            beginAdmitted()
            nudgeAnswered()
            runCurlTimer()
            if nextSweep <= now { sweep() }
            collect()
            tellEnds()
            if isClosing, active.isEmpty, mailbox.leave() {
                cleanUp()
                return nil
            }
            // A leaver whom a poster still holds up looks again at once: nobody would wake it.
            let isLeaving = isClosing && active.isEmpty
            guard !isLeaving, !isBusy, mailbox.fallAsleep(lends: active.count < Self.fewTransfers)
            else { return 0 }
            asleepUntil = min(curlTimer, nextSweep)
            return asleepUntil.milliseconds(from: now)
        }

        /// A turn of somebody who has put a new transfer down while the loop's thread sleeps: waking that costs more than
        /// the turn does.
        ///
        /// Only what begins is looked after. True where the thread has to be woken, for the rest or for all of it.
        func lentTurn() -> Bool {
            var event = epoll_event()
            guard multi != nil, epoll_wait(poll, &event, 1, 0) == 0,
                mailbox.takeStarts(into: &batch, where: { origins.contains($0.url, $0.options) })
            else { return true }
            now = EventLoop.readClock()
            wasLent = true
            readBatch()
            beginAdmitted()
            runCurlTimer()
            collect()
            tellEnds(isLent: true)
            return isBusy || min(curlTimer, nextSweep) < asleepUntil
        }

        /// With so many under way the thread sleeps for moments only, and two who want the turn are in each other's way.
        private static var fewTransfers: Int { 8 }

        /// Whether there is something to do at once.
        private var isBusy: Bool {
            !answered.isEmpty || !admitted.isEmpty || curlTimer <= now || nextSweep <= now
        }

        // MARK: - Events

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
            } else if sockets.notes(flags, of: socket, at: now) {
                var action: Int32 = 0
                if flags & errand_epoll_in != 0 { action |= CURL_CSELECT_IN }
                if flags & errand_epoll_out != 0 { action |= CURL_CSELECT_OUT }
                if flags & errand_epoll_failure != 0 { action |= CURL_CSELECT_ERR }
                call(socket, action)
            } else {
                // An idle connection speaks, most likely to say goodbye; or one whose receiver pauses.
                let isForReceiver = active.contains { $0.isAtRest(on: socket) }
                let hasSpoken = flags & (errand_epoll_in | errand_epoll_failure) != 0
                if hasSpoken, !isForReceiver {
                    sockets.cutOff(socket)
                } else {
                    sockets.unwatch(socket)
                }
            }
        }

        private func runCurlTimer() {
            // A new transfer asks to be called again at once, a few times: cheaper here than by way of `epoll_wait`.
            var rounds = 0
            while curlTimer <= now, rounds < 4 {
                curlTimer = .never
                rounds += 1
                call(CURL_SOCKET_TIMEOUT)
            }
        }

        /// Ends what has waited for too long and finds out when to look again.
        ///
        /// One look at all transfers, rarely, is cheaper than a timer for each.
        private func sweep() {
            nextSweep = .never
            var late: [(Exchange, RequestError.TimeoutKind)] = []
            var spoken: [Exchange] = []
            for exchange in active {
                switch exchange.deadlines.check(at: now) {
                case .expired(let kind): late.append((exchange, kind))
                case .next(let moment):
                    nextSweep = min(nextSweep, moment, exchange.nudgeIfStalled())
                    if exchange.hasSpoken { spoken.append(exchange) }
                }
            }
            for exchange in spoken { exchange.takeAnswer() }
            for (exchange, kind) in late { exchange.expire(kind) }
        }

        /// An exchange has got (more of) its answer before its request was out; it is to be looked after when
        /// libcurl has returned.
        func expectNudge(of exchange: Exchange) { answered.append(exchange) }

        private func nudgeAnswered() {
            guard !answered.isEmpty else { return }
            let exchanges = answered
            answered.removeAll(keepingCapacity: true)
            for exchange in exchanges { exchange.nudgeAnswered() }
        }

        /// A deadline has come nearer.
        func expectSweep(by moment: MonotonicTime) { nextSweep = min(nextSweep, moment) }

        private func collect() {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle
                else { continue }
                let result = errand_message_result(message)
                var context: UnsafeMutablePointer<CChar>?
                errand_get_string(handle, CURLINFO_PRIVATE, &context)
                guard let context else { continue }
                Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().libcurlFinished(
                    result)
            }
        }

        /// A whole answer has come from there.
        func heard(from request: TransportRequest) { origins.add(request.url, request.options) }

        /// An exchange has ended; its receiver hears of it within this turn.
        func ended(_ receiver: any TransferReceiver, _ end: consuming TransferEnd) {
            ends.append((receiver, end))
        }

        /// Tells all ends of a turn, several of them from a thread of the pool: each wakes a task, and from here each
        /// would wake a thread of the pool anew, which takes one task and falls asleep again.
        private func tellEnds(isLent: Bool = false) {
            guard !ends.isEmpty else { return }
            settleDoubts()
            if ends.count == 1, !isLent {
                ends[0].receiver.didEnd(ends[0].end)
            } else {
                DispatchQueue.global().async { [ends] in
                    for (receiver, end) in ends { receiver.didEnd(end) }
                }
            }
            ends.removeAll()
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
                    for exchange in active { exchange.stop(.shutDown) }
                }
            }
            batch.removeAll(keepingCapacity: true)
        }

        private func start(_ transfer: CurlTransfer) {
            let exchange = spare.popLast() ?? Exchange(loop: self)
            exchange.activeIndex = active.count
            active.append(exchange)
            transfer.exchange = exchange
            exchange.take(transfer)
            if isShutDown {
                exchange.stop(.shutDown)
            } else if transfer.signals().contains(.cancel) {
                exchange.stop(.cancelled)
            } else if enterGate(exchange, transfer.request) {
                exchange.begin()
            }
        }

        private func attend(_ transfer: CurlTransfer) {
            let signals = transfer.takeSignals()
            guard let exchange = transfer.exchange else { return }
            if signals.contains(.cancel) { return exchange.stop(.cancelled) }
            if signals.contains(.readable) { exchange.bodyIsReadable() }
            if signals.contains(.resume), transfer.exchange != nil { exchange.resume() }
        }

        // MARK: - For exchanges

        /// Gives a handle to libcurl.
        func attach(_ exchange: Exchange) -> Bool {
            guard let multi, let handle = exchange.handle else { return false }
            return curl_multi_add_handle(multi, handle) == CURLM_OK
        }

        /// Takes a handle back from libcurl.
        func detach(_ exchange: Exchange) {
            guard let multi, let handle = exchange.handle else { return }
            curl_multi_remove_handle(multi, handle)
        }

        /// The exchange has ended and can serve another transfer.
        func recycle(_ exchange: Exchange) {
            let index = exchange.activeIndex
            guard active.indices.contains(index), active[index] === exchange else { return }
            leaveGate(exchange)
            active[index] = active[active.count - 1]
            active[index].activeIndex = index
            active.removeLast()
            if spare.count < 256 { spare.append(exchange) }
        }

        fileprivate func wish(_ interest: Int32, _ socket: Int32) {
            var events: UInt32 = 0
            if interest != CURL_POLL_REMOVE {
                if interest & CURL_POLL_IN != 0 { events |= errand_epoll_in }
                if interest & CURL_POLL_OUT != 0 { events |= errand_epoll_out }
            }
            sockets.want(events, of: socket)
        }

        fileprivate func setTimer(_ milliseconds: Int) {
            curlTimer = milliseconds < 0 ? .never : now.advanced(milliseconds: milliseconds)
        }

        private func set(_ option: CURLMoption, _ value: Int) {
            _ = errand_multi_set_long(multi, option, value)
        }

        /// The time now, read from the system.
        static func readClock() -> MonotonicTime {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return MonotonicTime(
                nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        }
    }

    private let onSocket: errand_socket_callback = { _, socket, interest, context, _ in
        guard let context else { return 0 }
        Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.wish(interest, socket)
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
