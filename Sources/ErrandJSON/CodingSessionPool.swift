import Synchronization

/// A pool of coding sessions for reuse by later documents.
///
/// A reused session has its type records, cached keys and containers, which for a small document
/// are half of the work. A session is returned only if user code has kept none of its coders. It
/// then holds no document, key, closure or `userInfo`; its memory is proportional to the number of
/// types it has coded.
final class CodingSessionPool<Session: AnyObject>: Sendable {
    // @unchecked: a pooled session has no user; `take` returns it to one caller only.
    private struct Spare: @unchecked Sendable {
        let session: Session
    }

    /// The number of sessions that are likely to be in use at the same time.
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
