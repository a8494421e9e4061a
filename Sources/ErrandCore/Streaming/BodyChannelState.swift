package import ErrandTransport

/// The state of a body between its transfer and its reader, as a pure state machine.
///
///     transfer: open ─▶ over ─▶ closed        `over`: no bytes follow; `closed`: the end is known
///     reader:   idle ◀─▶ waiting              the reader leaves once, from either
///
/// The transfer is paused when the buffer is full. There are two ways to continue it:
///
/// - The transfer is resumed when half of the buffer has been read. If the reader empties a full
///   buffer and waits for the transfer, the limit grows, because larger steps cost less.
/// - If the reader can receive on its own thread (``beginRead()``), it continues the transfer when it
///   has emptied the buffer. The transfer is then paused after each large read too, so that no other
///   thread is woken while the reader is busy.
///
/// The state counts bytes; ``BodyChannel`` has them.
package struct BodyChannelState: Sendable {
    /// What the transfer may do after its bytes were taken.
    package struct Intake: Sendable, Equatable {
        package var demand: Demand
        /// Whether the reader must be resumed.
        package var wakesReader = false
    }

    /// The next step of a reader that asks for bytes.
    package enum ReadStep: Sendable, Equatable {
        /// Take the first chunk, and resume the transfer if necessary.
        case bytes(resumesTransfer: Bool)
        /// Suspend until the reader is resumed.
        case wait
        /// Continue the paused transfer on this thread, then suspend unless the reader was resumed.
        case receive
        /// There are no more bytes: return the end.
        case end
        /// Another reader waits already.
        case busy
    }

    private enum Phase: Sendable { case open, over, closed }

    /// The number of buffered bytes at which the transfer is paused.
    package private(set) var limit: Int
    private let maximumLimit: Int
    private let largeRead: Int
    private var phase = Phase.open
    /// Whether the bytes of one read are being delivered.
    private var isReading = false
    /// Whether the reader can continue the transfer on its own thread.
    private var isReaderDriven = false
    /// Whether the reader has continued the transfer, until the end of the next read.
    private var isReceiving = false
    /// Whether the buffer was full since the reader has last waited.
    private var wasFull = false
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
    /// - Parameters:
    ///   - limit: The number of buffered bytes at which the transfer is paused at first.
    ///   - maximumLimit: The number to which it can grow.
    ///   - largeRead: The number of bytes of a read after which the reader continues the transfer.
    package init(limit: Int, maximumLimit: Int, largeRead: Int) {
        self.limit = limit
        self.largeRead = largeRead
        self.maximumLimit = max(limit, maximumLimit)
    }

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
        isPaused = buffered >= (isReceiving ? maximumLimit : limit)
        let wakesReader = isWaiting && (isPaused || !isReading)
        if wakesReader { isWaiting = false }
        return Intake(demand: isPaused ? .pause : .more, wakesReader: wakesReader)
    }

    /// The transfer delivers the bytes of one read: the reader is not resumed for each part of them,
    /// and can continue the transfer on its own thread.
    package mutating func beginRead() { (isReading, isReaderDriven) = (true, true) }

    /// Ends a read.
    package mutating func endRead() -> Intake {
        let wakesReader = isWaiting && buffered > 0
        // A small read is likely to be the last one for a while: the next bytes wake the reader.
        let isLarge = buffered >= largeRead
        if phase == .open, isReceiving && buffered > 0 || wakesReader && isLarge { isPaused = true }
        (isReading, isReceiving) = (false, false)
        if wakesReader { isWaiting = false }
        return Intake(demand: isPaused ? .pause : .more, wakesReader: wakesReader)
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
    ///
    /// - Parameter chunk: The size of the first chunk in the buffer; 0 if it is empty.
    package mutating func next(chunk: Int) -> ReadStep {
        if isWaiting { return .busy }
        if chunk > 0, buffered > 0 {
            buffered -= chunk
            guard isPaused, !isReaderDriven, buffered <= limit / 2 else {
                return .bytes(resumesTransfer: false)
            }
            (isPaused, wasFull) = (false, true)
            return .bytes(resumesTransfer: true)
        }
        if phase == .closed { return .end }
        if isPaused {
            (isPaused, isReceiving, isWaiting) = (false, true, true)
            return .receive
        }
        if wasFull { limit = min(2 * limit, maximumLimit) }
        (isWaiting, wasFull) = (true, false)
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
