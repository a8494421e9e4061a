import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// `RequestDescription.SendingOptions.Duplicates.queue` runs identical requests one after another.
@Suite(.limited) struct DuplicateQueueTests {
    private let fixture = AgentFixture()
    /// One gate for each transfer, in order.
    private let gates = (0..<4).map { _ in Gate() }

    init() {
        let gates = gates
        let count = Atomic<Int>(0)
        fixture.transport.respond { _ in
            let number = count.add(1, ordering: .relaxed).oldValue
            return .json(#"{"n":\#(number)}"#).held(by: gates[min(number, gates.count - 1)])
        }
    }

    private func start(
        _ policy: RequestDescription.SendingOptions.Duplicates = .queue, path: String = "shared",
        limit: Duration? = nil
    ) -> RequestTask {
        let request = InlineRequest(EndpointURL(raw: path)) {
            $0.sending.duplicates = policy
            $0.timeouts = Timeouts(total: limit)
        }
        return fixture.agent.start(request.makeDescription())
    }

    @Test func identicalRequestsRunInOrder() async throws {
        var tasks: [RequestTask] = []
        for index in 0..<4 {
            tasks.append(start())
            if index == 0 {
                try await gates[0].reached()
            } else {
                try await fixture.untilQueued(index)
            }
        }
        for index in 0..<4 {
            try await gates[index].reached()
            #expect(fixture.transport.requests.count == index + 1)
            gates[index].open()
            #expect(try await tasks[index].response().json["n"].int == index)
        }
        let dequeued = fixture.events.names.filter { $0 == "dequeued" }
        #expect(dequeued.count == 3)
    }

    @Test func cancelledQueuedRequestStartsNoOther() async throws {
        let first = start()
        try await gates[0].reached()
        let second = start()
        try await fixture.untilQueued(1)
        let third = start()
        try await fixture.untilQueued(2)
        second.cancel()
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .cancelled)
        #expect(fixture.transport.requests.count == 1)
        gates[0].open()
        gates[1].open()
        #expect(try await first.response().json["n"].int == 0)
        #expect(try await third.response().json["n"].int == 1)
    }

    @Test func nextRequestStartsAfterAFailure() async throws {
        let first = start()
        try await gates[0].reached()
        let second = start()
        try await fixture.untilQueued(1)
        first.cancel()
        gates[1].open()
        #expect(try await second.response().json["n"].int == 1)
        await first.untilEnded()
        for gate in gates { gate.open() }
        // The queue is empty: the next request does not wait.
        #expect(try await start().response().status == .ok)
        #expect(fixture.events.names.filter { $0 == "queued" }.count == 1)
    }

    @Test func totalTimeoutIncludesTimeInTheQueue() async throws {
        let first = start()
        try await gates[0].reached()
        let second = start(limit: .seconds(5))
        try await fixture.untilQueued(1)
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(5))
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.timeout == .total)
        gates[0].open()
        #expect(try await first.response().status == .ok)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func queueWaitsForARequestWithAnotherPolicy() async throws {
        let joined = start(.join)
        try await gates[0].reached()
        let queued = start()
        try await fixture.untilQueued(1)
        #expect(fixture.transport.requests.count == 1)
        gates[0].open()
        gates[1].open()
        #expect(try await joined.response().json["n"].int == 0)
        #expect(try await queued.response().json["n"].int == 1)
    }

    @Test func differentRequestsAreNotQueued() async throws {
        let one = start(path: "a")
        try await gates[0].reached()
        let other = start(path: "b")
        try await gates[1].reached()
        gates[0].open()
        gates[1].open()
        #expect(try await one.response().status == .ok)
        #expect(try await other.response().status == .ok)
        #expect(!fixture.events.names.contains("queued"))
    }

    @Test func manyStartsAndCancelsLeaveNoRequestWaiting() async throws {
        for gate in gates { gate.open() }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let task = start()
                    if index.isMultiple(of: 3) { task.cancel() }
                    await task.untilEnded()
                }
            }
        }
        #expect(fixture.events.names.filter { $0 == "ended" }.count == 200)
        #expect(try await start().response().status == .ok)
    }
}
