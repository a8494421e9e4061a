public import ErrandHTTP
import Synchronization

/// Holds the progress of a task that is observed, and reports changes to streams, handlers and other hubs.
package final class ProgressHub: Sendable {
    /// A user closure, called outside of all locks, one call at a time, with the newest value.
    private struct Handler {
        var throttle: ProgressThrottle
        var notify: @Sendable (TransferProgress) -> Void
        var pending: TransferProgress?
        var isNotifying = false
    }

    /// A stream that buffers the newest value; yielding to it runs no user code.
    private struct Listener {
        var throttle: ProgressThrottle
        var stream: AsyncStream<TransferProgress>.Continuation
    }

    private struct State {
        var progress = TransferProgress()
        /// The position of the current request body in a longer upload; `nil` if the body is the whole.
        var uploadPart: (offset: Int64, total: Int64)?
        var listeners = Subscribers<Listener>()
        var handlers = Subscribers<Handler>()
        var mirrors: [Int: ProgressHub] = [:]
        /// The rates of both directions; empty until the progress is observed, because most requests never are.
        var rates: [TransferRate] = []
        /// Delivers the values that were held back when the first of them is due; `nil` while none is.
        var timer: ScheduledCall?
        /// Callers of ``untilDelivered()``.
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// The end closes `listeners`; handlers may still have to receive the last value.
        var isFinished: Bool { listeners.isClosed }

        /// False for most small requests, which then only change the value.
        var isObserved: Bool { !(listeners.isEmpty && handlers.isEmpty && mirrors.isEmpty) }

        /// Takes the first sample, from which the first observer's rates count.
        mutating func beginRates(at now: Duration) {
            if rates.isEmpty { measureRates(at: now) }
        }

        mutating func measureRates(at now: Duration) {
            if rates.isEmpty { rates = [TransferRate(), TransferRate()] }
            rates[0].add(progress.bytesSent, at: now)
            rates[1].add(progress.bytesReceived - progress.resumedBytes, at: now)
            progress.bytesSentPerSecond = rates[0].bytesPerSecond
            progress.bytesReceivedPerSecond = rates[1].bytesPerSecond
        }

        /// Counts from another number of sent bytes: the skipped ones have no part in the rate.
        mutating func skipSent(to bytes: Int64) {
            if !rates.isEmpty { rates[0].shift(by: bytes - progress.bytesSent) }
            progress.bytesSent = bytes
        }

        /// Changes the progress of the current request.
        mutating func apply(_ change: (inout TransferProgress) -> Void) {
            guard let uploadPart else { return change(&progress) }
            progress.bytesSent -= uploadPart.offset
            change(&progress)
            progress.bytesSent = TransferProgress.sum(progress.bytesSent, uploadPart.offset)
            progress.totalBytesToSend = uploadPart.total
        }

        /// Yields the last value to streams and marks it as pending for handlers.
        ///
        /// - Returns: The streams, and the handlers that have nothing left to receive.
        mutating func takeLast() -> (listeners: [Listener], handlers: [Handler]) {
            let streams = listeners.close()
            for listener in streams where listener.throttle.hasNotDelivered(progress) {
                listener.stream.yield(progress)
            }
            var done: [Handler] = []
            for (id, handler) in handlers.entries {
                if handler.throttle.hasNotDelivered(progress) {
                    handlers[id]?.pending = progress
                } else if !handler.isNotifying, handler.pending == nil {
                    if let handler = handlers.remove(id) { done.append(handler) }
                }
            }
            return (streams, done)
        }

        /// Ends the notification of a handler.
        ///
        /// - Returns: After ``finish(isWhole:)``, the handler for release outside the lock; with
        ///   the last handler, also the callers of ``untilDelivered()``.
        mutating func endNotifying(
            _ id: Int
        ) -> (handler: Handler?, waiters: [CheckedContinuation<Void, Never>]) {
            handlers[id]?.isNotifying = false
            guard isFinished else { return (nil, []) }
            let handler = handlers.remove(id)
            guard handlers.isEmpty else { return (handler, []) }
            return (handler, exchange(&waiters, with: []))
        }
    }

    private let state = Mutex(State())
    private let clock: (any RequestClock)?

    /// - Parameter clock: The time source for throttled subscribers.
    package init(clock: (any RequestClock)? = nil) { self.clock = clock }

    /// Continues with a progress that had no observer so far.
    init(clock: any RequestClock, _ progress: TransferProgress, isFinished: Bool) {
        self.clock = clock
        state.withLock { state in
            state.progress = progress
            if isFinished { _ = state.listeners.close() }
        }
    }

    private func now() -> Duration { clock?.uptime ?? .zero }

    package var current: TransferProgress { state.withLock { $0.progress } }

    /// Changes the progress and notifies all subscribers, in the order of the changes.
    package func update(_ change: (inout TransferProgress) -> Void) {
        guard let noted = note(change) else { return }
        for id in noted.ready { notify(id) }
        for mirror in noted.mirrors { mirror.notifyHandlers() }
    }

    /// Like ``update(_:)``, for a transport's thread: handlers are called on another thread.
    package func updateAsynchronously(_ change: (inout TransferProgress) -> Void) {
        guard let noted = note(change) else { return }
        for id in noted.ready { ListenerQueue.run { self.notify(id) } }
        for mirror in noted.mirrors where mirror.hasPendingHandlers {
            ListenerQueue.run { mirror.notifyHandlers() }
        }
    }

    /// Changes the progress; returns the handlers that the caller must notify, and the mirrors.
    private func note(
        _ change: (inout TransferProgress) -> Void
    ) -> (ready: [Int], mirrors: [ProgressHub])? {
        state.withLock { state -> (ready: [Int], mirrors: [ProgressHub])? in
            state.apply(change)
            guard state.isObserved else { return nil }
            let ready = distribute(&state)
            // Lock order: this hub, then its mirrors.
            for mirror in state.mirrors.values { mirror.takeOver(state.progress) }
            return (ready, Array(state.mirrors.values))
        }
    }

    private var hasPendingHandlers: Bool {
        state.withLock { state in
            state.handlers.entries.values.contains { $0.pending != nil && !$0.isNotifying }
        }
    }

    /// Counts the bytes of the following request bodies from an offset of a longer upload.
    package func continueUpload(at offset: Int64, of total: Int64) {
        state.withLock { state in
            state.uploadPart = (offset, total)
            state.skipSent(to: offset)
        }
        update { $0.bytesSent = 0 }
    }

    /// Passes every value, beginning with the current one, to another hub.
    package func mirror(into other: ProgressHub, id: Int) {
        state.withLock { state in
            state.mirrors[id] = other
            other.takeOver(state.progress)
        }
        other.notifyHandlers()
    }

    package func endMirror(_ id: Int) {
        state.withLock { $0.mirrors[id] = nil }
    }

    /// Ends the progress; subscribers that have not received the last value receive it now.
    ///
    /// A handler that is being called on another thread receives the last value there, after the
    /// current call: calls do not overlap, and waiting here could deadlock. ``untilDelivered()``
    /// waits for it.
    ///
    /// - Parameter isWhole: Whether the transfer is complete: unknown totals then become known.
    /// - Returns: Whether every handler has received the last value and returned.
    @discardableResult
    package func finish(isWhole: Bool = false) -> Bool {
        // Handlers hold user closures: they are released outside the lock.
        let (left, ids, timer) = state.withLock {
            state -> ((listeners: [Listener], handlers: [Handler])?, [Int], ScheduledCall?) in
            guard !state.isFinished else { return (nil, [], nil) }
            if isWhole { state.progress.completeTotals() }
            guard state.isObserved else {
                _ = state.listeners.close()
                return (nil, [], state.timer.take())
            }
            // Done atomically with the end: a thread that calls a handler either finds the last
            // value or has already stopped.
            let left = state.takeLast()
            return (left, Array(state.handlers.entries.keys), state.timer.take())
        }
        timer?.cancel()
        guard let left else { return true }
        for listener in left.listeners { listener.stream.finish() }
        guard !ids.isEmpty else { return true }
        for id in ids { claim(id) }
        return state.withLock { $0.handlers.isEmpty }
    }

    /// Suspends, after ``finish(isWhole:)``, until every handler has received the last value.
    nonisolated(nonsending) package func untilDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivered = state.withLock { state in
                guard state.isFinished, !state.handlers.isEmpty else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isDelivered { continuation.resume() }
        }
    }

    /// A stream of changes, beginning with the current value.
    package func subscribe(
        every interval: Duration = .zero, bytes: Int64? = nil
    ) -> AsyncStream<TransferProgress> {
        AsyncStream.subscribed(keeping: .bufferingNewest(1)) { stream in
            state.withLock { state in
                state.beginRates(at: now())
                stream.yield(state.progress)
                var throttle = ProgressThrottle(every: interval, bytes: bytes)
                _ = throttle.offer(state.progress, now: throttle.isPlain ? .zero : now())
                return state.listeners.add(Listener(throttle: throttle, stream: stream))
            }
        } leave: { [weak self] id in
            _ = self?.state.withLock { $0.listeners.remove(id) }
        }
    }

    /// Calls the handler for every change until the end, on any thread, one call at a time.
    ///
    /// If bytes were transferred before, the first call is with the current value, on another thread: the caller may
    /// hold a lock that the handler needs.
    ///
    /// The call with the last value returns before ``untilDelivered()`` does. It also returns before
    /// ``finish(isWhole:)`` does, unless another thread is calling the handler at that moment.
    ///
    /// - Parameter callsAtOnce: Whether the first call is with the current value in any case, and returns before this
    ///   method does. Default `false`.
    package func listen(
        every interval: Duration = .zero, bytes: Int64? = nil, callsAtOnce: Bool = false,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let (last, ready) = state.withLock { state -> (TransferProgress?, Int?) in
            guard !state.isFinished else { return (state.progress, nil) }
            state.beginRates(at: now())
            var handler = Handler(
                throttle: ProgressThrottle(every: interval, bytes: bytes), notify: handler)
            if state.progress.hasBytes {
                _ = handler.throttle.offer(state.progress, now: now())
            } else if !callsAtOnce {
                _ = state.handlers.add(handler)
                return (nil, nil)
            }
            (handler.pending, handler.isNotifying) = (state.progress, true)
            return (nil, state.handlers.add(handler))
        }
        if let last { handler(last) }
        guard let ready else { return }
        if callsAtOnce { notify(ready) } else { ListenerQueue.run { self.notify(ready) } }
    }

    /// Takes over a value without calling handlers: the caller holds the lock of another hub.
    private func takeOver(_ progress: TransferProgress) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.progress = progress
            for id in distribute(&state) { state.handlers[id]?.isNotifying = false }
        }
    }

    private func notifyHandlers() {
        let ids = state.withLock { state in
            state.handlers.entries.filter { $0.value.pending != nil }.map(\.key)
        }
        for id in ids { claim(id) }
    }

    /// Measures the rates and distributes the progress; returns the handlers to notify.
    private func distribute(_ state: inout State) -> [Int] {
        // No value follows the last one.
        guard !state.isFinished, !state.listeners.isEmpty || !state.handlers.isEmpty else {
            return []
        }
        let time = now()
        state.measureRates(at: time)
        return distribute(&state, at: time)
    }

    /// Yields to streams and marks values as pending; returns the handlers to notify.
    private func distribute(_ state: inout State, at time: Duration) -> [Int] {
        for id in state.listeners.entries.keys {
            guard state.listeners[id]?.throttle.offer(state.progress, now: time) == true else {
                continue
            }
            state.listeners[id]?.stream.yield(state.progress)
        }
        var ready: [Int] = []
        for id in state.handlers.entries.keys {
            guard state.handlers[id]?.throttle.offer(state.progress, now: time) == true else {
                continue
            }
            state.handlers[id]?.pending = state.progress
            if state.handlers[id]?.isNotifying == false {
                state.handlers[id]?.isNotifying = true
                ready.append(id)
            }
        }
        if state.timer == nil { state.timer = timer(for: state, at: time) }
        return ready
    }

    /// The call that delivers values that are held back, because no later value may follow soon; `nil` if there are none.
    ///
    /// There is at most one for a hub, and only while a value is held back.
    private func timer(for state: State, at time: Duration) -> ScheduledCall? {
        guard let clock else { return nil }
        var first: Duration?
        func add(_ throttle: ProgressThrottle) {
            guard let pause = throttle.pause(of: state.progress, at: time) else { return }
            first = min(first ?? pause, pause)
        }
        for listener in state.listeners.entries.values { add(listener.throttle) }
        for handler in state.handlers.entries.values { add(handler.throttle) }
        return first.map { pause in
            ScheduledCall(after: pause, clock) { [weak self] in self?.deliverHeldBack() }
        }
    }

    private func deliverHeldBack() {
        let ready = state.withLock { state in
            state.timer = nil
            return state.isFinished ? [] : distribute(&state, at: now())
        }
        // Handlers do not run on the thread of time limits.
        for id in ready { ListenerQueue.run { self.notify(id) } }
    }

    /// Notifies a handler unless another thread is already doing so.
    private func claim(_ id: Int) {
        let isMine = state.withLock { state in
            guard state.handlers[id]?.isNotifying == false else { return false }
            state.handlers[id]?.isNotifying = true
            return true
        }
        if isMine { notify(id) }
    }

    /// Calls a handler until nothing is pending; removes it after the end.
    private func notify(_ id: Int) {
        while true {
            var (next, ended) = state.withLock { state in
                guard let handler = state.handlers[id], let progress = handler.pending else {
                    return (nil as (Handler, TransferProgress)?, state.endNotifying(id))
                }
                state.handlers[id]?.pending = nil
                return ((handler, progress), (nil, []))
            }
            ended.handler = nil
            for waiter in ended.waiters { waiter.resume() }
            guard let (handler, progress) = next else { return }
            handler.notify(progress)
        }
    }
}

