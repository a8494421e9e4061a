import ErrandTransport
import TestSupport
import Testing

@testable import ErrandCore

/// The state of a body, for all orders of its events.
@Suite(.limited) struct BodyChannelStateTests {
    /// An event of the transfer, of the task or of the reader.
    private enum Event: CaseIterable {
        case small, large, read, readEnd, transferEnd, close, discard, next, leave
    }

    /// A simple model of the same body: it has the bytes, and checks each result of the state.
    private struct Model {
        static let limit = 3
        /// The size of a large read.
        static let largeRead = 2

        var state = BodyChannelState(
            limit: Model.limit, maximumLimit: 2 * Model.limit, largeRead: Model.largeRead)
        var path: [Event] = []
        /// The chunks in the buffer, with the numbers of their bytes.
        var buffer: [[Int]] = []
        var isReading = false
        /// Whether the reader can receive on its own thread, and whether it does.
        var isReaderDriven = false
        var isReceiving = false
        var accepted = 0
        /// The number of the next byte that the reader gets.
        var read = 0
        var isPaused = false
        var isWaiting = false
        var hasTransferEnded = false
        var isClosed = false
        var hasLeft = false
        var isDiscarded = false
        var hasEnd = false
        var cancellations = 0
        var fault: String?

        mutating func require(_ condition: Bool, _ rule: String) {
            if !condition, fault == nil { fault = "\(rule): \(path)" }
        }

        /// Performs an event; false if no transport, task or reader causes it in this state.
        mutating func perform(_ event: Event) -> Bool {
            path.append(event)
            switch event {
            case .small: return receive(1)
            case .large: return receive(Model.limit)
            case .read:
                state.beginRead()
                (isReading, isReaderDriven) = (true, true)
            case .readEnd: endRead()
            case .transferEnd: transferEnd()
            case .close: return close(discards: false)
            case .discard: return close(discards: true)
            case .next: next()
            case .leave: leave()
            }
            check()
            return true
        }

        private mutating func receive(_ count: Int) -> Bool {
            // A paused transfer delivers nothing, and one that has ended neither.
            guard !isPaused, !hasTransferEnded else { return false }
            let intake = state.received(count)
            guard !hasLeft else {
                require(intake == .init(demand: .stop), "bytes after the reader left are discarded")
                check()
                return true
            }
            buffer.append(Array(accepted..<(accepted + count)))
            accepted += count
            isPaused = size >= (isReceiving ? 2 * Model.limit : state.limit)
            require(intake.demand == (isPaused ? .pause : .more), "a full buffer pauses")
            require(
                intake.wakesReader == (isWaiting && (isPaused || !isReading)),
                "bytes wake a waiting reader, within a read only if they fill the buffer")
            if intake.wakesReader { isWaiting = false }
            check()
            return true
        }

        /// The number of bytes in the buffer.
        private var size: Int { buffer.joined().count }

        private mutating func endRead() {
            let end = state.endRead()
            require(
                end.wakesReader == (isWaiting && size > 0), "the end of a read wakes the reader")
            let isForReader =
                isReceiving ? size > 0 : end.wakesReader && size >= Model.largeRead
            let pauses = isPaused || !hasTransferEnded && isForReader
            require(
                end.demand == (pauses ? .pause : .more),
                "pauses after each read of the reader, and after large ones that wake it")
            isPaused = pauses
            if end.wakesReader { isWaiting = false }
            (isReading, isReceiving) = (false, false)
        }

        private mutating func transferEnd() {
            require(state.transferEnded() == !hasTransferEnded, "the first end counts")
            hasTransferEnded = true
            isPaused = false
        }

        private mutating func close(discards: Bool) -> Bool {
            // The task ends after its transfer, once.
            guard hasTransferEnded, !isClosed else { return false }
            let wakes = state.close(discardsBuffer: discards)
            require(wakes == isWaiting, "the end wakes exactly a waiting reader")
            isWaiting = false
            isClosed = true
            if discards { buffer = [] }
            isDiscarded = discards
            check()
            return true
        }

        private mutating func next() {
            switch state.next(chunk: buffer.first?.count ?? 0) {
            case .busy: require(isWaiting, "only a second reader is refused")
            case .wait:
                require(!isWaiting && buffer.isEmpty && !isClosed, "waits without bytes and end")
                require(!isPaused, "does not wait for a paused transfer")
                isWaiting = true
            case .receive:
                require(!isWaiting && buffer.isEmpty && !isClosed, "receives without bytes and end")
                require(isPaused, "continues a paused transfer only")
                (isPaused, isReceiving, isWaiting) = (false, true, true)
            case .end:
                require(isClosed && buffer.isEmpty, "the end follows the bytes")
                hasEnd = true
            case .bytes(let resumes):
                require(!isWaiting && !buffer.isEmpty, "bytes are there")
                require(!hasEnd && !hasLeft && !isDiscarded, "no bytes after the end")
                let chunk = buffer.removeFirst()
                require(chunk.first == read, "no byte is lost or given twice")
                read += chunk.count
                require(
                    resumes == (isPaused && !isReaderDriven && size <= state.limit / 2),
                    "a paused transfer is resumed when half of the buffer was read, and no other")
                if resumes { isPaused = false }
            }
        }

        private mutating func leave() {
            let cancels = state.leave()
            if cancels { cancellations += 1 }
            require(cancels == (!hasLeft && !hasTransferEnded), "the first leave cancels")
            hasLeft = true
            buffer = []
        }

