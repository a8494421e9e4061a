import Synchronization

extension RequestTask {
    /// The phase of a task.
    public enum Phase: Sendable, Hashable {
        /// Started; no work has been done yet.
        case described
        /// The final request is being built.
        case adapting
        /// Waiting for the store, a concurrency or rate limit, the network, credentials, an identical request, or the next
        /// attempt.
        case waiting
        /// Sending the request, or receiving or validating the response, in this attempt, counted from 1.
        case inFlight(attempt: Int)
        /// Suspended by ``RequestTask/suspend()``.
        case suspended
        /// Processors and the decoder handle the response or the error.
        case processing
        /// Cancelled, timed out or shut down, but not yet ended.
        case cancelling
        /// Ended.
        case ended

        /// Whether the task is neither suspended, nor cancelling, nor ended.
        public var isRunning: Bool {
            switch self {
            case .described, .adapting, .waiting, .inFlight, .processing: true
            case .suspended, .cancelling, .ended: false
            }
        }
    }

    /// The current phase, then each later one; the sequence ends after ``Phase/ended``.
    ///
    /// Phases without work are omitted, for example ``Phase/processing`` without processors. Each call returns a separate
    /// sequence. A slow reader gets the latest 256 phases. Without a reader there is no cost.
    ///
    ///     for await phase in task.phases { label.text = "\(phase)" }
    public var phases: AsyncStream<Phase> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Phase.self, bufferingPolicy: .bufferingNewest(256))
        watch(PhaseObserver(continuation))
        return stream
    }
}

/// A reader of a task's phases, which gets each phase once and in order.
final class PhaseObserver: Sendable {
    private let last = Mutex<RequestTask.Phase?>(nil)
    private let continuation: AsyncStream<RequestTask.Phase>.Continuation

    init(_ continuation: AsyncStream<RequestTask.Phase>.Continuation) {
        self.continuation = continuation
    }

    /// Yields the phase if it changed.
    ///
    /// It is read under the lock, so that concurrent calls yield in order; a stream runs no user code.
    func update(_ phase: () -> RequestTask.Phase) {
        last.withLock { last in
            let now = phase()
            guard last != now, last != .ended else { return }
            last = now
            continuation.yield(now)
            if now == .ended { continuation.finish() }
        }
    }

    /// Calls a handler when the reader stops reading.
    func whenAbandoned(_ handler: @escaping @Sendable () -> Void) {
        continuation.onTermination = { _ in handler() }
    }
}