/// The progress of a task as an async sequence of changes.
///
///     for await progress in task.progress.throttled(every: .milliseconds(100)) {
///         bar.value = progress.fractionCompleted ?? 0
///     }
public struct ProgressUpdates: AsyncSequence, Sendable {
    private let hub: ProgressHub
    private var interval = Duration.zero
    private var bytes: Int64?

    package init(_ hub: ProgressHub) { self.hub = hub }

    /// The same sequence with fewer changes; the last one is always delivered.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two changes, on the agent's clock.
    ///   - bytes: A change of this many bytes, in either direction, is delivered at once; `nil`,
    ///     the default, always waits for the interval.
    public func throttled(every interval: Duration, bytes: Int64? = nil) -> ProgressUpdates {
        var copy = self
        copy.interval = interval
        copy.bytes = bytes
        return copy
    }

    /// The current progress.
    public var current: TransferProgress { hub.current }

    /// Creates an iterator over changes, beginning with the current value.
    ///
    /// A slow reader misses intermediate changes, never the last one.
    public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
        hub.subscribe(every: interval, bytes: bytes).makeAsyncIterator()
    }
}

extension TransferProgress {
    /// Sets the totals of a complete transfer.
    mutating func completeTotals() {
        totalBytesToSend = max(totalBytesToSend ?? bytesSent, bytesSent)
        totalBytesToReceive = bytesReceived
    }
}
