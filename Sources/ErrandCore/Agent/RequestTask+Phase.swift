import Synchronization

extension RequestTask {
    /// Where a task is in its life.
    public enum Phase: Sendable, Hashable {
        /// Started; nothing was done for it yet.
        case described
        /// Its request for the wire is being made.
        case adapting
        /// Nothing of it is on the wire: it waits for the store, a place, a network, its host's rate limit, credentials, an
        /// identical request before it, or its next attempt.
        case waiting
        /// It is being sent, or its answer is coming in, or being judged; attempts count from 1.
        case inFlight(attempt: Int)
        /// Held by ``RequestTask/suspend()``.
        case suspended
        /// Its answer, or its error, goes through processors and the decoder.
        case processing
        /// Told to stop, not yet ended.
        case cancelling
        /// Ended.
        case ended

        /// Whether it is under way: neither held, nor told to stop, nor ended.
        public var isRunning: Bool {
            switch self {
            case .described, .adapting, .waiting, .inFlight, .processing: true
            case .suspended, .cancelling, .ended: false
            }
        }
    }

    /// The present phase, then each that follows; it ends behind ``Phase/ended``.
    ///
    /// Phases without work are left out, such as ``Phase/processing`` where nothing is processed. Each call makes a sequence
    /// of its own; of a reader who is far behind the latest phases are kept. A task that nobody watches pays nothing.
    ///
    ///     for await phase in task.phases { label.text = "\(phase)" }
    public var phases: AsyncStream<Phase> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Phase.self, bufferingPolicy: .bufferingNewest(256))
        watch(PhaseWatch(continuation))
        return stream
    }
}

/// Who hears of a task's phases, each once, in order.
final class PhaseWatch: Sendable {
    private let last = Mutex<RequestTask.Phase?>(nil)
    private let continuation: AsyncStream<RequestTask.Phase>.Continuation

    init(_ continuation: AsyncStream<RequestTask.Phase>.Continuation) {
        self.continuation = continuation
    }

    /// Looks at the task and tells what is new.
    ///
    /// Under the lock, so that of two who look at once the later one tells the later phase; a stream runs nobody's code.
    func look(_ phase: () -> RequestTask.Phase) {
        last.withLock { last in
            let now = phase()
            guard last != now, last != .ended else { return }
            last = now
            continuation.yield(now)
            if now == .ended { continuation.finish() }
        }
    }

    /// Whether nobody reads any more.
    func whenAbandoned(_ forget: @escaping @Sendable () -> Void) {
        continuation.onTermination = { _ in forget() }
    }
}
