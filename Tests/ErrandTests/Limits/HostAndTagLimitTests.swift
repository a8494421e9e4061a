import Errand
import ErrandTesting
import TestSupport
import Testing

/// `limits.perHost` and `limits.perTag`, and cancellation by tag, through an agent.
@Suite(.limited) struct HostAndTagLimitTests {
    /// An agent whose transport holds each response at a gate of its own; the path names the gate.
    private struct Held {
        let fixture: AgentFixture
        let gates: [String: Gate]

        init(_ count: Int, _ configure: (inout Configuration) -> Void) {
            fixture = AgentFixture(configure)
            let pairs = (0..<count).map { ("/\($0)", Gate()) }
            let gates = Dictionary(uniqueKeysWithValues: pairs)
            self.gates = gates
            fixture.transport.respond { request in
                gates[request.url.path].map { ScriptedResponse.json("{}").held(by: $0) }
            }
        }

        func start(_ host: String, _ number: Int, tag: Int = 0) -> RequestTask {
            var description = Plain("https://\(host).example/\(number)").makeDescription()
            description.tag = tag
            return fixture.agent.start(description)
        }

        /// Waits until each of the requests is in its transfer or in the queue.
        func untilAllArrived(_ count: Int) async throws {
            try await fixture.events.until { events in
                events.count { $0.isQueued || $0.startedTransfer != nil } >= count
            }
        }

        /// The transfers that have started, in order.
        var transfers: [RequestEvent] { fixture.events.events.filter { $0.startedTransfer != nil } }

        /// Waits until this number of transfers has started, and returns them.
        func transfers(_ count: Int) async throws -> [RequestEvent] {
            try await fixture.events.until { events in
                events.count { $0.startedTransfer != nil } >= count
            }.filter { $0.startedTransfer != nil }
        }

        func release(_ event: RequestEvent) {
            guard let url = event.startedTransfer, let number = url.split(separator: "/").last
            else { return }
            gates["/\(number)"]?.open()
        }
    }

    /// Starts requests of two groups, one with a limit of two, and releases them one by one: two requests of the group
    /// are in progress as long as there are so many, and never more.
    ///
    /// - Parameter limited: The tasks of the limited group.
    private func check(
        _ held: Held, limited: [RequestTask], others: [RequestTask]
    ) async throws {
        let ids = Set(limited.map(\.id))
        let count = limited.count + others.count
        try await held.untilAllArrived(count)
        var started = held.transfers
        try #require(started.count { ids.contains($0.taskID) } == 2)
        try #require(started.count { !ids.contains($0.taskID) } == others.count)
        #expect(held.fixture.events.events.count { $0.isQueued } == limited.count - 2)
        for ended in 1...limited.count {
            let first = started.filter { ids.contains($0.taskID) }[ended - 1]
            held.release(first)
            let expected = min(2 + ended, limited.count)
            started = try await held.transfers(expected + others.count)
            #expect(started.count { ids.contains($0.taskID) } == expected)
        }
        for event in started { held.release(event) }
        for task in limited + others { #expect(try await task.response().status == .ok) }
        #expect(held.fixture.transport.requestCount == count)
    }

    @Test func perHostLimitIsReachedAndNotExceeded() async throws {
        let held = Held(8) { $0.limits.perHost = 2 }
        let limited = (0..<6).map { held.start("a", $0, tag: $0) }
        let others = [held.start("b", 6), held.start("c", 7)]
        try await check(held, limited: limited, others: others)
    }

    @Test func perHostLimitAppliesToEveryHost() async throws {
        let held = Held(6) { $0.limits.perHost = 1 }
        let tasks = (0..<6).map { held.start(["a", "b", "c"][$0 % 3], $0) }
        try await held.untilAllArrived(6)
        let started = held.transfers
        #expect(started.count == 3)
        #expect(Set(started.compactMap { $0.startedTransfer?.prefix(9) }).count == 3)
        for gate in held.gates.values { gate.open() }
        for task in tasks { #expect(try await task.response().status == .ok) }
    }

    @Test func perTagLimitIsReachedAndNotExceededAcrossHosts() async throws {
        let held = Held(9) { $0.limits.perTag = [7: 2] }
        let limited = (0..<5).map { held.start("h\($0)", $0, tag: 7) }
        // Neither another tag nor the default tag is limited, not even on one host.
        let others = (5..<9).map { held.start("h0", $0, tag: $0 % 2 == 0 ? 8 : 0) }
        try await check(held, limited: limited, others: others)
    }

    @Test func hostAndTagLimitsApplyTogether() async throws {
        let held = Held(5) { $0.limits = RequestLimits(perHost: 2, perTag: [7: 1]) }
        var tasks: [RequestTask] = []
        for (host, tag) in [("a", 7), ("a", 0), ("a", 0), ("b", 7), ("b", 0)] {
            tasks.append(held.start(host, tasks.count, tag: tag))
            try await held.untilAllArrived(tasks.count)
        }
        // The third waits for the host, the fourth for the tag.
        let started = held.transfers.map(\.taskID)
        #expect(started == [tasks[0].id, tasks[1].id, tasks[4].id])
        for gate in held.gates.values { gate.open() }
        for task in tasks { #expect(try await task.response().status == .ok) }
    }

    // MARK: - Cancellation by tag

    @Test func cancelByTagEndsRequestsWithTheTagAndNoOthers() async throws {
        let held = Held(6) { $0.limits.total = 4 }
        // Of each tag, two are in their transfers, and one waits.
        var tasks = (0..<4).map { held.start("a", $0, tag: 1 + $0 % 2) }
        _ = try await held.transfers(4)
        tasks += [held.start("a", 4, tag: 1), held.start("a", 5, tag: 2)]
        try await held.fixture.untilQueued(2)
        held.fixture.agent.cancel(tag: 1)
        let phases = tasks.map { $0.phase }
        held.fixture.agent.cancel(tag: 3)
        for gate in held.gates.values { gate.open() }
        for (task, phase) in zip(tasks, phases) {
            let isCancelled = task.tag == 1
            #expect(phase.isRunning == !isCancelled, "\(task.tag)")
            #expect(await task.outcome().error?.code == (isCancelled ? .cancelled : nil))
        }
    }
}

extension RequestEvent {
    /// The URL of a transfer that has started; `nil` for other events.
    fileprivate var startedTransfer: String? {
        if case .transferStarted(_, let url) = kind { url.string } else { nil }
    }
}
