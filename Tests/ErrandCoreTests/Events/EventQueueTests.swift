import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

@Suite(.limited) struct EventQueueTests {
    @Test func eventsEnteredDuringADeliveryAreLeftToIt() {
        var queue = EventQueue()
        #expect(queue.enter(.attemptStarted(1)) == .deliver)
        #expect(queue.enter(.attemptStarted(2)) == .wait)
        #expect(queue.append(event(.attemptStarted(2))).isEmpty)
        #expect(queue.enter(.attemptStarted(3)) == .wait)
        #expect(queue.append(event(.attemptStarted(3))).isEmpty)
        #expect(numbers(queue.next()) == [2, 3])
        #expect(queue.next().isEmpty)
        #expect(queue.enter(.attemptStarted(4)) == .deliver)
    }

    @Test func deferredEventsAreDeliveredByTheNextCaller() {
        var queue = EventQueue()
        let needsDrain = [1, 2].map { queue.leave(event(.attemptStarted($0))) }
        #expect(needsDrain == [true, false], "one drain is enough")
        // The pipeline enters before the drain begins: it delivers the waiting events in order.
        #expect(queue.enter(.attemptStarted(3)) == .wait)
        #expect(numbers(queue.append(event(.attemptStarted(3)))) == [1, 2, 3])
        let needsSecondDrain = queue.leave(event(.attemptStarted(4)))
        #expect(!needsSecondDrain)
        #expect(queue.begin().isEmpty)
        #expect(numbers(queue.next()) == [4])
        #expect(queue.next().isEmpty)
        let needsNewDrain = queue.leave(event(.attemptStarted(5)))
        #expect(needsNewDrain)
        #expect(numbers(queue.begin()) == [5])
        #expect(queue.isBusyElsewhere)
        #expect(queue.next().isEmpty)
        #expect(queue.begin().isEmpty)
    }

    @Test func drainIsOverIfItsEventsWereDelivered() {
        var queue = EventQueue()
        let needsDrain = queue.leave(event(.attemptStarted(1)))
        #expect(needsDrain)
        #expect(queue.enter(.attemptStarted(2)) == .wait)
        #expect(numbers(queue.append(event(.attemptStarted(2)))) == [1, 2])
        #expect(queue.next().isEmpty)
        let isNeeded = queue.needsDrain()
        #expect(!isNeeded)
        let needsNewDrain = queue.leave(event(.attemptStarted(3)))
        #expect(needsNewDrain)
        let isNeededNow = queue.needsDrain()
        #expect(isNeededNow)
        let needsAnother = queue.leave(event(.attemptStarted(4)))
        #expect(!needsAnother)
    }

    @Test func deliveryEndsOnlyIfNothingWaits() {
        var queue = EventQueue()
        #expect(queue.enter(.attemptStarted(1)) == .deliver)
        #expect(queue.enter(.attemptStarted(2)) == .wait)
        #expect(queue.append(event(.attemptStarted(2))).isEmpty)
        let endsTooEarly = queue.finish()
        #expect(!endsTooEarly)
        #expect(numbers(queue.next()) == [2])
        let ends = queue.finish()
        #expect(ends)
        #expect(queue.enter(.attemptStarted(3)) == .deliver)
    }

    /// The drain may have been cancelled with the end of the request.
    @Test func drainOfATaskThatHasEndedDoesNotCountForLaterEvents() {
        var queue = EventQueue()
        let needsDrain = queue.leave(event(.attemptStarted(1)))
        #expect(needsDrain)
        #expect(queue.enter(.ended(nil)) == .wait)
        #expect(queue.append(event(.ended(nil))).count == 2)
        let ends = queue.finish()
        #expect(ends)
        let needsNewDrain = queue.leave(event(.cacheStored(bytes: 1)))
        #expect(needsNewDrain)
    }

