import ErrandCore
import TestSupport
import Testing

/// The division of a file among parallel requests.
@Suite struct SegmentPlannerTests {
    private typealias Segment = SegmentPlanner.Segment

    /// A planner whose changes can be part of an expectation.
    private final class Driver {
        private(set) var planner: SegmentPlanner

        init(
            total: Int64? = 1000, written: [Range<Int64>] = [], limit: Int = 4, minimum: Int64 = 10
        ) {
            planner = SegmentPlanner(
                written: ByteRanges(written), total: total, limit: limit, minimumSize: minimum)
        }

        func next() -> SegmentPlanner.Action { planner.next() }

        func start() throws -> Segment {
            guard case .start(let segment) = planner.next() else { throw Unexpected() }
            return segment
        }

        func acceptWhole(_ segment: Segment, total: Int64? = 1000, maySplit: Bool = true) {
            planner.acceptedWhole(segment.id, total: total, maySplit: maySplit)
        }

        func acceptPart(_ segment: Segment, total: Int64? = 1000, maySplit: Bool = true) {
            planner.acceptedPart(segment.id, total: total, maySplit: maySplit)
        }

        func admit(_ count: Int, to segment: Segment) -> Int {
            planner.admit(count, to: segment.id)
        }
        func finished(_ segment: Segment) -> Bool { planner.finished(segment.id) }
        func failed(_ segment: Segment, _ failure: SegmentPlanner.Failure) -> Bool {
            planner.failed(segment.id, failure)
        }
        func end(_ segment: Segment) -> Int64? { planner.segment(segment.id)?.end }
        func claim(_ segment: Segment) -> Bool { planner.claimWhole(segment.id) }
        func stop() { planner.stop() }
        func beginPause() { planner.beginPause() }
        func endPause() { planner.endPause() }
        var limit: Int { planner.limit }
        var isComplete: Bool { planner.isComplete }
    }

    private struct Unexpected: Error {}

    /// A planner whose first response sends the whole file, and the segments of four requests.
    private static func divided(limit: Int = 4) throws -> (Driver, [Segment]) {
        let planner = Driver(total: nil, limit: limit)
        let first = try planner.start()
        planner.acceptWhole(first, total: 1000, maySplit: true)
        var segments = [first]
        for _ in 0..<3 { segments.append(try planner.start()) }
        return (planner, segments)
    }

    @Test func firstRequestRunsAloneUntilItsResponse() throws {
        let planner = Driver(total: nil)
        let first = try planner.start()
        #expect(first.start == 0 && first.end == .max)
        #expect(planner.next() == .wait)
        planner.acceptWhole(first, total: 1000, maySplit: true)
        #expect(try planner.start().start == 500)
    }

    @Test func longestSegmentIsHalved() throws {
        let (planner, segments) = try Self.divided()
        #expect(segments.map(\.start) == [0, 500, 250, 750])
        #expect(segments.compactMap { planner.end($0) } == [250, 750, 500, 1000])
        #expect(planner.next() == .wait)
    }

    @Test func unsplittableResponseKeepsTheWholeFile() throws {
        for (total, maySplit) in [(nil, true), (1000, false)] as [(Int64?, Bool)] {
            let planner = Driver(total: nil)
            let first = try planner.start()
            planner.acceptWhole(first, total: total, maySplit: maySplit)
            #expect(planner.next() == .wait)
            #expect(planner.admit(1000, to: first) == 1000)
            #expect(planner.finished(first))
            #expect(planner.next() == .done && planner.isComplete)
        }
    }

    @Test func segmentIsNotSplitBelowTheMinimum() throws {
        for (total, isSplit) in [(19, false), (20, true)] as [(Int64, Bool)] {
            let planner = Driver(total: nil)
            let first = try planner.start()
            planner.acceptWhole(first, total: total, maySplit: true)
            #expect((planner.next() != .wait) == isSplit)
        }
    }

