/// The events of one task on their way to its listeners: who adds one while another is being told leaves it
/// to whoever is telling, so that listeners hear everything in order and never two things at once.
///
/// What a transfer brings is not told on its thread, which serves other transfers, too: it waits here until a
/// thread that was summoned for it comes, or one of the pipeline's passes first.
struct EventLine: Sendable {
    private var waiting: [RequestEvent] = []
    private var isTelling = false
    private var isSummoned = false
    /// Whether the one who tells was summoned, and is no thread of a user's.
    private var isToldElsewhere = false
    private var isClosed = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Adds an event; returns the one that the caller is to tell: this one, or one that waits before it.
    ///
    /// Behind the end nothing enters but what came of writing the answer to the store, which need
    /// not be waited for.
    mutating func enter(_ event: RequestEvent) -> RequestEvent? {
        guard admits(event) else { return nil }
        waiting.append(event)
        return begin(elsewhere: false)
    }

    /// Adds an event that the caller must not tell.
    ///
    /// - Returns: Whether somebody else has to be summoned, who calls ``begin()``.
    mutating func leave(_ event: RequestEvent) -> Bool {
        guard admits(event) else { return false }
        waiting.append(event)
        guard !isTelling, !isSummoned else { return false }
        isSummoned = true
        return true
    }

    /// What the caller is to tell first; `nil` where there is nothing left, or somebody tells it.
    ///
    /// - Parameter elsewhere: Whether the caller was summoned.
    mutating func begin(elsewhere: Bool = true) -> RequestEvent? {
        isSummoned = false
        guard !isTelling, !waiting.isEmpty else { return nil }
        isTelling = true
        isToldElsewhere = elsewhere
        return waiting.removeFirst()
    }

    /// The next one to tell, after one was told; `nil` lets go.
    mutating func next() -> RequestEvent? {
        guard !waiting.isEmpty else {
            isTelling = false
            return nil
        }
        return waiting.removeFirst()
    }

    /// Whether one who was summoned is telling.
    ///
    /// Only he is waited for: a listener may hold up a thread of the user's, in `cancel()` say, until the end is there.
    var isBusyElsewhere: Bool { isTelling && isToldElsewhere }

    /// Takes in who waits for him; false when there is nobody to wait for.
    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard isBusyElsewhere else { return false }
        waiters.append(continuation)
        return true
    }

    /// Who waited, once nobody tells anything.
    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        guard !isTelling else { return [] }
        defer { waiters = [] }
        return waiters
    }

    private mutating func admits(_ event: RequestEvent) -> Bool {
        switch event.kind {
        case .ended:
            defer { isClosed = true }
            return !isClosed
        case .cacheStored, .cacheWriteFailed: return true
        default: return !isClosed
        }
    }
}