    @Test func partsOfBodiesAreCombinedIfTooManyEventsWait() {
        var queue = EventQueue()
        for number in 0..<EventQueue.maximumChunks {
            _ = queue.leave(event(.attemptStarted(number)))
        }
        for _ in 0..<1000 { _ = queue.leave(event(.chunkReceived(attempt: 1, bytes: 10))) }
        _ = queue.leave(event(.chunkSent(attempt: 1, bytes: 3)))
        _ = queue.leave(event(.chunkSent(attempt: 2, bytes: 4)))
        _ = queue.leave(event(.chunkSent(attempt: 2, bytes: 5)))
        let kinds = queue.begin().dropFirst(EventQueue.maximumChunks).map { "\($0.kind)" }
        #expect(
            kinds == [
                "chunkReceived(attempt: 1, bytes: 10000)", "chunkSent(attempt: 1, bytes: 3)",
                "chunkSent(attempt: 2, bytes: 9)",
            ])
    }

    /// Messages of both directions and kinds are combined, so that a slow listener of a conversation needs no memory.
    @Test func messagesAreCombinedIfTooManyEventsWait() {
        var queue = EventQueue()
        for number in 0..<EventQueue.maximumChunks {
            _ = queue.leave(event(.attemptStarted(number)))
        }
        for number in 0..<1000 {
            let message = WebSocketEvent.Message(
                number % 2 == 0 ? .sent : .received, isText: number % 4 < 2, bytes: 10,
                bytesOnWire: 12, payload: Data(count: 10))
            _ = queue.leave(event(.webSocket(.message(message))))
        }
        _ = queue.leave(event(.webSocket(.roundTrip(.seconds(1)))))
        let message = WebSocketEvent.Message(.sent, isText: true, bytes: 1, bytesOnWire: 2)
        _ = queue.leave(event(.webSocket(.message(message))))
        let kinds = queue.begin().dropFirst(EventQueue.maximumChunks).map(\.kind)
        let combined = kinds.prefix(4).compactMap { kind -> WebSocketEvent.Message? in
            if case .webSocket(.message(let message)) = kind { message } else { nil }
        }
        #expect(combined.map(\.count) == [250, 250, 250, 250])
        #expect(combined.allSatisfy { $0.bytes == 2500 && $0.bytesOnWire == 3000 })
        #expect(combined.allSatisfy { $0.payload == nil })
        #expect(Set(combined.map { "\($0.direction) \($0.isText)" }).count == 4)
        // A message after another event is not added to one before it.
        #expect(kinds.count == 6)
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
        #expect(queue.enter(.ended(nil)) == .deliver)
        #expect(queue.next().isEmpty)
        let needsDrain = queue.leave(event(.suspended))
        #expect(!needsDrain)
        #expect(queue.begin().isEmpty)
    }

    @Test func onlyStoreEventsAreDeliveredAfterTheEnd() {
        var queue = EventQueue()
        #expect(queue.enter(.ended(nil)) == .deliver)
        #expect(queue.next().isEmpty)
        #expect(queue.enter(.ended(nil)) == .refused)
        #expect(queue.enter(.suspended) == .refused)
        let problem = RequestError(.storeFailed, stage: .cache, "a problem")
        let kinds: [RequestEvent.Kind] = [
            .cacheStored(bytes: 1), .cacheNotStored(.notAllowed), .cacheEvicted(entries: 1),
            .cacheWriteFailed(problem), .storeProblem(problem),
        ]
        for kind in kinds {
            #expect(queue.enter(kind) == .deliver)
            #expect(queue.next().isEmpty)
        }
    }

    @Test func listenersReceiveEventsSeriallyInOrderOfTime() async {
        let listener = OrderCheckingListener()
        var configuration = Configuration()
        configuration.eventListeners = [listener]
        let task = RequestTask.forTest(configuration: configuration, clock: SystemClock())
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for number in 0..<500 { task.emit(.attemptStarted(number)) } }
            }
        }
        task.emit(.ended(nil))
        let record = listener.record.withLock { $0 }
        #expect(record.count == 4001)
        #expect(record.violations == 0)
    }

    private func event(_ kind: RequestEvent.Kind) -> RequestEvent {
        RequestEvent(taskID: UUID(), endpoint: "Test", tag: 0, uptime: .zero, kind: kind)
    }

    private func numbers(_ events: [RequestEvent]) -> [Int] {
        events.map { if case .attemptStarted(let number) = $0.kind { number } else { -1 } }
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
