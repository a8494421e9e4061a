/// The events of one task that wait for delivery to its listeners.
///
/// An event that is added during a delivery is delivered by the same thread, so listeners receive
/// events in order and one at a time. Events of a transfer are not delivered on the transfer's
/// thread, which serves other transfers: they wait for a drain on another thread, or for the next
/// event that the pipeline adds.
package struct EventQueue: Sendable {
    private var waiting: [RequestEvent] = []
    private var isDelivering = false
    private var isDrainScheduled = false
    /// Whether the current delivery is a scheduled drain and not on a thread of the user.
    private var isDrain = false
    private var isClosed = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    package init() {}

    /// Adds an event; returns the event that the caller must deliver first, `nil` if there is none.
    ///
    /// After the end only the outcome of a store write is accepted, because the task does not wait
    /// for the write.
    package mutating func enter(_ event: RequestEvent) -> RequestEvent? {
        guard admits(event) else { return nil }
        waiting.append(event)
        return begin(elsewhere: false)
    }

    /// Adds an event that the caller must not deliver.
    ///
    /// - Returns: Whether the caller must schedule a drain, which calls ``begin(elsewhere:)``.
    package mutating func leave(_ event: RequestEvent) -> Bool {
        guard admits(event) else { return false }
        waiting.append(event)
        guard !isDelivering, !isDrainScheduled else { return false }
        isDrainScheduled = true
        return true
    }

    /// Starts a delivery with the first event; `nil` if none waits or another thread delivers.
    ///
    /// - Parameter elsewhere: Whether the caller is a scheduled drain.
    package mutating func begin(elsewhere: Bool = true) -> RequestEvent? {
        isDrainScheduled = false
        guard !isDelivering, !waiting.isEmpty else { return nil }
        isDelivering = true
        isDrain = elsewhere
        return waiting.removeFirst()
    }

    /// The next event to deliver after one was delivered; `nil` ends the delivery.
    package mutating func next() -> RequestEvent? {
        guard !waiting.isEmpty else {
            isDelivering = false
            return nil
        }
        return waiting.removeFirst()
    }

    /// Whether a scheduled drain is delivering.
    ///
    /// Only a drain is waited for: a listener may block a thread of the user, in `cancel()` for
    /// example, until the task ends.
    package var isBusyElsewhere: Bool { isDelivering && isDrain }

    /// Adds a waiter for the drain; false if no drain is delivering.
    package mutating func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard isBusyElsewhere else { return false }
        waiters.append(continuation)
        return true
    }

    /// Removes the waiters, once no delivery is in progress.
    package mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        guard !isDelivering else { return [] }
        defer { waiters = [] }
        return waiters
    }

    private mutating func admits(_ event: RequestEvent) -> Bool {
        switch event.kind {
        case .ended:
            defer { isClosed = true }
            return !isClosed
        case .cacheStored, .cacheWriteFailed, .storeProblem: return true
        default: return !isClosed
        }
    }
}
