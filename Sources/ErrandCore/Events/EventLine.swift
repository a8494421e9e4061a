/// The events of one task on their way to its listeners: who adds one while another is being told leaves it
/// to whoever is telling, so that listeners hear everything in order and never two things at once.
struct EventLine: Sendable {
    private var waiting: [RequestEvent] = []
    private var isTelling = false
    private var isClosed = false

    /// Adds an event; returns it when the caller is to tell it.
    ///
    /// Behind the end nothing enters but what came of writing the answer to the store, which need
    /// not be waited for.
    mutating func enter(_ event: RequestEvent) -> RequestEvent? {
        switch event.kind {
        case .ended:
            guard !isClosed else { return nil }
            isClosed = true
        case .cacheStored, .cacheWriteFailed: break
        default: guard !isClosed else { return nil }
        }
        guard !isTelling else {
            waiting.append(event)
            return nil
        }
        isTelling = true
        return event
    }

    /// The next one to tell, after one was told; `nil` lets go.
    mutating func next() -> RequestEvent? {
        guard !waiting.isEmpty else {
            isTelling = false
            return nil
        }
        return waiting.removeFirst()
    }
}
