import Synchronization

/// Holds a task's progress and hands it to whoever listens.
package final class ProgressHub: Sendable {
    /// Somebody's code, which runs outside of every lock: one call at a time, the newest value.
    private struct Handler {
        var throttle: ProgressThrottle
        var tell: @Sendable (TransferProgress) -> Void
        var pending: TransferProgress?
        var isTelling = false
    }

    /// A stream that keeps only the newest value runs nobody's code.
    private struct Listener {
        var throttle: ProgressThrottle
        var stream: AsyncStream<TransferProgress>.Continuation
    }

    private struct State {
        var progress = TransferProgress()
        var listeners = Subscribers<Listener>()
        var handlers = Subscribers<Handler>()
        var mirrors: [Int: ProgressHub] = [:]
        /// Who waits until the last handler has heard the last value.
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// The end closes the table of streams; handlers may still have to hear the last value.
        var isFinished: Bool { listeners.isClosed }

        /// Hardly anybody listens to a small request; then a change is a change of the value.
        var isHeard: Bool { !(listeners.isEmpty && handlers.isEmpty && mirrors.isEmpty) }

        mutating func completeTotals() {
            let sent = progress.bytesSent
            progress.totalBytesToSend = max(progress.totalBytesToSend ?? sent, sent)
            progress.totalBytesToReceive = progress.bytesReceived
        }

        /// Yields the last value to streams and notes it for handlers.
        ///
        /// Keeps those who still have to hear it, or whom somebody is telling; returns the others.
        mutating func takeLast() -> (listeners: [Listener], handlers: [Handler]) {
            let streams = listeners.close()
            for listener in streams where listener.throttle.owes(progress) {
                listener.stream.yield(progress)
            }
            var done: [Handler] = []
            for (id, handler) in handlers.entries {
                if handler.throttle.owes(progress) {
                    handlers[id]?.pending = progress
                } else if !handler.isTelling, handler.pending == nil {
                    if let handler = handlers.remove(id) { done.append(handler) }
                }
            }
            return (streams, done)
        }

        /// Nobody tells a handler any more; returns it, and who waited for that if it was the last one, after the end.
        mutating func rest(
            _ id: Int
        ) -> (handler: Handler?, waiters: [CheckedContinuation<Void, Never>]) {
            handlers[id]?.isTelling = false
            guard isFinished else { return (nil, []) }
            let handler = handlers.remove(id)
            guard handlers.isEmpty else { return (handler, []) }
            return (handler, exchange(&waiters, with: []))
        }
    }

    private let state = Mutex(State())
    private let clock: (any RequestClock)?

    /// - Parameter clock: Tells the time to those who want to hear less often.
    package init(clock: (any RequestClock)? = nil) { self.clock = clock }

    private func now() -> Duration { clock?.uptime ?? .zero }

    package var current: TransferProgress { state.withLock { $0.progress } }

    /// Changes the progress and tells whoever listens, in the order of the changes.
    package func update(_ change: (inout TransferProgress) -> Void) {
        guard let told = note(change) else { return }
        for id in told.wakes { tell(id) }
        for mirror in told.mirrors { mirror.tellHandlers() }
    }

    /// The same on a transfer's thread, where no handler may run: they hear of it on another one.
    package func updateElsewhere(_ change: (inout TransferProgress) -> Void) {
        guard let told = note(change) else { return }
        for id in told.wakes { ForeignCode.run { self.tell(id) } }
        for mirror in told.mirrors where mirror.hasNews {
            ForeignCode.run { mirror.tellHandlers() }
        }
    }

    /// Changes the progress; returns the handlers whom the caller has to tell, and the hubs that pass it on.
    private func note(
        _ change: (inout TransferProgress) -> Void
    ) -> (wakes: [Int], mirrors: [ProgressHub])? {
        state.withLock { state -> (wakes: [Int], mirrors: [ProgressHub])? in
            change(&state.progress)
            guard state.isHeard else { return nil }
            let wakes = Self.spread(&state, now: now)
            // Locks nest in this direction only.
            for mirror in state.mirrors.values { mirror.keep(state.progress) }
            return (wakes, Array(state.mirrors.values))
        }
    }

    private var hasNews: Bool {
        state.withLock { state in
            state.handlers.entries.values.contains { $0.pending != nil && !$0.isTelling }
        }
    }

    /// Passes every value on to another hub, beginning with the present one.
    func mirror(into other: ProgressHub, id: Int) {
        state.withLock { state in
            state.mirrors[id] = other
            other.keep(state.progress)
        }
        other.tellHandlers()
    }

    func endMirror(_ id: Int) {
        state.withLock { $0.mirrors[id] = nil }
    }

    /// No more changes come; the last value is told to whoever has not heard it, and stays in each stream until
    /// it is read.
    ///
    /// A handler that another thread is inside of hears the last value there, after what it is hearing now: it hears
    /// one value at a time, and waiting here could be waiting for oneself. ``untilTold()`` waits for it.
    ///
    /// - Parameter isWhole: Whether everything went over: then what had no total has one now.
    /// - Returns: Whether every handler has heard the last value and returned.
    @discardableResult
    package func finish(isWhole: Bool = false) -> Bool {
        // Handlers hold code of users: what is left of them is let go of behind the lock.
        let (left, ids) = state.withLock {
            state -> ((listeners: [Listener], handlers: [Handler])?, [Int]) in
            guard !state.isFinished else { return (nil, []) }
            if isWhole { state.completeTotals() }
            // In one go with the end: whoever is telling now finds the last value, or has gone.
            let left = state.takeLast()
            return (left, Array(state.handlers.entries.keys))
        }
        for listener in left?.listeners ?? [] { listener.stream.finish() }
        guard !ids.isEmpty else { return true }
        for id in ids { claim(id) }
        return state.withLock { $0.handlers.isEmpty }
    }

    /// Waits, after ``finish(isWhole:)``, until every handler has heard the last value and returned; holds no thread
    /// meanwhile.
    package func untilTold() async {
        await withCheckedContinuation { continuation in
            let isTold = state.withLock { state in
                guard state.isFinished, !state.handlers.isEmpty else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isTold { continuation.resume() }
        }
    }

    /// A stream of changes, beginning with the present value.
    package func subscribe(
        every interval: Duration = .zero, bytes: Int64? = nil
    ) -> AsyncStream<TransferProgress> {
        AsyncStream.subscribed(keeping: .bufferingNewest(1)) { stream in
            state.withLock { state in
                stream.yield(state.progress)
                var throttle = ProgressThrottle(every: interval, bytes: bytes)
                _ = throttle.offer(state.progress, now: throttle.isPlain ? .zero : now())
                return state.listeners.add(Listener(throttle: throttle, stream: stream))
            }
        } leave: { [weak self] id in
            _ = self?.state.withLock { $0.listeners.remove(id) }
        }
    }

    /// Calls back on every change until the end, from any thread, one call at a time.
    ///
    /// The last value comes before ``untilTold()`` returns, and before ``finish(isWhole:)`` does unless another thread
    /// is inside the handler just then.
    package func listen(
        every interval: Duration = .zero, bytes: Int64? = nil,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let last = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return state.progress }
            _ = state.handlers.add(
                Handler(throttle: ProgressThrottle(every: interval, bytes: bytes), tell: handler))
            return nil
        }
        if let last { handler(last) }
    }

    /// Takes a value over without telling handlers: the caller holds another hub's lock.
    private func keep(_ progress: TransferProgress) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.progress = progress
            for id in Self.spread(&state, now: now) { state.handlers[id]?.isTelling = false }
        }
    }

    private func tellHandlers() {
        let ids = state.withLock { state in
            state.handlers.entries.filter { $0.value.pending != nil }.map(\.key)
        }
        for id in ids { claim(id) }
    }

    /// Yields to streams and notes what handlers have to hear; returns those whom the caller must tell.
    private static func spread(_ state: inout State, now: () -> Duration) -> [Int] {
        // A handler that is hearing the last value hears none behind it.
        guard !state.isFinished, !state.listeners.isEmpty || !state.handlers.isEmpty else {
            return []
        }
        let needsTime =
            state.listeners.entries.values.contains { !$0.throttle.isPlain }
            || state.handlers.entries.values.contains { !$0.throttle.isPlain }
        let time = needsTime ? now() : .zero
        for id in state.listeners.entries.keys {
            guard state.listeners[id]?.throttle.offer(state.progress, now: time) == true else {
                continue
            }
            state.listeners[id]?.stream.yield(state.progress)
        }
        var wakes: [Int] = []
        for id in state.handlers.entries.keys {
            guard state.handlers[id]?.throttle.offer(state.progress, now: time) == true else {
                continue
            }
            state.handlers[id]?.pending = state.progress
            if state.handlers[id]?.isTelling == false {
                state.handlers[id]?.isTelling = true
                wakes.append(id)
            }
        }
        return wakes
    }

    /// Becomes the one who tells a handler, unless somebody is.
    private func claim(_ id: Int) {
        let isMine = state.withLock { state in
            guard state.handlers[id]?.isTelling == false else { return false }
            state.handlers[id]?.isTelling = true
            return true
        }
        if isMine { tell(id) }
    }

    /// Tells a handler until nothing is pending; after the end lets go of it.
    private func tell(_ id: Int) {
        while true {
            var (next, resting) = state.withLock { state in
                guard let handler = state.handlers[id], let progress = handler.pending else {
                    return (nil as (Handler, TransferProgress)?, state.rest(id))
                }
                state.handlers[id]?.pending = nil
                return ((handler, progress), (nil, []))
            }
            resting.handler = nil
            for waiter in resting.waiters { waiter.resume() }
            guard let (handler, progress) = next else { return }
            handler.tell(progress)
        }
    }
}
