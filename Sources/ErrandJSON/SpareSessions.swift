import Synchronization

/// Sessions that are done, for the next documents: with them types are known, keys have been
/// written and containers made, which for a small document is half of the work.
///
/// A session is put back only if nobody has kept a coder of it. It then holds no document, no key
/// and nothing of a user's, but memory in proportion to the types it has met.
final class SpareSessions<Session: AnyObject>: Sendable {
    // @unchecked: a spare session belongs to nobody; whoever takes it is the only one to have it.
    private struct Spare: @unchecked Sendable {
        let session: Session
    }

    /// As many as are likely to be at work at once.
    private let limit = 8
    private let spares = Mutex<[Spare]>([])

    func take() -> Session? { spares.withLock { $0.popLast() }?.session }

    func put(_ session: Session) -> Bool {
        let spare = Spare(session: session)
        return spares.withLock { spares in
            if spares.count >= limit { return false }
            spares.append(spare)
            return true
        }
    }
}