        private mutating func check() {
            require(state.received == Int64(accepted), "the bytes are counted")
            require(state.isReaderWaiting == isWaiting, "the waiting reader is known")
            require(state.isOver == hasTransferEnded, "the end of the transfer is known")
            require(state.hasReaderLeft == hasLeft, "the leave is known")
            require(cancellations <= 1, "one cancellation")
            require(!(isClosed && isWaiting), "no reader waits after the end")
            require(
                !isWaiting || isReading || buffer.isEmpty,
                "no reader waits for bytes that are there")
            require(!isWaiting || !isPaused, "no reader waits for a paused transfer")
            if isPaused, !hasLeft, !isReaderDriven {
                require(
                    size > state.limit / 2, "paused only while the buffer is more than half full")
            }
        }
    }

    @Test func allOrdersOfEventsKeepTheInvariants() {
        var (states, ends, faults) = (0, 0, [String]())
        func explore(_ model: Model, _ depth: Int) {
            states += 1
            if model.hasEnd { ends += 1 }
            if let fault = model.fault {
                faults.append(fault)
                return
            }
            guard depth > 0, faults.count < 5 else { return }
            for event in Event.allCases {
                var next = model
                if next.perform(event) { explore(next, depth - 1) }
            }
        }
        explore(Model(), 8)
        #expect(faults == [])
        // The enumeration reaches the end in many ways.
        #expect(states > 100_000 && ends > 10_000, "\(states) states, \(ends) ends")
    }

    @Test func theBufferExceedsTheLimitByAtMostOneChunk() {
        var state = BodyChannelState(limit: 10, maximumLimit: 40, largeRead: 4)
        #expect(state.received(9) == .init(demand: .more))
        #expect(state.received(100) == .init(demand: .pause))
        #expect(state.next(chunk: 9) == .bytes(resumesTransfer: false))
        #expect(state.next(chunk: 100) == .bytes(resumesTransfer: true))
    }

    @Test func theLimitGrowsForReadersThatEmptyAFullBuffer() {
        var state = BodyChannelState(limit: 10, maximumLimit: 40, largeRead: 4)
        var limits: [Int] = []
        for _ in 0..<4 {
            #expect(state.received(state.limit).demand == .pause)
            #expect(state.next(chunk: state.limit) == .bytes(resumesTransfer: true))
            #expect(state.next(chunk: 0) == .wait)
            limits.append(state.limit)
            // Wakes the reader, which takes these bytes.
            #expect(state.received(1) == .init(demand: .more, wakesReader: true))
            #expect(state.next(chunk: 1) == .bytes(resumesTransfer: false))
        }
        #expect(limits == [20, 40, 40, 40])
    }

    @Test func theLimitStaysForReadersThatNeverEmptyTheBuffer() {
        var state = BodyChannelState(limit: 10, maximumLimit: 40, largeRead: 4)
        _ = state.received(5)
        for _ in 0..<4 {
            #expect(state.received(5).demand == .pause)
            #expect(state.next(chunk: 5) == .bytes(resumesTransfer: true))
        }
        #expect(state.limit == 10)
    }

    @Test func theReaderContinuesATransferAfterLargeReads() {
        var state = BodyChannelState(limit: 10, maximumLimit: 40, largeRead: 4)
        #expect(state.next(chunk: 0) == .wait)
        state.beginRead()
        #expect(state.received(5) == .init(demand: .more))
        #expect(state.endRead() == .init(demand: .pause, wakesReader: true))
        #expect(state.next(chunk: 5) == .bytes(resumesTransfer: false))
        #expect(state.next(chunk: 0) == .receive)
        // A read of the reader may fill the whole buffer.
        state.beginRead()
        #expect(state.received(30) == .init(demand: .more))
        #expect(state.endRead() == .init(demand: .pause, wakesReader: true))
        #expect(state.next(chunk: 30) == .bytes(resumesTransfer: false))
        #expect(state.next(chunk: 0) == .receive)
        // Without input the reader waits for an event.
        #expect(state.isReaderWaiting)
        state.beginRead()
        #expect(state.received(1) == .init(demand: .more))
        #expect(state.endRead().wakesReader)
    }

    @Test func smallReadsLeaveTheTransferToItsOwnThread() {
        var state = BodyChannelState(limit: 10, maximumLimit: 40, largeRead: 4)
        #expect(state.next(chunk: 0) == .wait)
        state.beginRead()
        #expect(state.received(3) == .init(demand: .more))
        #expect(state.endRead() == .init(demand: .more, wakesReader: true))
        #expect(state.next(chunk: 3) == .bytes(resumesTransfer: false))
        #expect(state.next(chunk: 0) == .wait)
    }

    @Test func readsWithoutAReaderArePausedByTheLimitOnly() {
        var state = BodyChannelState(limit: 10, maximumLimit: 40, largeRead: 4)
        for demand in [Demand.more, .pause] {
            state.beginRead()
            #expect(state.received(5) == .init(demand: demand))
            #expect(state.endRead() == .init(demand: demand))
        }
        // Half of the buffer was read: the reader continues when it needs bytes.
        #expect(state.next(chunk: 5) == .bytes(resumesTransfer: false))
        #expect(state.next(chunk: 5) == .bytes(resumesTransfer: false))
        #expect(state.next(chunk: 0) == .receive)
    }
}
