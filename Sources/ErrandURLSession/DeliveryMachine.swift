import ErrandTransport

/// Decides the order of the calls to a transfer's receiver, and emits exactly one end.
///
/// A pure state machine.
///
/// Events arrive from the session's queue, from timers and from callers, on any thread. The thread that adds
/// an event calls ``begin()``. If it returns `true`, that thread performs ``next()`` until it returns
/// `.nothing`. Calls of the receiver are therefore serial, and no thread blocks for another.
struct DeliveryMachine {
    /// The next step of the delivering thread.
    enum Action {
        case informational(ResponseHead)
        case head(ResponseHead)
        case sent(Int64)
        /// Deliver some bytes from the buffer, then call ``delivered(_:demand:)``.
        case storedBytes
        case end(RequestError?)
        /// Nothing is pending; the calling thread has stopped delivering.
        case nothing
    }

    /// The way to handle bytes that arrive.
    enum Intake {
        /// Deliver them now without a copy, then call ``delivered(_:demand:)`` and ``next()``.
        case deliver
        /// Append them to the buffer, then call ``stored(_:)``.
        case store
        /// Discard them: the transfer is over.
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
    private var isDeliveringBytes = false
    private var isPaused = false
    /// Another thread resumed the receiver before its call returned `.pause`.
    private var wasResumedDuringCall = false
    private var completion: Completion?
    private var abortion: RequestError?
    private(set) var hasHead = false
    private(set) var hasEnded = false

    /// Whether the receiver delays the transfer, so that the idle timeout does not apply.
    var isWaitingForReceiver: Bool { isPaused || buffered > 0 }

    /// Whether further events are ignored.
    var isOver: Bool { hasEnded || abortion != nil }

    // MARK: - Events

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

    /// Decides how to handle bytes that arrived.
    ///
    /// If it returns `.deliver`, the calling thread has become the delivering thread.
    mutating func arrived(bytes count: Int) -> Intake {
        guard !isOver, completion == nil, hasHead, count > 0 else { return .drop }
        guard heads.isEmpty, buffered == 0, !isPaused, !isDelivering else { return .store }
        isDelivering = true
        isDeliveringBytes = true
        return .deliver
    }

    mutating func stored(_ count: Int) { buffered += count }

    /// Ends the transfer after everything that is pending; bytes that arrive later are dropped.
    mutating func completed(_ error: RequestError?) {
        guard completion == nil else { return }
        completion = error.map { .failure($0) } ?? .success
    }

    /// Ends the transfer before anything else that is pending; returns false if it is already over.
    mutating func abort(_ error: RequestError) -> Bool {
        guard !isOver else { return false }
        abortion = error
        return true
    }

    mutating func resume() {
        isPaused = false
        if isDeliveringBytes { wasResumedDuringCall = true }
    }

    // MARK: - The delivering thread

    /// Makes the calling thread the delivering thread; returns false if there already is one.
    mutating func begin() -> Bool {
        guard !isDelivering else { return false }
        isDelivering = true
        return true
    }

    /// Records that the receiver was called with bytes, `fromBuffer` of them from the buffer.
    mutating func delivered(_ fromBuffer: Int, demand: Demand) {
        buffered -= fromBuffer
        isDeliveringBytes = false
        defer { wasResumedDuringCall = false }
        switch demand {
        case .more: break
        case .pause: isPaused = !wasResumedDuringCall
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
            isDeliveringBytes = true
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
