/// The events of one task on their way to its listeners: who adds one while another is being told leaves it
/// to whoever is telling, so that listeners hear everything in order and never two things at once.
///
/// What a transfer brings is not told on its thread, which serves other transfers, too: it waits here until a
/// thread that was summoned for it comes, or one of the pipeline's passes first.
struct EventLine: Sendable {
    private var waiting: [RequestEvent] = []
    private var isTelling = false
    private var isSummoned = false
    private var isClosed = false

    /// Adds an event; returns the one that the caller is to tell: this one, or one that waits before it.
    ///
    /// Behind the end nothing enters but what came of writing the answer to the store, which need
    /// not be waited for.
    mutating func enter(_ event: RequestEvent) -> RequestEvent? {
        guard admits(event) else { return nil }
        if !isTelling, waiting.isEmpty {
            isTelling = true
            return event
        }
        waiting.append(event)
        return begin()
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
    mutating func begin() -> RequestEvent? {
        isSummoned = false
        guard !isTelling, !waiting.isEmpty else { return nil }
        isTelling = true
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
