import Errand
import ErrandTesting
import Synchronization
import Testing

/// `duplicatePolicy` `.queue`: identical requests one after another (row CAN-7).
@Suite(.timeLimit(.minutes(5))) struct DuplicateQueueTests {
    private let world = World()
    /// One for each transfer, in order.
    private let gates = (0..<4).map { _ in Gate() }

    init() {
        let gates = gates
        let count = Atomic<Int>(0)
        world.transport.answer { _ in
            let number = count.add(1, ordering: .relaxed).oldValue
            return .json(#"{"n":\#(number)}"#).held(by: gates[min(number, gates.count - 1)])
        }
    }

    private func start(
        _ policy: DuplicatePolicy = .queue, path: String = "shared", limit: Duration? = nil
    ) -> RequestTask {
        let request = InlineRequest(path) {
            $0.duplicatePolicy = policy
            $0.timeouts = Timeouts(total: limit)
        }
        return world.agent.start(request.describe())
    }

    private func untilQueued(_ count: Int) async throws {
        try await world.events.until { events in
            events.count { if case .queued = $0.kind { true } else { false } } == count
        }
    }

    @Test func theyGoOneAfterAnother() async throws {
        var tasks: [RequestTask] = []
        for index in 0..<4 {
            tasks.append(start())
            if index == 0 { try await gates[0].reached() } else { try await untilQueued(index) }
        }
        for index in 0..<4 {
            try await gates[index].reached()
            #expect(world.transport.requests.count == index + 1)
            gates[index].open()
            #expect(try await tasks[index].response().json["n"].int == index)
        }
        let moved = world.events.names.filter { $0 == "dequeued" }
        #expect(moved.count == 3)
    }

    @Test func aCancelledOneMakesRoomForNobodyElse() async throws {
        let first = start()
        try await gates[0].reached()
        let second = start()
        try await untilQueued(1)
        let third = start()
        try await untilQueued(2)
        second.cancel()
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .cancelled)
        #expect(world.transport.requests.count == 1)
        gates[0].open()
        gates[1].open()
        #expect(try await first.response().json["n"].int == 0)
        #expect(try await third.response().json["n"].int == 1)
    }

    @Test func aFailureLetsTheNextOneThrough() async throws {
        let first = start()
        try await gates[0].reached()
        let second = start()
        try await untilQueued(1)
        first.cancel()
        gates[1].open()
        #expect(try await second.response().json["n"].int == 1)
        await first.untilEnded()
        for gate in gates { gate.open() }
        // Nothing is left behind: the next one does not wait.
        #expect(try await start().response().status == .ok)
        #expect(world.events.names.filter { $0 == "queued" }.count == 1)
    }

    @Test func theTotalLimitCountsInLine() async throws {
        let first = start()
        try await gates[0].reached()
        let second = start(limit: .seconds(5))
        try await untilQueued(1)
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(5))
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.timeout == .total)
        gates[0].open()
        #expect(try await first.response().status == .ok)
        #expect(world.transport.requests.count == 1)
    }

    @Test func oneOfAnotherPolicyIsWaitedForToo() async throws {
        let joined = start(.join)
        try await gates[0].reached()
        let queued = start()
        try await untilQueued(1)
        #expect(world.transport.requests.count == 1)
        gates[0].open()
        gates[1].open()
        #expect(try await joined.response().json["n"].int == 0)
        #expect(try await queued.response().json["n"].int == 1)
    }

    @Test func othersDoNotWait() async throws {
        let one = start(path: "a")
        try await gates[0].reached()
        let other = start(path: "b")
        try await gates[1].reached()
        gates[0].open()
        gates[1].open()
        #expect(try await one.response().status == .ok)
        #expect(try await other.response().status == .ok)
        #expect(!world.events.names.contains("queued"))
    }

    @Test func aStormOfStartsAndCancelsLeavesNobodyWaiting() async throws {
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
        #expect(world.events.names.filter { $0 == "ended" }.count == 200)
        #expect(try await start().response().status == .ok)
    }
}
