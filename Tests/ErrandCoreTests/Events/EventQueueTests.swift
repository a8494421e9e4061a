import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandCore

@Suite(.timeLimit(.minutes(5))) struct EventQueueTests {
    @Test func eventsEnteredDuringADeliveryAreLeftToIt() {
        var queue = EventQueue()
        #expect(isAttempt(queue.enter(event(.attemptStarted(1))), 1))
        #expect(queue.enter(event(.attemptStarted(2))) == nil)
        #expect(queue.enter(event(.attemptStarted(3))) == nil)
        #expect(isAttempt(queue.next(), 2))
        #expect(isAttempt(queue.next(), 3))
        #expect(queue.next() == nil)
        #expect(isAttempt(queue.enter(event(.attemptStarted(4))), 4))
    }

    @Test func deferredEventsAreDeliveredByTheNextCaller() {
        var queue = EventQueue()
        let needsDrain = [1, 2].map { queue.leave(event(.attemptStarted($0))) }
        #expect(needsDrain == [true, false], "one drain is enough")
        // The pipeline enters before the drain begins: it delivers the waiting events in order.
        #expect(isAttempt(queue.enter(event(.attemptStarted(3))), 1))
        let needsSecondDrain = queue.leave(event(.attemptStarted(4)))
        #expect(!needsSecondDrain)
        #expect(queue.begin() == nil)
        for number in 2...4 { #expect(isAttempt(queue.next(), number)) }
        #expect(queue.next() == nil)
        let needsNewDrain = queue.leave(event(.attemptStarted(5)))
        #expect(needsNewDrain)
        #expect(isAttempt(queue.begin(), 5))
        #expect(queue.next() == nil)
        #expect(queue.begin() == nil)
    }

    @Test func allEventsAreDeliveredBeforeTheTaskEnds() async throws {
        let gate = Gate()
        let delivered = Mutex<[String]>([])
        var configuration = Configuration()
        configuration.eventListeners = [
            ClosureListener { event in
                if case .headReceived = event.kind {
                    delivered.withLock { $0.append("head") }
                    gate.open()
                    // Yields long enough for the pipeline to reach its end meanwhile.
                    for _ in 0..<50 { sched_yield() }
                }
                if case .ended = event.kind { delivered.withLock { $0.append("ended") } }
            }
        ]
        let transport = ScriptedTransport()
        transport.on(.get, "/x", ScriptedResponse.json("{}"))
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        for _ in 0..<100 {
            delivered.withLock { $0 = [] }
            let task = agent.start(RequestDescription(endpoint: "X", url: "https://a.example/x"))
            await task.untilEnded()
            #expect(delivered.withLock { $0 } == ["head", "ended"])
        }
        #expect(gate.isOpen)
    }

    @Test func eventsDeferredAfterTheEndAreDropped() {
        var queue = EventQueue()
        #expect(queue.enter(event(.ended(nil))) != nil)
        #expect(queue.next() == nil)
        let needsDrain = queue.leave(event(.suspended))
        #expect(!needsDrain)
        #expect(queue.begin() == nil)
    }

    @Test func onlyStoreEventsAreDeliveredAfterTheEnd() {
        var queue = EventQueue()
        #expect(queue.enter(event(.ended(nil))) != nil)
        #expect(queue.next() == nil)
        #expect(queue.enter(event(.ended(nil))) == nil)
        #expect(queue.enter(event(.suspended)) == nil)
        #expect(queue.enter(event(.cacheStored(bytes: 1))) != nil)
        #expect(queue.next() == nil)
        let problem = RequestError(.storeFailed, stage: .cache, "a problem")
        #expect(queue.enter(event(.storeProblem(problem))) != nil)
    }

    @Test func listenersReceiveEventsSeriallyInOrderOfTime() async {
        let listener = OrderCheckingListener()
        var configuration = Configuration()
        configuration.eventListeners = [listener]
        let context = TaskContext.forTest(configuration: configuration, clock: SystemClock())
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for number in 0..<500 { context.emit(.attemptStarted(number)) } }
            }
        }
        context.emit(.ended(nil))
        let record = listener.record.withLock { $0 }
        #expect(record.count == 4001)
        #expect(record.violations == 0)
    }

    private func event(_ kind: RequestEvent.Kind) -> RequestEvent {
        RequestEvent(taskID: UUID(), endpoint: "Test", tag: 0, uptime: .zero, kind: kind)
    }

    private func isAttempt(_ event: RequestEvent?, _ number: Int) -> Bool {
        if case .attemptStarted(number)? = event?.kind { true } else { false }
    }

    /// Counts overlapping calls, and events whose time goes backwards.
    private final class OrderCheckingListener: RequestEventListener {
        struct Record {
            var count = 0
            var violations = 0
            var last = Duration.zero
            var isInside = false
        }
        let record = Mutex(Record())

        func handle(_ event: RequestEvent) {
            record.withLock { record in
                if record.isInside || event.uptime < record.last { record.violations += 1 }
                record.isInside = true
                record.last = event.uptime
                record.count += 1
            }
            record.withLock { $0.isInside = false }
        }
    }
}

/// Passes events to a closure.
private struct ClosureListener: RequestEventListener {
    let handler: @Sendable (RequestEvent) -> Void

    func handle(_ event: RequestEvent) { handler(event) }
}
