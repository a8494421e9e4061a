import ErrandTesting
import TestSupport
import Testing

@testable import Errand
@testable import ErrandWorkflows

/// Graphs with batches, chains and graphs as nodes, graphs as members, and the hooks and progress of members.
@Suite(.limited) struct GraphMemberTests {
    private let fixture = GraphFixture()

    // MARK: - Nesting and size

    @Test func batchesChainsAndGraphsAreNodes() async throws {
        let graph = RequestGraph()
        let batch = graph.add(BatchRequest([Plain("n1"), Plain("n2")]))
        let chain = graph.add(after: batch) { results in
            let chain = ChainRequest()
            for _ in results { chain.add(Plain("n3")) }
            return chain
        }
        let inner = RequestGraph()
        let number = inner.add(GetNumber("n4"))
        let nested = graph.add(inner)
        let results = try await graph.send(on: fixture.agent)
        #expect(try results[batch].get().count == 2)
        #expect(try results[chain].get().count == 2)
        #expect(try results[nested].get()[number].get() == 4)
        #expect(graph.requests.count == 5)
    }

    @Test func typedMembersAreNodesWithTheirOutputs() async throws {
        let graph = RequestGraph()
        let pair = graph.add(BatchRequest.Typed(GetNumber("n1"), GetNumber("n2")))
        let last = graph.add(ChainRequest.Typed<Int> { $0.add(GetNumber("n3")) })
        let inline = graph.add(InlineRequest("n4"))
        let made = graph.add(after: pair) { pair in
            BatchRequest.Typed([GetNumber("n\(pair.0 + 4)"), GetNumber("n\(pair.1 + 1)")])
        }
        let sum = graph.compute(after: pair, last, inline, made) { pair, last, inline, made in
            [pair.0, pair.1, last, inline.json.int ?? 0] + made
        }
        #expect(try await graph.send(on: fixture.agent)[sum].get() == [1, 2, 3, 4, 5, 3])
    }

    /// A batch that collects all ends succeeds, but has no values then.
    @Test func typedBatchWithAFailedMemberFailsItsNodeWithThatError() async throws {
        let graph = RequestGraph()
        let batch = BatchRequest.Typed(GetNumber("n1"), GetNumber("bad"), policy: .collectAll)
        graph.add(batch)
        #expect(await fixture.failure(graph)?.code == .unacceptableStatus)
        let other = RequestGraph()
        let results = other.add(batch as BatchRequest)
        #expect(try await other.send(on: fixture.agent)[results].get().count == 2)
    }

