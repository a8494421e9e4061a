import ErrandTesting
import TestSupport
import Testing

@testable import ErrandCore

/// The list of events that wait for a drain.
@Suite(.limited) struct DrainListTests {
    private final class Token: Sendable {}

    @Test func elementsAreDrainedOnceInOrder() {
        var list = DrainList<Int>()
        let tickets = [1, 2, 3].map { list.add($0) }
        #expect(tickets.map(\.isFirst) == [true, false, false])
        #expect(list.removeAll() == [1, 2, 3])
        #expect(list.removeAll().isEmpty)
        let isFirst = list.add(4).isFirst
        #expect(isFirst, "each drain has a timer of its own")
        #expect(list.removeAll() == [4])
    }

    @Test func removedElementIsReleasedAndNotDrained() {
        var list = DrainList<Token>()
        var token: Token? = Token()
        weak let released = token
        let other = Token()
        let ticket = list.add(token!)
        let otherTicket = list.add(other)
        token = nil
        #expect(released != nil)
        #expect(list.remove(ticket) != nil)
        #expect(released == nil)
        #expect(list.remove(ticket) == nil)
        #expect(list.removeAll().map(ObjectIdentifier.init) == [ObjectIdentifier(other)])
        #expect(list.remove(otherTicket) == nil)
    }

    @Test func ticketOfAnEarlierDrainRemovesNothing() {
        var list = DrainList<Int>()
        let old = list.add(1)
        #expect(list.removeAll() == [1])
        _ = list.add(2)
        #expect(list.remove(old) == nil)
        #expect(list.removeAll() == [2])
    }

    /// A request that has ended is not kept until the next drain.
    @Test func contextLeavesTheDrainAtItsEnd() async {
        let recorder = EventRecorder()
        var configuration = Configuration()
        configuration.eventListeners = [recorder]
        var task: RequestTask? = .forTest(configuration: configuration)
        weak let released = task
        task?.emitAsynchronously(.suspended)
        task?.emitEnd(TaskOutcome(result: .failure(.cancelled)))
        task = nil
        while released != nil { await Task.yield() }
        #expect(recorder.events.count == 2)
    }
}
