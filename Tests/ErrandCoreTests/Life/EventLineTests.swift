import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandCore

@Suite(.timeLimit(.minutes(5))) struct EventLineTests {
    @Test func whoComesWhileAnotherTellsLeavesItToHim() {
        var line = EventLine()
        #expect(isAttempt(line.enter(event(.attemptStarted(1))), 1))
        #expect(line.enter(event(.attemptStarted(2))) == nil)
        #expect(line.enter(event(.attemptStarted(3))) == nil)
        #expect(isAttempt(line.next(), 2))
        #expect(isAttempt(line.next(), 3))
        #expect(line.next() == nil)
        #expect(isAttempt(line.enter(event(.attemptStarted(4))), 4))
    }

    @Test func whatIsLeftWaitsForWhoeverComesFirst() {
        var line = EventLine()
        let summons = [1, 2].map { line.leave(event(.attemptStarted($0))) }
        #expect(summons == [true, false], "one is enough")
        // The pipeline came before the one who was summoned: it tells what waits, in order.
        #expect(isAttempt(line.enter(event(.attemptStarted(3))), 1))
        let summonsAgain = line.leave(event(.attemptStarted(4)))
        #expect(!summonsAgain)
        #expect(line.begin() == nil)
        for number in 2...4 { #expect(isAttempt(line.next(), number)) }
        #expect(line.next() == nil)
        let summonsAnother = line.leave(event(.attemptStarted(5)))
        #expect(summonsAnother)
        #expect(isAttempt(line.begin(), 5))
        #expect(line.next() == nil)
        #expect(line.begin() == nil)
    }

    @Test func whoeverHasTheAnswerFindsEverythingTold() async throws {
        let gate = Gate()
        let told = Mutex<[String]>([])
        var configuration = Configuration()
        configuration.eventListeners = [
            FilteredListener { event in
                if case .headReceived = event.kind {
                    told.withLock { $0.append("head") }
                    gate.open()
                    // Long enough on this thread for the pipeline to come to its end meanwhile.
                    for _ in 0..<50 { sched_yield() }
                }
                if case .ended = event.kind { told.withLock { $0.append("ended") } }
            }
        ]
        let transport = ScriptedTransport()
        transport.on(.get, "/x", ScriptedAnswer.json("{}"))
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        for _ in 0..<100 {
            told.withLock { $0 = [] }
            let task = agent.start(RequestDescription(endpoint: "X", url: "https://a.example/x"))
            await task.untilEnded()
            #expect(told.withLock { $0 } == ["head", "ended"])
        }
        #expect(gate.isOpen)
    }

    @Test func nothingIsLeftBehindTheEnd() {
        var line = EventLine()
        #expect(line.enter(event(.ended(nil))) != nil)
        #expect(line.next() == nil)
        let summons = line.leave(event(.suspended))
        #expect(!summons)
        #expect(line.begin() == nil)
    }

    @Test func behindTheEndOnlyWritesToTheStoreAreTold() {
        var line = EventLine()
        #expect(line.enter(event(.ended(nil))) != nil)
        #expect(line.next() == nil)
        #expect(line.enter(event(.ended(nil))) == nil)
        #expect(line.enter(event(.suspended)) == nil)
        #expect(line.enter(event(.cacheStored(bytes: 1))) != nil)
    }

    @Test func listenersHearOneThingAtATimeInOrderOfTimeFromAnyThread() async {
        let listener = Strict()
        var configuration = Configuration()
        configuration.eventListeners = [listener]
        let context = TaskContext(
            id: UUID(), description: RequestDescription(endpoint: "Test", url: ""),
            configuration: configuration, transport: ScriptedTransport(), store: nil,
            clock: SystemClock())
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for number in 0..<500 { context.emit(.attemptStarted(number)) } }
            }
        }
        context.emit(.ended(nil))
        let record = listener.record.withLock { $0 }
        #expect(record.count == 4001)
        #expect(record.faults == 0)
    }

    private func event(_ kind: RequestEvent.Kind) -> RequestEvent {
        RequestEvent(taskID: UUID(), endpoint: "Test", tag: 0, uptime: .zero, kind: kind)
    }

    private func isAttempt(_ event: RequestEvent?, _ number: Int) -> Bool {
        if case .attemptStarted(number)? = event?.kind { true } else { false }
    }

    /// Counts times that go backwards and calls that overlap.
    private final class Strict: RequestEventListener {
        struct Record {
            var count = 0
            var faults = 0
            var last = Duration.zero
            var isInside = false
        }
        let record = Mutex(Record())

        func handle(_ event: RequestEvent) {
            record.withLock { record in
                if record.isInside || event.uptime < record.last { record.faults += 1 }
                record.isInside = true
                record.last = event.uptime
                record.count += 1
            }
            record.withLock { $0.isInside = false }
        }
    }
}