    @Test func graphIsAMemberOfABatchAndOfAChain() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        let batch = BatchRequest.Typed(graph, GetNumber("n2"))
        let chain = ChainRequest()
        let step = chain.add(batch)
        chain.add {
            let (results, two) = try step.output
            return Plain("n\(try results[one].get() + two)")
        }
        let responses = try await chain.send(on: fixture.agent)
        #expect(responses.map { $0.json.int } == [1, 2, 3])
        #expect(batch.requests.count == 2)
    }

    @Test func failureInANestedGraphFailsTheOuterComposites() async throws {
        let inner = RequestGraph()
        inner.add(GetNumber("bad"), named: "broken")
        let outer = RequestGraph()
        outer.add(BatchRequest([inner] as [RequestUnit]), named: "outer")
        let error = await fixture.failure(outer)
        #expect(error?.code == .unacceptableStatus)
        #expect(
            error?.message.hasSuffix(
                "The graph failed at its node 'broken'. The graph failed at its node 'outer'.")
                == true)
        #expect((outer.failedRequest as? GetNumber)?.path == "bad" && inner.failedNode == "broken")
    }

    @Test func graphThatContainsItselfIsRefused() async throws {
        let graph = RequestGraph()
        graph.add(GetNumber("n1"))
        graph.add(BatchRequest([graph] as [RequestUnit]))
        let error = await fixture.failure(graph)
        #expect(error?.code == .graphFailed && error?.message.contains("contains itself") == true)
        #expect(graph.task == nil && fixture.transport.requests.isEmpty)
        // Otherwise graph and batch keep each other.
        graph.contents = []
    }

    @Test func requestThatIsAMemberElsewhereIsRefused() async throws {
        let request = GetNumber("n1")
        let graph = RequestGraph()
        graph.add(request)
        graph.add(BatchRequest([request]))
        #expect(await fixture.failure(graph)?.code == .invalidCombination)
        // The refusal has given up the reservation.
        let other = RequestGraph()
        other.add(request)
        #expect(try await other.send(on: fixture.agent).failures.isEmpty)
    }

    @Test func madeMemberThatIsRefusedFailsItsNode() async throws {
        let graph = RequestGraph()
        graph.add(named: "made") { () -> BatchRequest in
            let request = GetNumber("n1")
            return BatchRequest([request, request])
        }
        var task: RequestTask?
        #expect(await fixture.failure(graph) { task = $0 }?.code == .invalidCombination)
        #expect(graph.failedNode == "made" && fixture.transport.requests.isEmpty)
        #expect(task?.members?.finished == 1)
    }

    // MARK: - Hooks and progress

    @Test func membersAreDescribedBeforeTheFirstIsSentAndEndBeforeTheGraph() async throws {
        let graph = RequestGraph(maxConcurrent: 1)
        let transport = fixture.transport
        var lines: [String] = []
        graph.observe { event, _ in lines.append("graph \(event)") }
        for number in 1...2 {
            let member = GetNumber("n\(number)")
            member.observe { event, _ in
                lines.append("n\(number) \(event) \(transport.requests.count)")
            }
            graph.add(member)
        }
        try await graph.send(on: fixture.agent)
        #expect(
            lines == [
                "graph willStart", "n1 willStart 0", "n2 willStart 0", "n1 willStop 1",
                "n1 didStop 1",
                "n2 willStop 2", "n2 didStop 2", "graph willStop", "graph didStop",
            ])
    }

    @Test func skippedMembersHaveOneEnd() async throws {
        let graph = RequestGraph(policy: .collectAll)
        var lines: [String] = []
        let bad = graph.add(GetNumber("bad"))
        let member = GetNumber("n1")
        member.observe { event, _ in lines.append("\(event)") }
        graph.order(bad, before: graph.add(member))
        var task: RequestTask?
        try await graph.send(on: fixture.agent) { task = $0 }
        #expect(lines == ["willStart", "willCancel", "willStop", "didStop"])
        #expect(member.error?.code == .cancelled)
        let progress = task?.members
        #expect(progress?.finished == 2 && progress?.total == 2)
    }

    @Test func progressCountsNodesAndBytes() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        graph.add(after: one) { _ in GetNumber("n2") }
        graph.compute(after: one) { $0 }
        var task: RequestTask?
        try await graph.send(on: fixture.agent) {
            task = $0
            _ = $0.progress
        }
        let progress = task?.members
        #expect(progress?.finished == 3 && progress?.total == 3)
        #expect(task?.progress.current.bytesReceived == 2)
        #expect(task?.progress.current.totalBytesToReceive == 2)
    }

    @Test @MainActor func priorityIsThatOfAllRequests() async throws {
        let graph = RequestGraph()
        graph.add(GetNumber("slow"))
        graph.add { GetNumber("slow") }
        graph.priority = .high
        let task = graph.start(on: fixture.agent)
        for _ in 0..<2 { _ = try await fixture.transport.nextRequest() }
        #expect(graph.requests.map { $0.task?.priority } == [.high, .high])
        task.cancel()
    }

    @Test func graphCanBeStartedAgainAfterItsEnd() async throws {
        let graph = RequestGraph()
        let one = graph.add(GetNumber("n1"))
        let two = graph.add(after: one) { GetNumber("n\($0 + 1)") }
        for _ in 0..<2 { #expect(try await graph.send(on: fixture.agent)[two].get() == 2) }
        #expect(fixture.transport.requests.count == 4)
    }
}
