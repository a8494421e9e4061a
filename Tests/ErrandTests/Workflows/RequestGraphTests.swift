import Errand
import ErrandTesting
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

/// Graphs over a scripted transport: values, concurrency, failures, cancellation, nesting and printing.
@Suite(.limited) struct RequestGraphTests {
    private let fixture = GraphFixture()

    private struct Mistake: Error {}

    // MARK: - Values

    @Test func nodesGetTheTypedValuesOfTheirInputs() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        let two = graph.add(after: one) { one in GetNumber("n\(one + 1)") }
        let sum = graph.compute(after: one, two) { one, two in one + two }
        let text = graph.compute(after: sum, two) { sum, two in "\(sum) \(two)" }
        let plain = graph.add(Plain("n5"))
        let results = try await graph.send(on: fixture.agent)
        #expect(try results[text].get() == "3 2")
        #expect(try graph.value(of: two) == 2)
        #expect(try graph.value(of: plain).json.int == 5)
        #expect(results.names == ["GetNumber", "GetNumber 2", "value", "value 2", "Plain"])
        #expect(results.failures.isEmpty && graph.requests.count == 3)
    }

    @Test func valuesOfSeveralNodesAreReturnedWithTheirTypes() async throws {
        let graph = RequestGraph()
        let one = graph.add(fixture.with(GetNumber("n1")))
        let text = graph.compute(after: one) { "\($0)" }
        let results = try await graph.value()
        #expect(try results[one].get() == 1 && results[text].get() == "1")
        #expect(try graph.outputResult?.get()[text].get() == "1")
    }

    @Test func emptyGraphSucceeds() async throws {
        #expect(try await RequestGraph().send().names.isEmpty)
    }

    @Test @MainActor func closureCanRunOnTheMainActor() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        let other = graph.add(after: one) { @MainActor one in
            MainActor.preconditionIsolated()
            return GetNumber("n\(one + 3)")
        }
        let value = await withCheckedContinuation { continuation in
            graph.start(on: fixture.agent) {
                continuation.resume(returning: try? $0.value(of: other))
            }
        }
        #expect(value == 4)
    }

    @Test func graphCanBeGivenUp() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        let results = await RequestGraph.outputOnQueue(graph, on: fixture.agent)
        #expect(try results.get()[one].get() == 1)
    }

    // MARK: - Order

    @Test func independentNodesRunConcurrentlyUpToTheLimit() async throws {
        let gates = (0..<4).map { _ in Gate() }
        for number in 0..<4 {
            fixture.transport.on(
                .get, "/g\(number)", ScriptedResponse.json("1").held(by: gates[number]))
        }
        let graph = RequestGraph(maxConcurrent: 3)
        for number in 0..<4 { graph.add(GetNumber("g\(number)")) }
        async let results = graph.send(on: fixture.agent)
        for _ in 0..<3 { _ = try await fixture.transport.nextRequest() }
        #expect(fixture.transport.requests.count == 3)
        for gate in gates { gate.open() }
        #expect(try await results.failures.isEmpty)
        #expect(fixture.transport.requests.count == 4)
    }

    @Test func orderWithoutAValueIsKept() async throws {
        let graph = RequestGraph()
        let second = graph.add(GetNumber("n2"), named: "second")
        let first = graph.add(GetNumber("n1"), named: "first")
        graph.order(first, before: second)
        graph.order("third", before: "first")
        graph.add(GetNumber("n3"), named: "third")
        try await graph.send(on: fixture.agent)
        #expect(fixture.transport.requests.map(\.url.path) == ["/n3", "/n1", "/n2"])
    }

    // MARK: - Failures

    @Test func failureNamesItsNodeAndKeepsTheResultsBeforeIt() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"), named: "one")
        let bad = graph.add(after: one, named: "broken") { _ in GetNumber("bad") }
        let never = graph.compute(after: bad) { $0 }
        let error = await fixture.failure(graph)
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.message.hasSuffix(" The graph failed at its node 'broken'.") == true)
        #expect(graph.failedNode == "broken" && graph.results.succeeded == ["one"])
        #expect(try graph.value(of: one) == 1 && graph.output == nil)
        #expect(throws: RequestError.self) { try graph.value(of: never) }
        #expect((graph.failedRequest as? GetNumber)?.path == "bad" && graph.task == nil)
    }

    @Test func failFastCancelsTheOtherNodes() async throws {
        let graph = RequestGraph()
        let slow = GetNumber("slow")
        graph.add(slow)
        graph.add(GetNumber("bad"))
        #expect(await fixture.failure(graph)?.code == .unacceptableStatus)
        #expect(slow.error?.code == .cancelled && fixture.transport.inFlight == 0)
    }

    @Test func collectAllSkipsDependantsOnly() async throws {
        let graph = RequestGraph(policy: .collectAll)
        let bad = graph.add(GetNumber("bad"), named: "bad")
        let skipped = graph.compute(after: bad, named: "skipped") { $0 }
        let indirect = graph.compute(after: skipped) { $0 }
        let good = graph.add(GetNumber("n1"))
        let results = try await graph.send(on: fixture.agent)
        #expect(try results[good].get() == 1)
        for node in [skipped, indirect] {
            guard case .failure(let error) = results[node] else {
                Issue.record("no failure")
                return
            }
            #expect(
                error.code == .graphFailed
                    && error.message.contains("because the node 'bad' failed"))
            #expect((error.underlying as? RequestError)?.code == .unacceptableStatus)
        }
        #expect(results.failures.map(\.node) == ["bad", "skipped", "value"])
    }

    @Test func errorsOfClosuresFailTheirNodes() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        graph.add(after: one, named: "made") { one -> GetNumber in throw Mistake() }
        let error = await fixture.failure(graph)
        #expect(
            error?.code == .graphFailed && error?.message.contains("'made' threw Mistake") == true)
        let other = RequestGraph()
        other.compute(named: "own") { () -> Int in
            throw RequestError(.rejected, stage: .process, "No.")
        }
        #expect(await fixture.failure(other)?.code == .rejected)
    }

    @Test func invalidGraphsSendNothing() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"), named: "one")
        let two = graph.add(after: one, named: "two") { _ in GetNumber("n2") }
        graph.order(two, before: one)
        let cycle = await fixture.failure(graph)
        #expect(cycle?.code == .invalidConfiguration)
        #expect(
            cycle?.underlying as? RequestGraph.InvalidDefinition
                == .cycle(path: ["one", "two", "one"]))
        #expect(
            cycle?.message == "The graph has a cycle: one → two → one. Remove one of these inputs.")
        let foreign = RequestGraph()
        foreign.compute(after: one) { $0 }
        #expect(await fixture.failure(foreign)?.message.contains("a node of another graph") == true)
        let missing = RequestGraph()
        missing.add(GetNumber("n1"), named: "one")
        missing.order("absent", before: "one")
        #expect(await fixture.failure(missing)?.message.contains("no node named 'absent'") == true)
        let shared = RequestGraph()
        let request = GetNumber("n1")
        shared.add(request, named: "a")
        shared.add(request, named: "b")
        #expect(
            await fixture.failure(shared)?.message.contains("'a' and 'b' have the same object")
                == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func invalidGraphCannotBeBuilt() throws {
        let error = #expect(throws: RequestError.self) {
            try RequestGraph { graph in
                let one = graph.compute(named: "one") { 1 }
                graph.order(graph.compute(after: one, named: "two") { $0 }, before: one)
            }
        }
        #expect(error?.message.contains("one → two → one") == true)
        let empty = #expect(throws: RequestError.self) {
            try RequestGraph(policy: .firstSuccess) { _ in }
        }
        #expect(
            empty?.underlying as? RequestGraph.InvalidDefinition
                == .tooFewFinalNodes(0, required: 1))
        #expect(empty?.code == .invalidConfiguration)
        #expect(try RequestGraph { $0.compute { 1 } }.results.names.isEmpty)
    }

    @Test func firstSuccessOfAFinalNodeCancelsTheOthers() async throws {
        let graph = RequestGraph(policy: .firstSuccess)
        let bad = graph.add(GetNumber("bad"))
        let slow = GetNumber("slow")
        graph.add(slow)
        let one = graph.add(GetNumber("n1"))
        let sum = graph.compute(after: one) { $0 + 1 }
        let results = try await graph.send(on: fixture.agent)
        #expect(try results[sum].get() == 2 && graph.output != nil)
        #expect(slow.error?.code == .cancelled && fixture.transport.inFlight == 0)
        #expect((try? results[bad].get()) == nil && graph.failedNode == nil)
    }

    @Test func quorumThatCannotBeReachedFailsWithTheFirstFailure() async throws {
        let graph = RequestGraph(policy: .quorum(2))
        let bad = graph.add(GetNumber("bad"), named: "bad")
        graph.compute(after: bad) { $0 }
        graph.add(GetNumber("slow"))
        let error = await fixture.failure(graph)
        #expect(error?.code == .unacceptableStatus && graph.failedNode == "bad")
        #expect(fixture.transport.inFlight == 0)
    }

    // MARK: - Cancellation

    @Test func cancellationCancelsNodesAndClosures() async throws {
        let graph = RequestGraph()
        graph.add(GetNumber("slow"))
        let closure = graph.compute { () -> Int in
            try await Task.sleep(for: .seconds(1000))
            return 1
        }
        graph.add(after: closure) { _ in GetNumber("n1") }
        var error: RequestError?
        let transport = fixture.transport
        error = await fixture.failure(graph) { task in
            Task {
                _ = try await transport.nextRequest()
                task.cancel()
            }
        }
        #expect(error?.code == .cancelled && error?.isCancellation == true)
        #expect(fixture.transport.requests.count == 1 && fixture.transport.inFlight == 0)
    }

    /// A closure need not react to its cancellation.
    @Test func memberThatIsMadeAfterTheEndIsNotSent() async throws {
        let isEnding = Gate()
        let graph = RequestGraph()
        let made = graph.add(named: "made") { () -> GetNumber in
            // In a task of its own, which is not cancelled with the closure.
            try await Task { try await isEnding.passed() }.value
            return GetNumber("n1")
        }
        let bad = GetNumber("bad")
        bad.observe { event, _ in if event == .didStop { isEnding.open() } }
        graph.add(bad)
        #expect(await fixture.failure(graph)?.code == .unacceptableStatus)
        #expect(fixture.transport.requests.map(\.url.path) == ["/bad"])
        guard case .failure(let error) = graph.results[made] else {
            Issue.record("no failure")
            return
        }
        #expect(error.isCancellation && graph.requests.count == 1)
    }

    @Test func suspendedGraphStartsNoClosure() async throws {
        let graph = RequestGraph()
        let control = Shared<RequestTask?>(nil)
        let isResumed = Shared(false)
        let first = graph.compute { () -> Void in control.value?.suspend() }
        let second = graph.compute(after: first) { _ in isResumed.value }
        async let value = graph.send(on: fixture.agent) { task in
            control.value = task
            Task {
                // The first node has ended, and the graph is suspended.
                guard let updates = task.members?.updates else { return }
                for await progress in updates where progress.finished == 1 { break }
                isResumed.value = true
                task.resume()
            }
        }[second].get()
        #expect(try await value)
        #expect(control.value?.members?.finished == 2)
    }

    @Test func deadlineCancelsTheNodes() async throws {
        let graph = RequestGraph()
        graph.add(fixture.with(GetNumber("slow")))
        graph.deadline = .seconds(5)
        async let error = fixture.failure(graph)
        _ = try await fixture.transport.nextRequest()
        try await fixture.base.clock.untilSleeping()
        fixture.base.clock.advance(by: .seconds(5))
        #expect(await error?.code == .timedOut)
    }

    @Test @MainActor func secondStartOfARunningGraphFails() async throws {
        let graph = RequestGraph()
        graph.add(GetNumber("slow"))
        let first = graph.start(on: fixture.agent)
        let error = await fixture.failure(graph)
        #expect(error?.code == .graphFailed && error?.message.contains("in progress") == true)
        #expect(graph.task === first)
        first.cancel()
    }

    // MARK: - Size and lifetime

    @Test func lineOfTenThousandNodesRuns() async throws {
        let graph = RequestGraph()
        var last = graph.compute { 0 }
        for _ in 1..<10_000 { last = graph.compute(after: last) { $0 + 1 } }
        #expect(try await graph.send()[last].get() == 9_999)
    }

    @Test func graphIsReleasedAfterItsEnd() async throws {
        weak var released: RequestGraph?
        do {
            let graph = RequestGraph()
            let one = graph.add(GetNumber("n1"))
            graph.add(after: one) { _ in GetNumber("n2") }
            released = graph
            try await graph.send(on: fixture.agent)
        }
        #expect(released == nil)
    }

    // MARK: - Printing

    @Test func graphIsPrintedAsTextAndDOT() {
        let graph = RequestGraph()
        let user = graph.add(GetNumber("n1"), named: "us\"er")
        let orders = graph.add(after: user) { _ in GetNumber("n2") }
        let audit = graph.add(Plain("n3"), named: "audit")
        graph.order(audit, before: orders)
        #expect(
            graph.description == """
                us"er: GetNumber
                GetNumber: GetNumber ← us"er, audit
                audit: Plain
                """)
        #expect(
            graph.dot == #"""
                digraph {
                  n0 [label="us\"er\nGetNumber"]
                  n1 [label="GetNumber\nGetNumber"]
                  n2 [label="audit\nPlain"]
                  n0 -> n1
                  n2 -> n1 [style=dashed]
                }
                """#)
    }
}
