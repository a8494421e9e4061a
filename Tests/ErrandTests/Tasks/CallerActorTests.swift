import Dispatch
import Errand
import ErrandTesting
import ErrandWorkflows
import TestSupport
import Testing

/// The actor of hooks and closures of `send()`: the caller's.
@Suite(.limited) @MainActor struct CallerActorTests {
    private let fixture = CompositeFixture()

    /// The names of hooks and closures, and of those that were not called on the actor.
    private final class Calls {
        private let isOnActor: () -> Bool
        private(set) var names: [String] = []
        private(set) var namesElsewhere: [String] = []

        init(isOnActor: @escaping () -> Bool = { MainThread.isCurrent }) {
            self.isOnActor = isOnActor
        }

        func add(_ name: String) {
            names.append(name)
            if !isOnActor() { namesElsewhere.append(name) }
        }

        func forget() { (names, namesElsewhere) = ([], []) }

        func watch<Request: BaseRequest>(_ request: Request, as name: String) -> Request {
            request.attach { _ in self.add(name) }
            observe(request, as: name)
            return request
        }

        func observe(_ unit: RequestUnit, as name: String) {
            unit.observe { event, _ in self.add("\(name) \(event)") }
        }
    }

    private let calls = Calls()

    private func member(_ name: String) -> Plain { calls.watch(fixture.plain(name), as: name) }

    private func expectCallsOnMain(
        _ names: Set<String>, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(calls.namesElsewhere.isEmpty, sourceLocation: sourceLocation)
        #expect(names.subtracting(calls.names).isEmpty, sourceLocation: sourceLocation)
    }

    @Test func hooksOfARetriedBatchAreCalledOnTheMainActorOfItsCaller() async throws {
        let batch = BatchRequest([member("a"), member("bad")], policy: .collectAll)
        try await batch.send()
        calls.observe(batch, as: "batch")
        calls.forget()
        batch.repeatsOnlyFailures = true
        try await batch.send { _ in calls.add("start") }
        calls.add("end")
        expectCallsOnMain([
            "start", "bad willStart", "bad didStop", "batch willStart", "batch didStop", "end",
        ])
        #expect(!calls.names.contains { $0.hasPrefix("a ") })
    }

    @Test func hooksOfARequestAreCalledOnTheMainActorOfItsCaller() async throws {
        try await member("a").send { _ in calls.add("start") }
        expectCallsOnMain(["start", "a", "a willStart", "a willStop", "a didStop"])
    }

    @Test func hooksOfABatchAreCalledOnTheMainActorOfItsCaller() async throws {
        let inner = BatchRequest([member("b"), member("c")])
        let batch = BatchRequest([member("a"), inner])
        calls.observe(batch, as: "outer")
        calls.observe(inner, as: "inner")
        try await batch.send { _ in calls.add("start") }
        calls.add("end")
        expectCallsOnMain([
            "start", "a", "b", "c", "a willStart", "b didStop", "outer willStart", "outer didStop",
            "inner willStart", "inner didStop", "end",
        ])
    }

    @Test func hooksAndClosuresOfAChainAreCalledOnTheMainActorOfItsCaller() async throws {
        let chain = ChainRequest()
        calls.observe(chain, as: "chain")
        let first = member("a")
        let second = member("b")
        chain.add(first) { [calls] _, _ in calls.add("callback") }
        chain.add { [calls] in
            await Task.yield()
            calls.add("make")
            return second
        }
        try await chain.send()
        expectCallsOnMain(["a", "b", "callback", "make", "chain didStop", "b didStop"])
    }

    @Test func hooksOfAGraphAreCalledOnTheMainActorOfItsCaller() async throws {
        let graph = RequestGraph()
        calls.observe(graph, as: "graph")
        graph.add(member("a"))
        graph.add(member("b"))
        try await graph.send()
        expectCallsOnMain(["a", "b", "a didStop", "graph willStart", "graph didStop"])
    }

    @Test func hooksOfACancelledBatchAreCalledOnTheMainActorOfItsCaller() async throws {
        let gate = Gate()
        fixture.transport.respond { _ in ScriptedResponse.json("{}").held(by: gate) }
        let batch = BatchRequest([member("a")])
        calls.observe(batch, as: "batch")
        let work = Task { try await batch.send() }
        try await gate.reached()
        work.cancel()
        await #expect(throws: RequestError.self) { try await work.value }
        expectCallsOnMain([
            "a willCancel", "a didStop", "batch willCancel", "batch didStop",
        ])
    }

    /// An actor whose code runs on a queue of its own.
    private actor Caller {
        private static let key = DispatchSpecificKey<Bool>()

        private final class Executor: SerialExecutor {
            let queue = DispatchQueue(label: "caller")

            init() { queue.setSpecific(key: Caller.key, value: true) }

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        private let executor = Executor()
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        /// Sends a chain and a batch with closures and hooks.
        ///
        /// - Returns: The names of those that were called, and of those that were not called on this actor.
        func send(_ fixture: CompositeFixture) async throws -> (
            all: Set<String>, elsewhere: [String]
        ) {
            let calls = Calls { DispatchQueue.getSpecific(key: Caller.key) ?? false }
            func member(_ name: String) -> Plain { calls.watch(fixture.plain(name), as: name) }
            let chain = ChainRequest()
            calls.observe(chain, as: "chain")
            chain.add(member("a")) { _, _ in calls.add("callback") }
            let second = member("b")
            chain.add {
                await Task.yield()
                calls.add("make")
                return second
            }
            try await chain.send { _ in calls.add("start") }
            let batch = BatchRequest([member("c"), member("bad")], policy: .collectAll)
            calls.observe(batch, as: "batch")
            try await batch.send()
            batch.repeatsOnlyFailures = true
            try await batch.send { _ in calls.add("retry") }
            return (Set(calls.names), calls.namesElsewhere)
        }
    }

    @Test func hooksAreCalledOnAnotherActorThatIsTheCaller() async throws {
        let (all, elsewhere) = try await Caller().send(fixture)
        #expect(elsewhere.isEmpty)
        let expected: Set = [
            "start", "a", "a didStop", "callback", "make", "b didStop", "chain didStop",
            "c didStop", "bad didStop", "batch willStart", "batch didStop", "retry",
        ]
        #expect(expected.subtracting(all).isEmpty)
    }
}