    @Test func bytesBeyondTheSegmentAreNotAdmitted() throws {
        let (planner, segments) = try Self.divided()
        let first = segments[0]
        #expect(planner.admit(200, to: first) == 200)
        #expect(!planner.planner.isFull(first.id))
        #expect(planner.admit(200, to: first) == 50)
        #expect(planner.planner.isFull(first.id))
        #expect(planner.admit(1, to: first) == 0)
        #expect(planner.finished(first))
    }

    @Test func slowSegmentIsSplitAgain() throws {
        let (planner, segments) = try Self.divided()
        for segment in segments.dropFirst() {
            #expect(planner.admit(250, to: segment) == 250)
            #expect(planner.finished(segment))
        }
        #expect(planner.admit(50, to: segments[0]) == 50)
        let help = try planner.start()
        #expect(help.start == 150 && help.end == 250)
        #expect(planner.end(segments[0]) == 150)
    }

    @Test func brokenSegmentContinuesAfterEnoughBytes() throws {
        let (planner, segments) = try Self.divided()
        #expect(planner.admit(10, to: segments[1]) == 10)
        #expect(planner.failed(segments[1], .broken))
        #expect(planner.limit == 4)
        let next = try planner.start()
        #expect(next.start == 510 && next.end == 750)
    }

    @Test(arguments: [SegmentPlanner.Failure.broken, .refused])
    func failureWithoutBytesReducesTheNumber(failure: SegmentPlanner.Failure) throws {
        let (planner, segments) = try Self.divided()
        #expect(planner.failed(segments[3], failure))
        #expect(planner.limit == 3)
        #expect(planner.next() == .wait)
        // The request before the range is bounded, so that another one receives the rest.
        #expect(planner.admit(250, to: segments[1]) == 250)
        #expect(planner.finished(segments[1]))
        #expect(try planner.start().start == 750)
        #expect(planner.limit == 3)
    }

    /// Others continue, and the refused range is requested after all pauses.
    @Test func noRequestStartsDuringAPause() throws {
        let (planner, segments) = try Self.divided()
        for segment in segments[2...] {
            #expect(planner.failed(segment, .refused))
            planner.beginPause()
        }
        #expect(planner.admit(250, to: segments[1]) == 250 && planner.finished(segments[1]))
        #expect(planner.next() == .wait)
        planner.endPause()
        #expect(planner.next() == .wait)
        planner.endPause()
        #expect(try planner.start().start >= 500)
    }

