#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport
    import Synchronization

    /// The queue of messages from other threads to the loop; the first message starts the loop's
    /// thread.
    ///
    /// The event descriptor is written only while the loop sleeps, so posting to a busy loop costs
    /// only a lock.
    final class Mailbox: Sendable {
        enum Message: Sendable {
            /// A new transfer.
            case start(CurlTransfer)
            /// The signals of a transfer have changed.
            case attend(CurlTransfer)
            /// Ends all transfers and rejects later ones; the loop then closes its connections and exits.
            case shutDown
            /// No new transfers will follow; the loop exits when all transfers have ended.
            case close
        }

        private struct State {
            var messages: [Message] = []
            var wakeup = WakeupState()
            /// The number of threads that are about to write to the event descriptor, which must
            /// stay open until then.
            var wakers = 0
            var loop = ThreadState.none
        }

        private enum ThreadState: Sendable {
            case none
            case running(wakeUp: Int32, LoopLock)
            /// The transport was shut down or released, and its last transfer has ended.
            case gone
        }

        private let name: String
        /// Creates what the loop drives, in its first turn.
        let makeClient: @Sendable (EventLoop) -> any LoopClient
        private let state = Mutex(State())

        private let isCounting: Bool
        private let load = Atomic<Int>(0)
        /// The open connections of the loop.
        let connections = ConnectionCount()
        /// The reports of the transport.
        let reports: ConnectionReports

        /// Creates a mailbox; transfers are counted only to choose between several loops.
        init(
            name: String, isCounting: Bool, reports: ConnectionReports,
            makeClient: @escaping @Sendable (EventLoop) -> any LoopClient
        ) {
            self.name = name
            self.isCounting = isCounting
            self.reports = reports
            self.makeClient = makeClient
        }

        /// The number of active transfers, if they are counted.
        var activeTransfers: Int { load.load(ordering: .relaxed) }

        /// Counts a started transfer.
        func began() { if isCounting { load.add(1, ordering: .relaxed) } }

        /// Counts an ended transfer.
        func ended() { if isCounting { load.subtract(1, ordering: .relaxed) } }

        /// The number of callers' turns after which the loop's thread was not needed.
        var callerTurns: Int {
            state.withLock { state in
                if case .running(_, let lock) = state.loop { lock.callerTurns } else { 0 }
            }
        }

        /// Posts a message; returns false if there is no loop to read it.
        ///
        /// - Parameter mayRunOnCaller: Whether the caller may run the turn itself if the loop's
        ///   thread sleeps.
        func post(_ message: Message, mayRunOnCaller: Bool = false) -> Bool {
            let (isTaken, action) = state.withLock { state -> (Bool, PostAction) in
                if case .none = state.loop {
                    // Without a loop, no transfer is active and no connection is open.
                    state.loop = if case .shutDown = message { .gone } else { startThread() }
                }
                guard case .running(let wakeUp, let lock) = state.loop else {
                    return (false, .nothing)
                }
                state.messages.append(message)
                switch state.wakeup.posted(mayRunOnCaller: mayRunOnCaller) {
                case .nothing: return (true, .nothing)
                case .wake:
                    state.wakers += 1
                    return (true, .wake(wakeUp))
                case .runOnCaller: return (true, .turn(lock, wakeUp))
                }
            }
            perform(action)
            return isTaken
        }

        /// The action that the posting thread takes after it released the lock.
        private enum PostAction {
            case nothing
            case wake(Int32)
            case turn(LoopLock, Int32)
        }

        private func perform(_ action: PostAction) {
            switch action {
            case .nothing: break
            case .wake(let descriptor):
                var one: UInt64 = 1
                _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
                state.withLock { $0.wakers -= 1 }
            case .turn(let lock, let descriptor):
                let isNeeded = lock.runOnCaller()
                let wakes = state.withLock { state in
                    let wakes = state.wakeup.returned(
                        isThreadNeeded: isNeeded || !state.messages.isEmpty)
                    if wakes { state.wakers += 1 }
                    return wakes
                }
                if wakes { perform(.wake(descriptor)) }
            }
        }

        /// Whether later posts fail.
        var isGone: Bool { state.withLock { if case .gone = $0.loop { true } else { false } } }

        /// Announces that no new transfers will follow.
        func close() {
            let isRunning = state.withLock { state in
                if case .running = state.loop { return true }
                state.loop = .gone
                return false
            }
            if isRunning { _ = post(.close) }
        }

        /// Swaps the posted messages for an empty array.
        ///
        /// Called on the loop's thread only.
        func take(into batch: inout [Message]) {
            state.withLock { swap(&$0.messages, &batch) }
        }

        /// Takes the messages for a caller's turn.
        ///
        /// Returns false, and takes nothing, if any message does not match the condition.
        func takeAll(into batch: inout [Message], where isWanted: (Message) -> Bool) -> Bool {
            state.withLock { state in
                guard state.messages.allSatisfy(isWanted) else { return false }
                swap(&state.messages, &batch)
                return true
            }
        }

        /// Records that the loop falls asleep, so that later posts wake it; returns false if
        /// messages are waiting.
        ///
        /// Called on the loop's thread only.
        func fallAsleep(allowsCallerTurns: Bool) -> Bool {
            state.withLock { state in
                guard state.messages.isEmpty else { return false }
                state.wakeup.fallsAsleep(allowsCallerTurns: allowsCallerTurns)
                return true
            }
        }

        /// Records that the loop is awake for another reason.
        ///
        /// Called on the loop's thread only.
        func wake() { state.withLock { $0.wakeup.wakes() } }

        /// Removes the loop, so that later posts fail; returns false if messages are waiting.
        ///
        /// Called on the loop's thread only.
        func leave() -> Bool {
            state.withLock { state in
                guard state.messages.isEmpty, state.wakers == 0, !state.wakeup.isCallerTurn else {
                    return false
                }
                state.loop = .gone
                return true
            }
        }

        private func startThread() -> ThreadState {
            let wakeUp = errand_eventfd_create()
            let poll = errand_epoll_create()
            guard wakeUp >= 0, poll >= 0, errand_epoll_add(poll, wakeUp, errand_epoll_in) == 0
            else {
                if wakeUp >= 0 { ErrandSystem.close(wakeUp) }
                if poll >= 0 { ErrandSystem.close(poll) }
                return .none
            }
            let lock = LoopLock(EventLoop(mailbox: self, poll: poll, wakeUp: wakeUp))
            let thread = LoopThread(
                mailbox: self, lock: lock, name: name, poll: poll, wakeUp: wakeUp)
            guard thread.start() else {
                ErrandSystem.close(wakeUp)
                ErrandSystem.close(poll)
                return .none
            }
            return .running(wakeUp: wakeUp, lock)
        }
    }

    /// What carries out a transfer.
    protocol TransferOwner: AnyObject {
        /// Acts on signals from other threads.
        func attend(_ signals: CurlTransfer.Signals)
        /// Whether a caller may run the turn that acts on these signals.
        func isForCaller(_ signals: CurlTransfer.Signals) -> Bool
    }

    /// The caller's handle of a transfer; its methods set a signal and post a message to the
    /// mailbox.
    // @unchecked: after posting, only the thread that runs the loop's turn uses the variables.
    final class CurlTransfer: ReadableTransfer, @unchecked Sendable {
        /// The signals from other threads to the loop.
        struct Signals: OptionSet, Sendable {
            let rawValue: UInt8

            /// The caller cancelled the transfer.
            ///
            /// Never cleared.
            static let cancel = Signals(rawValue: 1)
            /// The receiver accepts bytes again.
            static let resume = Signals(rawValue: 2)
            /// The body source has more bytes.
            static let readable = Signals(rawValue: 4)
            /// A message about this transfer is already in the mailbox.
            static let posted = Signals(rawValue: 8)
        }

        private let mailbox: Mailbox
        private let bits = Atomic<UInt8>(0)

        /// The request to send.
        let request: TransportRequest
        /// The body source, or the error that prevents reading it; released at the end.
        var source: Result<any BodySource, RequestError>?
        /// The receiver; released at the end.
        var receiver: (any TransferReceiver)?
        /// The engine's part of the transfer while it is active.
        var exchange: (any TransferOwner)?
        /// The time at which the transfer was created.
        let created = EventLoop.readClock()

        init(
            _ request: TransportRequest, source: Result<any BodySource, RequestError>?,
            receiver: any TransferReceiver, mailbox: Mailbox
        ) {
            self.request = request
            self.source = source
            self.receiver = receiver
            self.mailbox = mailbox
        }

        /// Records that the transfer has ended.
        func ended() { mailbox.ended() }

        func cancel() { raise(.cancel) }

        func resumeReceiving() { raise(.resume) }

        func receiveOnCaller() { raise(.resume, mayRunOnCaller: true) }

        /// Sets a signal for the loop, from any thread.
        ///
        /// - Parameter mayRunOnCaller: Whether the calling thread may run the turn if the loop's
        ///   thread sleeps.
        func raise(_ signal: Signals, mayRunOnCaller: Bool = false) {
            let wanted = signal.union(.posted).rawValue
            let before = Signals(
                rawValue: bits.bitwiseOr(wanted, ordering: .acquiringAndReleasing).oldValue)
            guard !before.contains(.posted) else { return }
            _ = mailbox.post(.attend(self), mayRunOnCaller: mayRunOnCaller)
        }

        /// Returns the signals without clearing them.
        func signals() -> Signals { Signals(rawValue: bits.load(ordering: .acquiring)) }

        /// Returns the signals and clears all except ``Signals/cancel``.
        func takeSignals() -> Signals {
            let kept = Signals.cancel.rawValue
            return Signals(
                rawValue: bits.bitwiseAnd(kept, ordering: .acquiringAndReleasing).oldValue)
        }
    }
#endif
