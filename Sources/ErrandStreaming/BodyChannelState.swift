package import ErrandTransport

/// The state of a body between its transfer and its reader, as a pure state machine.
///
///     transfer: open ─▶ over ─▶ closed        `over`: no bytes follow; `closed`: the end is known
///     reader:   idle ◀─▶ waiting              the reader leaves once, from either
///
/// The transfer is paused while the buffer is full. The state counts bytes; ``BodyChannel`` has them.
package struct BodyChannelState: Sendable {
    /// What the transfer may do after its bytes were taken.
    package struct Intake: Sendable, Equatable {
        package var demand: Demand
        /// Whether the reader must be resumed.
        package var wakesReader = false
    }

    /// The next step of a reader that asks for bytes.
    package enum ReadStep: Sendable, Equatable {
        /// Take the whole buffer, and resume the transfer if necessary.
        case bytes(resumesTransfer: Bool)
        /// Suspend until the reader is resumed.
        case wait
        /// There are no more bytes: return the end.
        case end
        /// Another reader waits already.
        case busy
    }

    private enum Phase: Sendable { case open, over, closed }

    private let limit: Int
    private var phase = Phase.open
    private var isPaused = false
    private var isWaiting = false
    private var hasLeft = false
    /// The number of bytes in the buffer.
    private var buffered = 0
    /// The number of bytes that the transfer has delivered.
    package private(set) var received: Int64 = 0

    /// Whether the reader has left, or was cancelled: it gets no more bytes.
    package var hasReaderLeft: Bool { hasLeft }

    /// Creates the state of an open channel.
    ///
    /// - Parameter limit: The number of buffered bytes at which the transfer is paused.
    package init(limit: Int) { self.limit = limit }

    /// Whether the reader waits for bytes.
    package var isReaderWaiting: Bool { isWaiting }
    /// Whether the transfer has ended.
    package var isOver: Bool { phase != .open }

    // MARK: - The transfer

    /// Adds bytes to the buffer; with the demand `.stop` they are discarded.
    package mutating func received(_ count: Int) -> Intake {
        guard phase == .open, !hasLeft else { return Intake(demand: .stop) }
        received += Int64(count)
        buffered += count
        // A reader that waits takes the buffer soon.
        if isWaiting {
            isWaiting = false
            return Intake(demand: .more, wakesReader: true)
        }
        isPaused = buffered >= limit
        return Intake(demand: isPaused ? .pause : .more)
    }

    /// Records the end of the transfer; returns false if it has ended before.
    package mutating func transferEnded() -> Bool {
        guard phase == .open else { return false }
        phase = .over
        isPaused = false
        return true
    }

    /// Records the end that the reader gets after the buffer, or instead of it.
    ///
    /// - Returns: Whether the reader must be resumed.
    package mutating func close(discardsBuffer: Bool) -> Bool {
        guard phase != .closed else { return false }
        phase = .closed
        if discardsBuffer { buffered = 0 }
        defer { isWaiting = false }
        return isWaiting
    }

    // MARK: - The reader

    /// The reader asks for bytes.
    package mutating func next() -> ReadStep {
        if isWaiting { return .busy }
        if buffered > 0 {
            buffered = 0
            defer { isPaused = false }
            return .bytes(resumesTransfer: isPaused)
        }
        if phase == .closed { return .end }
        isWaiting = true
        return .wait
    }

    /// The reader leaves: it reads nothing more.
    ///
    /// - Returns: Whether the transfer must be cancelled.
    package mutating func leave() -> Bool {
        guard !hasLeft else { return false }
        hasLeft = true
        buffered = 0
        return phase == .open
    }
}
