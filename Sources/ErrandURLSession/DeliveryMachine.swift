import ErrandCore

/// The life of one transfer as its receiver sees it, without effects: what to tell next, and exactly one
/// end.
///
/// Events come from the session's queue, from timers and from callers, on any thread. Whoever brings one
/// calls ``begin()``; the one thread that gets `true` then performs ``next()`` until there is nothing left.
/// So calls are serial, and no thread waits for another.
struct DeliveryMachine {
    /// What the delivering thread does next.
    enum Action {
        case informational(ResponseHead)
        case head(ResponseHead)
        case sent(Int64)
        /// Take some bytes out of the buffer and tell them; then ``delivered(_:demand:)``.
        case storedBytes
        case end(RequestError?)
        /// Nobody delivers any more.
        case nothing
    }

    /// What becomes of bytes that arrive.
    enum Intake {
        /// Tell them now, straight from the session; then ``delivered(_:demand:)`` and ``next()``.
        case deliver
        /// Put them into the buffer, then ``stored(_:)``.
        case store
        /// Nobody wants them any more.
        case drop
    }

    private enum Completion {
        case success
        case failure(RequestError)
    }

    private var heads: [(head: ResponseHead, isFinal: Bool)] = []
    private var sent: Int64?
    private var buffered = 0
    private var isDelivering = false
    private var isTellingBytes = false
    private var isPaused = false
    /// A receiver may be resumed by another thread before its `.pause` has come back here.
    private var wasResumedMeanwhile = false
    private var completion: Completion?
    private var abortion: RequestError?
    private(set) var hasHead = false
    private(set) var hasEnded = false

    /// Whether the receiver is to blame for silence.
    var isWaitingForReceiver: Bool { isPaused || buffered > 0 }

    /// Whether nothing that arrives from now on matters.
    var isOver: Bool { hasEnded || abortion != nil }

    // MARK: - What happens

    mutating func arrived(informational head: ResponseHead) {
        guard !isOver, !hasHead else { return }
        heads.append((head, false))
    }

    mutating func arrived(head: ResponseHead) {
        guard !isOver, !hasHead else { return }
        hasHead = true
        heads.append((head, true))
    }

    mutating func sent(_ bytes: Int64) {
        guard !isOver, bytes > sent ?? 0 else { return }
        sent = bytes
    }

    /// Bytes arrived.
    ///
    /// On `.deliver` the calling thread has become the delivering one.
    mutating func arrived(bytes count: Int) -> Intake {
        guard !isOver, hasHead, count > 0 else { return .drop }
        guard heads.isEmpty, buffered == 0, !isPaused, !isDelivering else { return .store }
        isDelivering = true
        isTellingBytes = true
        return .deliver
    }

    mutating func stored(_ count: Int) { buffered += count }

    mutating func completed(_ error: RequestError?) {
        guard completion == nil else { return }
        completion = error.map { .failure($0) } ?? .success
    }

    /// Ends the transfer before everything else; false when it has ended, or is about to.
    mutating func abort(_ error: RequestError) -> Bool {
        guard !isOver else { return false }
        abortion = error
        return true
    }

    mutating func resume() {
        isPaused = false
        if isTellingBytes { wasResumedMeanwhile = true }
    }

    // MARK: - The delivering thread

    /// Whether the calling thread is now the one that delivers.
    mutating func begin() -> Bool {
        guard !isDelivering else { return false }
        isDelivering = true
        return true
    }

    /// Bytes were told; so many of them came out of the buffer.
    mutating func delivered(_ fromBuffer: Int, demand: Demand) {
        buffered -= fromBuffer
        isTellingBytes = false
        defer { wasResumedMeanwhile = false }
        switch demand {
        case .more: break
        case .pause: isPaused = !wasResumedMeanwhile
        case .stop: _ = abort(.cancelled)
        }
    }

    mutating func next() -> Action {
        if hasEnded { return idle() }
        if let abortion { return end(abortion) }
        if !heads.isEmpty {
            let (head, isFinal) = heads.removeFirst()
            return isFinal ? .head(head) : .informational(head)
        }
        if let bytes = sent.take() { return .sent(bytes) }
        if isPaused { return idle() }
        if buffered > 0 {
            isTellingBytes = true
            return .storedBytes
        }
        switch completion {
        case .success: return end(nil)
        case .failure(let error): return end(error)
        case nil: return idle()
        }
    }

    private mutating func end(_ error: RequestError?) -> Action {
        hasEnded = true
        return .end(error)
    }

    private mutating func idle() -> Action {
        isDelivering = false
        return .nothing
    }
}