    @Test func completeFileNeedsNoEndOfAPause() throws {
        let (planner, segments) = try Self.divided()
        for segment in segments.dropFirst() { #expect(planner.failed(segment, .refused)) }
        planner.beginPause()
        #expect(planner.admit(1000, to: segments[0]) == 1000 && planner.finished(segments[0]))
        #expect(planner.next() == .done)
    }

    @Test func requestThatAskedForTheRangeContinuesIntoIt() throws {
        let planner = Driver(total: nil)
        let first = try planner.start()
        planner.acceptWhole(first, total: 1000, maySplit: true)
        let second = try planner.start()
        #expect(planner.failed(second, .refused))
        #expect(planner.end(first) == 1000)
        #expect(planner.limit == 1 && planner.next() == .wait)
        #expect(planner.admit(2000, to: first) == 1000)
    }

    /// In each order of the refusals, the first request receives the whole file.
    @Test func requestThatAskedForAllBytesReceivesThemAfterRefusals() throws {
        for order in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
            let (planner, segments) = try Self.divided()
            for index in order { #expect(planner.failed(segments[index], .refused)) }
            #expect(planner.end(segments[0]) == 1000, "\(order)")
            #expect(planner.admit(2000, to: segments[0]) == 1000)
            #expect(planner.finished(segments[0]) && planner.isComplete)
        }
    }

    /// A request continues to the end of the bytes that it asked for, and not further.
    @Test func requestContinuesIntoAPartOfMissingBytes() throws {
        let (planner, segments) = try Self.divided(limit: 7)
        let halves = [try planner.start(), try planner.start(), try planner.start()]
        #expect(halves.map(\.start) == [125, 625, 375])
        #expect(planner.failed(segments[1], .refused))
        #expect(planner.failed(halves[2], .refused))
        // It has asked for the bytes of the last segment, and for none of the second one.
        #expect(planner.end(segments[2]) == 500)
        #expect(planner.admit(1000, to: segments[2]) == 250)
        #expect(planner.finished(segments[2]))
        let next = try planner.start()
        #expect(next.start == 500 && next.end == 625)
    }

    /// The request before the range has asked for no byte of it, so its response ends before.
    @Test func rangeThatNoOtherRequestAskedForIsRequestedAgain() throws {
        let (planner, segments) = try Self.divided()
        #expect(planner.failed(segments[1], .refused))
        #expect(planner.end(segments[2]) == 500)
        #expect(planner.admit(1000, to: segments[2]) == 250)
        #expect(planner.finished(segments[2]))
        let next = try planner.start()
        #expect(next.start == 500 && next.end == 750)
    }

    @Test func lastFailureEndsTheAttempt() throws {
        let (planner, segments) = try Self.divided()
        for segment in segments.dropLast() { #expect(planner.failed(segment, .refused)) }
        #expect(planner.limit == 1)
        #expect(!planner.failed(segments[3], .refused))
    }

    /// The first request may end before the refusals of the others arrive.
    @Test(arguments: 1...3)
    func refusalAfterTheEndOfAnotherRequestLeavesOneRequest(refused: Int) throws {
        let (planner, segments) = try Self.divided()
        #expect(planner.admit(1000, to: segments[0]) == 250)
        #expect(planner.finished(segments[0]))
        for segment in segments.dropFirst().prefix(refused) {
            #expect(planner.failed(segment, .refused))
        }
        for segment in segments.dropFirst(1 + refused) {
            #expect(planner.admit(1000, to: segment) == 250)
            #expect(planner.finished(segment))
        }
        let next = try planner.start()
        #expect(planner.next() == .wait || refused < 3)
        #expect(planner.failed(next, .refused) == (refused < 3))
    }

    @Test func failureOfTheFirstRequestEndsTheAttempt() throws {
        for failure in [SegmentPlanner.Failure.broken, .refused] {
            let planner = Driver(written: [0..<100])
            let first = try planner.start()
            #expect(first.start == 100 && first.end == 1000)
            #expect(!planner.failed(first, failure))
        }
    }

    @Test func serverThatIgnoresRangesSendsTheRestInOneResponse() throws {
        let planner = Driver(total: nil)
        let first = try planner.start()
        planner.acceptWhole(first, total: 1000, maySplit: true)
        let second = try planner.start()
        #expect(planner.failed(second, .ignored))
        #expect(planner.admit(1000, to: first) == 1000)
        #expect(planner.finished(first))
        #expect(planner.isComplete)
    }

    @Test func serverThatIgnoresTheLastRangeNeedsARestart() throws {
        let planner = Driver(written: [0..<100, 200..<300])
        let first = try planner.start()
        #expect(!planner.failed(first, .ignored))
    }

    @Test func nothingStartsBesideAResponseThatReplacesThePart() throws {
        let planner = Driver(written: [0..<100])
        let first = try planner.start()
        planner.acceptPart(first)
        let second = try planner.start()
        #expect(!planner.claim(second))
        #expect(planner.admit(900, to: first) > 0 && planner.finished(first))
        #expect(planner.claim(second))
        #expect(planner.next() == .wait)
        planner.acceptWhole(second)
        #expect(try planner.start().start == 500)
    }

    @Test func gapsOfAnEarlierStartAreRequested() throws {
        let planner = Driver(written: [0..<100, 200..<300, 600..<1000])
        let first = try planner.start()
        #expect(first.start == 100 && first.end == 200)
        #expect(planner.next() == .wait)
        planner.acceptPart(first, total: 1000, maySplit: true)
        let second = try planner.start()
        #expect(second.start == 300 && second.end == 600)
        #expect(try planner.start().start == 450)
    }

    @Test func completeFileIsConfirmedByARequestAtItsEnd() throws {
        let planner = Driver(written: [0..<1000])
        let first = try planner.start()
        #expect(first.start == 1000 && first.end == 1000)
        #expect(planner.finished(first))
        #expect(planner.next() == .done)
    }

    @Test func shortRangeIsRequestedAgainUnlessItIsEmpty() throws {
        let planner = Driver(written: [0..<100], limit: 1)
        let first = try planner.start()
        planner.acceptPart(first, total: 1000, maySplit: false)
        #expect(planner.admit(10, to: first) == 10)
        #expect(planner.finished(first))
        let second = try planner.start()
        #expect(second.start == 110)
        #expect(!planner.finished(second))
    }

    @Test func partOfAnUnknownLengthIsFollowedByAnotherRequest() throws {
        let planner = Driver(total: nil, written: [0..<100], limit: 1)
        let first = try planner.start()
        #expect(first.start == 100)
        planner.acceptPart(first, total: nil, maySplit: false)
        #expect(planner.admit(10, to: first) == 10)
        #expect(planner.finished(first))
        #expect(try planner.start().start == 110)
    }

    @Test func stoppedPlannerStartsAndAdmitsNothing() throws {
        let (planner, segments) = try Self.divided()
        planner.stop()
        #expect(planner.next() == .done)
        #expect(planner.admit(5, to: segments[0]) == 0)
    }

    /// Any sequence of events: each byte is admitted exactly once, and no attempt waits for ever.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func anySequenceOfEventsReceivesEachByteOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let total = Int64.random(in: 1...5000, using: &random)
        let workers = Int.random(in: 1...8, using: &random)
        let minimum = Int64.random(in: 1...300, using: &random)
        var received = [Int](repeating: 0, count: Int(total))
        var written = ByteRanges()
        for _ in 0..<10_000 {
            var planner = SegmentPlanner(
                written: written, total: written.count > 0 ? total : nil, limit: workers,
                minimumSize: minimum)
            if Self.attempt(&planner, total, workers, &random, &received, &written) { break }
        }
        #expect(received.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(written.ranges == [0..<total], "seed \(seed)")
    }

    /// - Returns: Whether the file is complete.
    private static func attempt(
        _ planner: inout SegmentPlanner, _ total: Int64, _ workers: Int,
        _ random: inout SeededGenerator, _ received: inout [Int], _ written: inout ByteRanges
    ) -> Bool {
        var active: [Segment] = []
        while true {
            while active.count < workers {
                guard case .start(let segment) = planner.next() else { break }
                if written.count == 0, active.isEmpty {
                    planner.acceptedWhole(
                        segment.id, total: total, maySplit: Bool.random(using: &random))
                } else {
                    planner.acceptedPart(segment.id, total: total, maySplit: true)
                }
                active.append(segment)
            }
            guard let index = active.indices.randomElement(using: &random) else {
                return planner.isComplete
            }
            let id = active[index].id
            guard let position = planner.segment(id)?.next else {
                Issue.record("a segment that has not ended is unknown")
                return true
            }
            let count = planner.admit(Int.random(in: 0...400, using: &random), to: id)
            for byte in position..<position + Int64(count) { received[Int(byte)] += 1 }
            written.insert(position..<position + Int64(count))
            if planner.isFull(id) {
                active.remove(at: index)
                if !planner.finished(id) { return false }
            } else if Int.random(in: 0..<6, using: &random) == 0 {
                active.remove(at: index)
                let failure: SegmentPlanner.Failure =
                    Bool.random(using: &random) ? .broken : .refused
                guard planner.failed(id, failure) else { return false }
            }
        }
    }
}
