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
        var isFinished = false
        var nextID = 0
        var listeners: [Int: Listener] = [:]
        var handlers: [Int: Handler] = [:]
        var mirrors: [Int: ProgressHub] = [:]

        /// Hardly anybody listens to a small request; then a change is a change of the value.
        var isHeard: Bool { !(listeners.isEmpty && handlers.isEmpty && mirrors.isEmpty) }

        mutating func completeTotals() {
            let sent = progress.bytesSent
            progress.totalBytesToSend = max(progress.totalBytesToSend ?? sent, sent)
            progress.totalBytesToReceive = progress.bytesReceived
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
        let told = state.withLock { state -> (wakes: [Int], mirrors: [ProgressHub])? in
            change(&state.progress)
            guard state.isHeard else { return nil }
            let wakes = Self.spread(&state, now: now)
            // Locks nest in this direction only.
            for mirror in state.mirrors.values { mirror.keep(state.progress) }
            return (wakes, Array(state.mirrors.values))
        }
        guard let told else { return }
        for id in told.wakes { tell(id) }
        for mirror in told.mirrors { mirror.tellHandlers() }
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
    /// - Parameter isWhole: Whether everything went over: then what had no total has one now.
    package func finish(isWhole: Bool = false) {
        let isHeard = state.withLock { state in
            guard !state.isFinished else { return false }
            state.isFinished = true
            if isWhole { state.completeTotals() }
            return state.isHeard
        }
        if isHeard { tellTheLast() }
    }

    private func tellTheLast() {
        let (listeners, owed, hasHandlers) = state.withLock { state in
            for listener in state.listeners.values where listener.throttle.owes(state.progress) {
                listener.stream.yield(state.progress)
            }
            let owed = state.handlers.filter { $0.value.throttle.owes(state.progress) }.map(\.key)
            for id in owed { state.handlers[id]?.pending = state.progress }
            defer { state.listeners = [:] }
            return (Array(state.listeners.values), owed, !state.handlers.isEmpty)
        }
        for listener in listeners { listener.stream.finish() }
        for id in owed { claim(id) }
        if hasHandlers { state.withLock { $0.handlers = [:] } }
    }

    /// A stream of changes, beginning with the present value.
    package func subscribe(
        every interval: Duration = .zero, bytes: Int64? = nil
    ) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> Int? in
            continuation.yield(state.progress)
            guard !state.isFinished else { return nil }
            var throttle = ProgressThrottle(every: interval, bytes: bytes)
            _ = throttle.offer(state.progress, now: throttle.isPlain ? .zero : now())
            state.nextID += 1
            state.listeners[state.nextID] = Listener(throttle: throttle, stream: continuation)
            return state.nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Calls back on every change until the end, from any thread, one call at a time; the last value comes before
    /// ``finish(isWhole:)`` returns.
    package func listen(
        every interval: Duration = .zero, bytes: Int64? = nil,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let last = state.withLock { state -> TransferProgress? in
            guard !state.isFinished else { return state.progress }
            state.nextID += 1
            state.handlers[state.nextID] = Handler(
                throttle: ProgressThrottle(every: interval, bytes: bytes), tell: handler)
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
            state.handlers.filter { $0.value.pending != nil }.map(\.key)
        }
        for id in ids { claim(id) }
    }

    /// Yields to streams and notes what handlers have to hear; returns those whom the caller must tell.
    private static func spread(_ state: inout State, now: () -> Duration) -> [Int] {
        guard !state.listeners.isEmpty || !state.handlers.isEmpty else { return [] }
        let needsTime =
            state.listeners.values.contains { !$0.throttle.isPlain }
            || state.handlers.values.contains { !$0.throttle.isPlain }
        let time = needsTime ? now() : .zero
        for id in state.listeners.keys {
            guard state.listeners[id]?.throttle.offer(state.progress, now: time) == true else {
                continue
            }
            state.listeners[id]?.stream.yield(state.progress)
        }
        var wakes: [Int] = []
        for id in state.handlers.keys {
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

    /// Tells a handler until nothing is pending.
    private func tell(_ id: Int) {
        while true {
            let next = state.withLock { state -> (Handler, TransferProgress)? in
                guard let handler = state.handlers[id], let progress = handler.pending else {
                    state.handlers[id]?.isTelling = false
                    return nil
                }
                state.handlers[id]?.pending = nil
                return (handler, progress)
            }
            guard let (handler, progress) = next else { return }
            handler.tell(progress)
        }
    }
}
