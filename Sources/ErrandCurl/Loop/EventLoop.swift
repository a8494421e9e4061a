#if os(Linux)
    // Performance annotations: decision 17.
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    /// What a loop drives: transfers and their connections.
    protocol LoopClient: AnyObject {
        /// The number of transfers that have not ended.
        var transferCount: Int { get }
        /// Whether a request waits for a connection, so that the end of another one means work.
        var hasWaiters: Bool { get }
        /// Whether there is work that no event announces.
        var isBusy: Bool { get }
        /// The time at which ``runTimer()`` is to be called.
        var timer: MonotonicTime { get }

        func start(_ transfer: CurlTransfer)
        /// Serves the events of a socket.
        func serve(_ socket: Int32, _ flags: UInt32)
        /// Uses the connections that have been opened.
        func collect()
        /// Does what was left for the next turn.
        func continueWork()
        func runTimer()
        /// Ends transfers whose deadline has passed; returns the time of the next check.
        func sweep(at now: MonotonicTime) -> MonotonicTime
        /// Sends what was collected in the turn.
        func flush()
        /// Reports the connections that were closed in the turn.
        func reportClosed()
        /// Ends all transfers.
        func shutDown()
        /// Closes all connections; no transfer is active.
        func cleanUp()
    }

    /// The events of the sockets and the mailbox; ``LoopLock`` admits one thread.
    ///
    /// Each turn processes socket events, the mailbox, timers and deadlines. Then the loop sleeps until
    /// an event or a message (`docs/curl-transport.md`).
    final class EventLoop {
        private let mailbox: Mailbox
        var connections: ConnectionCount { mailbox.connections }
        var reports: ConnectionReports { mailbox.reports }
        let poll: Int32
        private let wakeUp: Int32
        /// `nil` before the first turn.
        private var client: (any LoopClient)?

        /// The time at which this turn began.
        private(set) var now = EventLoop.readClock()
        /// Buffers that all exchanges share, because only one of them is processed at a time.
        let scratch = LoopScratch()
        @exclusivity(unchecked) var idleCheck = IdleCheck()
        @exclusivity(unchecked) private var batch: [Mailbox.Message] = []
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

        init(mailbox: Mailbox, poll: Int32, wakeUp: Int32) {
            self.mailbox = mailbox
            self.poll = poll
            self.wakeUp = wakeUp
        }

        // MARK: - Turns

        /// Runs a turn on the loop's own thread, with the events that arrived while it slept.
        ///
        /// Returns the number of milliseconds for which the thread may sleep, -1 for no limit;
        /// `nil` if the mailbox is closed and every transfer has ended.
        func turn(_ events: EventBuffer) -> Int32? {
            if client == nil { client = mailbox.makeClient(self) }
            idleCheck.expire()
            // A caller's turn may already have processed these events: the response may be read,
            // the connection idle, or the descriptor reused for another socket.
            if wasCallerTurn { events.wait(0) }
            wasCallerTurn = false
            serve(events.found)
            if !events.found.isEmpty {
                client?.collect()
                client?.flush()
                reportEnds()
            }
            mailbox.take(into: &batch)
            // Unsolicited data on idle connections must not become the response to a request that
            // starts now.
            if !batch.isEmpty { checkIdleSockets(events) }
            readBatch()
            client?.continueWork()
            client?.runTimer()
            if nextSweep <= now { sweep() }
            client?.collect()
            client?.flush()
            reportEnds()
            if isClosing, transferCount == 0, mailbox.leave() {
                client?.cleanUp()
                client = nil
                return nil
            }
            // If a thread is still about to signal this loop, check again at once: no later event
            // would wake it.
            let isLeaving = isClosing && transferCount == 0
            guard !isLeaving, !isBusy,
                mailbox.fallAsleep(allowsCallerTurns: transferCount < Self.callerTurnLimit)
            else { return 0 }
            asleepUntil = min(timer, nextSweep)
            // The turn may have been long, so the clock is read again.
            return asleepUntil == .never ? -1 : asleepUntil.milliseconds(from: Self.readClock())
        }

        /// Runs a turn on the thread of a caller that posted a new transfer or a message of a WebSocket, or of a reader
        /// that asks for more of a body, while the loop's thread sleeps.
        ///
        /// This is cheaper than waking the loop's thread (decisions 13 and 29). The turn handles only
        /// such messages. Returns true if the loop's thread must be woken for remaining work.
        func callerTurn() -> Bool {
            var event = epoll_event()
            guard client != nil, epoll_wait(poll, &event, 1, 0) == 0,
                mailbox.takeAll(into: &batch, where: isForCaller)
            else { return true }
            idleCheck.checked(isIdle: true)
            now = EventLoop.readClock()
            wasCallerTurn = true
            readBatch()
            client?.runTimer()
            client?.collect()
            client?.flush()
            reportEnds(isCallerTurn: true)
            return isBusy || min(timer, nextSweep) < asleepUntil
        }

        /// The number of active transfers from which on callers run no turns.
        ///
        /// With so many transfers the loop's thread sleeps only briefly, and callers would contend
        /// with it for the lock.
        private static var callerTurnLimit: Int { 8 }

        /// Whether there is work to do without waiting.
        private var isBusy: Bool {
            client?.isBusy == true || timer <= now || nextSweep <= now
        }

        private var timer: MonotonicTime { client?.timer ?? .never }

        /// The number of active transfers.
        private var transferCount: Int { client?.transferCount ?? 0 }

        /// Whether a caller may process a message: its request probably finds a connection, or its
        /// transfer only reads, or sends bytes of a protocol that has taken a connection over.
        private func isForCaller(_ message: Mailbox.Message) -> Bool {
            switch message {
            case .start(let transfer):
                origins.contains(transfer.request.url, transfer.request.options)
            case .attend(let transfer):
                transfer.exchange?.isForCaller(transfer.signals()) == true
                    && client?.hasWaiters == false
            case .shutDown, .close: false
            }
        }

        // MARK: - Events

        /// Serves all events that have arrived.
        ///
        /// A second check without events is cheaper than one of each connection that is reused.
        private func checkIdleSockets(_ events: EventBuffer) {
            for _ in 0..<2 {
                events.wait(0)
                idleCheck.checked(isIdle: events.found.isEmpty)
                if events.found.isEmpty { return }
                serve(events.found)
                // libcurl might close a connection that was just opened when another connect starts.
                client?.collect()
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
            } else {
                client?.serve(socket, flags)
            }
        }

        /// Ends transfers whose deadline has passed and computes the time of the next check.
        ///
        /// Checking all transfers rarely is cheaper than a timer for each of them.
        private func sweep() {
            nextSweep = .never
            if let client { nextSweep = min(nextSweep, client.sweep(at: now)) }
        }

        /// Makes sure that the deadlines are checked by this time.
        func scheduleSweep(by moment: MonotonicTime) { nextSweep = min(nextSweep, moment) }

        // MARK: - Messages

        private func readBatch() {
            guard !batch.isEmpty else { return }
            for message in batch {
                switch message {
                case .start(let transfer): client?.start(transfer)
                case .attend(let transfer): attend(transfer)
                case .close: isClosing = true
                case .shutDown:
                    isShutDown = true
                    isClosing = true
                    client?.shutDown()
                }
            }
            batch.removeAll(keepingCapacity: true)
        }

        private func attend(_ transfer: CurlTransfer) {
            let signals = transfer.takeSignals()
            // A receiver that resumes, or a body source, may take any time.
            idleCheck.expire()
            transfer.exchange?.attend(signals)
        }
    }

    extension EventLoop {
        /// Reads the monotonic clock of the system.
        static func readClock() -> MonotonicTime {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return MonotonicTime(
                nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        }
    }

    /// The end of a transfer, and the receiver to notify.
    struct EndedTransfer {
        let receiver: any TransferReceiver
        let end: TransferEnd

        func report() { receiver.didEnd(end) }
    }

    // The ends of transfers.
    extension EventLoop {
        /// Records that a complete response arrived from the request's origin.
        func noteOrigin(of request: TransportRequest) { origins.add(request.url, request.options) }

        /// Queues the end of a transfer; its receiver is notified within this turn.
        func queueEnd(_ receiver: any TransferReceiver, _ end: consuming TransferEnd) {
            ends.append(EndedTransfer(receiver: receiver, end: end))
        }

        /// The number of ends for which there is room before they occur.
        private static var keptEnds: Int { 64 }

        /// Reports all ends of a turn.
        ///
        /// Several ends are reported from a thread of the pool. Each end resumes a task, and
        /// resuming tasks from this thread would wake a pool thread for each of them. The ends of a
        /// caller's turn are reported there too, because receivers must not run on that caller's
        /// thread.
        func reportEnds(isCallerTurn: Bool = false) {
            client?.reportClosed()
            guard !ends.isEmpty else { return }
            if ends.count == 1, !isCallerTurn { return ends.removeLast().report() }
            DispatchQueue.global().async { [ends] in
                // By index: the elements would be copied.
                for index in ends.indices { ends[index].report() }
            }
            // The closure keeps the array; the next turn probably ends as many.
            let count = min(ends.count, Self.keptEnds)
            ends = []
            if count > 1 { ends.reserveCapacity(count) }
        }
    }
#endif
