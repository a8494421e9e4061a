#if os(Linux)
    import CLibcurl
    import Dispatch
    import ErrandCore
    import Glibc

    /// The one thread that owns libcurl's multi handle, its easy handles and its sockets.
    ///
    /// Each turn: read the mailbox, let libcurl's timer and our deadlines act, collect what is done, sleep in
    /// `epoll_wait` until a socket, a deadline or the mailbox has something. `docs/curl-loop.md` has the picture.
    final class EventLoop {
        private let mailbox: Mailbox
        private let poll: Int32
        private let wakeUp: Int32
        private var multi: UnsafeMutableRawPointer?

        /// The moment this turn began.
        @exclusivity(unchecked) private(set) var now = EventLoop.readClock()
        /// What all exchanges share because only one of them is served at a time.
        let workbench = Workbench()
        /// TLS sessions for new connections.
        let sessions: SessionShelf

        @exclusivity(unchecked) var sockets: SocketTable
        @exclusivity(unchecked) private var batch: [Mailbox.Message] = []
        @exclusivity(unchecked) private(set) var active: [Exchange] = []
        @exclusivity(unchecked) private var spare: [Exchange] = []
        @exclusivity(unchecked) private var curlTimer = MonotonicTime.never
        @exclusivity(unchecked) private var nextSweep = MonotonicTime.never
        @exclusivity(unchecked) private var answered: [Exchange] = []
        @exclusivity(unchecked) private var gate = StreamGate<GateTicket>()
        @exclusivity(unchecked) private var admitted: [(waiting: GateTicket, place: GatePlace)] = []
        /// Who is yet to be told of an end; see ``tellEnds()``.
        @exclusivity(unchecked) private var ends:
            [(receiver: any TransferReceiver, end: TransferEnd)] = []
        @exclusivity(unchecked) private var lastTicket: UInt64 = 0
        private var isShutDown = false
        private var isClosing = false

        init(mailbox: Mailbox, configuration: CurlConfiguration, poll: Int32, wakeUp: Int32) {
            self.mailbox = mailbox
            self.poll = poll
            self.wakeUp = wakeUp
            sockets = SocketTable(poll: poll)
            sessions = SessionShelf(isEnabled: configuration.resumesTLSSessions)
            CurlLibrary.initialize()
            multi = curl_multi_init()
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

        /// Serves until the mailbox is closed and every transfer has ended.
        func run() {
            let capacity = 128
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
            defer { events.deallocate() }
            while true {
                mailbox.take(into: &batch)
                // What idle connections have said by now must not become the answer to what begins here.
                if !batch.isEmpty {
                    serveEvents(epoll_wait(poll, events, Int32(capacity), 0), events)
                }
                readBatch()
                beginAdmitted()
                nudgeAnswered()
                serveTimers()
                collect()
                tellEnds()
                if isClosing, active.isEmpty, mailbox.leave() { return cleanUp() }
                // A leaver whom a poster still holds up looks again at once: nobody would wake it.
                let isLeaving = isClosing && active.isEmpty
                let mayWait =
                    !isLeaving && answered.isEmpty && admitted.isEmpty && curlTimer > now
                    && mailbox.fallAsleep()
                let limit = mayWait ? min(curlTimer, nextSweep).milliseconds(from: now) : 0
                let count = epoll_wait(poll, events, Int32(capacity), limit)
                if mayWait { mailbox.wake() }
                serveEvents(count, events)
                if count > 0 {
                    collect()
                    tellEnds()
                }
            }
        }

        // MARK: - Events

        private func serveEvents(_ count: Int32, _ events: UnsafePointer<epoll_event>) {
            now = EventLoop.readClock()
            for index in 0..<Int(max(0, count)) { serve(events + index) }
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
                var running: Int32 = 0
                curl_multi_socket_action(multi, socket, action, &running)
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

        private func serveTimers() {
            // A new transfer asks to be called again at once, a few times: cheaper here than by way of `epoll_wait`.
            var rounds = 0
            while curlTimer <= now, rounds < 4 {
                curlTimer = .never
                rounds += 1
                var running: Int32 = 0
                curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
            }
            if nextSweep <= now { sweep() }
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

        /// An exchange has ended; its receiver hears of it within this turn.
        func ended(_ receiver: any TransferReceiver, _ end: consuming TransferEnd) {
            ends.append((receiver, end))
        }

        /// Tells all ends of a turn, several of them from a thread of the pool: each wakes a task, and from here each
        /// would wake a thread of the pool anew, which takes one task and falls asleep again.
        private func tellEnds() {
            guard !ends.isEmpty else { return }
            settleDoubts()
            if ends.count == 1 {
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

        // MARK: - The gate

        typealias GatePlace = StreamGate<GateTicket>.Place

        /// An exchange that waits, as it was when it began to.
        struct GateTicket {
            let exchange: Exchange
            let number: UInt64
        }

        /// False when the exchange has to wait for a place.
        private func enterGate(_ exchange: Exchange, _ request: TransportRequest) -> Bool {
            guard Exchange.isGated(request), let host = request.host else {
                return true
            }
            let origin = StreamGate<GateTicket>.Origin(host: host, port: request.url.effectivePort)
            let ticket = GateTicket(exchange: exchange, number: lastTicket + 1)
            return takesPlace(gate.enter(origin, ticket), for: ticket)
        }

        /// The same for one that has lost its connection.
        func reentersGate(_ exchange: Exchange) -> Bool {
            guard let lost = exchange.place else { return true }
            exchange.place = nil
            let ticket = GateTicket(exchange: exchange, number: lastTicket + 1)
            return takesPlace(gate.reenter(lost, ticket), for: ticket)
        }

        private func takesPlace(_ place: GatePlace?, for ticket: GateTicket) -> Bool {
            if let place {
                ticket.exchange.place = place
                return true
            }
            lastTicket = ticket.number
            ticket.exchange.hold(ticket: ticket.number)
            return false
        }

        /// An exchange that went ahead has its connection.
        func passedGate(_ exchange: Exchange, isNew: Bool, isShared: Bool) {
            guard let place = exchange.place, place.isAhead else { return }
            exchange.place?.isAhead = false
            admitted += gate.connected(place, isNew: isNew, isShared: isShared)
        }

        private func leaveGate(_ exchange: Exchange) {
            guard let place = exchange.place else { return }
            exchange.place = nil
            admitted += gate.leave(place, isStillAhead: place.isAhead)
        }

        /// Those who have been given a place begin, outside of libcurl.
        private func beginAdmitted() {
            while !admitted.isEmpty {
                let batch = admitted
                admitted.removeAll(keepingCapacity: true)
                for (ticket, place) in batch {
                    guard ticket.exchange.isHeld(ticket.number) else {
                        admitted += gate.leave(place, isStillAhead: place.isAhead)
                        continue
                    }
                    ticket.exchange.place = place
                    ticket.exchange.begin()
                }
            }
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

        func open(_ address: UnsafePointer<curl_sockaddr>, isPlain: Bool) -> Int32 {
            let socket = errand_socket(address)
            sockets.opened(socket, isPlain: isPlain)
            return socket
        }

        func close(_ socket: Int32) -> Int32 {
            sockets.closed(socket)
            return Glibc.close(socket)
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
