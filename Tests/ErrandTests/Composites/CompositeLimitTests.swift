import Errand
import ErrandTesting
import ErrandWorkflows
import TestSupport
import Testing

/// Limits that allow no member to start, members that are added, and batches that require all members.
@Suite(.limited) struct CompositeLimitTests {
    private let fixture = CompositeFixture()

    private func failure<Success>(
        _ body: () async throws -> Success
    ) async -> RequestError? {
        await #expect(throws: RequestError.self) { _ = try await body() }
    }

    // MARK: - Limits below 1

    @Test(arguments: [0, -1, Int.min])
    func limitOfMembersBelowOneIsRefused(limit: Int) async throws {
        let members = [fixture.plain("a"), fixture.plain("b")]
        let graph = RequestGraph(maxConcurrent: limit)
        graph.add(fixture.plain("a"))
        let errors = [
            await failure {
                try await BatchRequest(members, maxConcurrent: limit).send(on: fixture.agent)
            },
            await failure {
                try await BatchRequest.Typed([fixture.user(1)], maxConcurrent: limit).send(
                    on: fixture.agent)
            },
            await failure { try await graph.send(on: fixture.agent) },
            await failure { try graph.validate() },
        ]
        for error in errors {
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("maxConcurrent is \(limit)") == true)
        }
        #expect(fixture.paths.isEmpty)
        // The members are free.
        try await BatchRequest(members, maxConcurrent: 1).send(on: fixture.agent)
        #expect(fixture.paths == ["/a", "/b"])
    }

    @Test(arguments: [0, -1, Int.min])
    func quorumBelowOneIsRefused(number: Int) async {
        let graph = RequestGraph(policy: .quorum(number))
        graph.add(fixture.plain("a"))
        let errors = [
            await failure {
                try await BatchRequest([fixture.plain("a")], policy: .quorum(number)).send(
                    on: fixture.agent)
            },
            await failure { try await graph.send(on: fixture.agent) },
        ]
        for error in errors {
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("requires \(number) successes") == true)
        }
        #expect(fixture.paths.isEmpty)
    }

    // MARK: - All members are required

    @Test func batchThatRequiresAllRunsAllAndFailsWithTheFirstError() async throws {
        let batch = BatchRequest(
            ["1-bad", "b", "2-bad", "d"].map(fixture.plain), policy: .requireAll, maxConcurrent: 1)
        let error = await failure { try await batch.send(on: fixture.agent) }
        #expect(error?.code == .unacceptableStatus)
        #expect(fixture.paths == ["/1-bad", "/b", "/2-bad", "/d"])
        #expect(batch.results.map { (try? $0.get()) != nil } == [false, true, false, true])
        #expect(batch.failedRequest === batch.requests.first)
    }

    @Test func batchThatRequiresAllSucceedsWithAll() async throws {
        let batch = BatchRequest(["a", "b"].map(fixture.plain), policy: .requireAll)
        #expect(try await batch.send(on: fixture.agent).count == 2)
        #expect(try await BatchRequest([], policy: .requireAll).send(on: fixture.agent).isEmpty)
    }

    @Test func graphThatRequiresAllRunsIndependentNodesAndFails() async throws {
        let graph = RequestGraph(policy: .requireAll, maxConcurrent: 1)
        graph.add(fixture.plain("bad"), named: "first")
        graph.add(fixture.plain("b"))
        let error = await failure { try await graph.send(on: fixture.agent) }
        #expect(error?.code == .unacceptableStatus && graph.failedNode == "first")
        #expect(fixture.paths == ["/bad", "/b"])
    }

    // MARK: - Members that are added

    @Test func addedMembersRunWithTheOthers() async throws {
        let batch = BatchRequest([fixture.plain("a")], maxConcurrent: 1)
        batch.add(fixture.plain("b"))
        let nested = ChainRequest()
        nested.add(fixture.plain("c"))
        batch.add(nested)
        #expect(try await batch.send(on: fixture.agent).count == 3)
        #expect(fixture.paths == ["/a", "/b", "/c"])
        #expect(batch.requests.count == 3)
    }

    /// The run in progress has its members; the next one has all.
    @Test func memberAddedDuringARunTakesPartInTheNext() async throws {
        let batch = BatchRequest([fixture.plain("a")], policy: .collectAll)
        var results = try await batch.send(on: fixture.agent) { _ in batch.add(fixture.plain("b")) }
        #expect(results.count == 1 && fixture.paths == ["/a"])
        results = try await batch.send(on: fixture.agent)
        #expect(results.count == 2 && fixture.transport.requestCount == 3)
    }

    @Test func retryRunsMembersThatWereAddedAfterTheRun() async throws {
        let batch = BatchRequest([fixture.plain("a")])
        try await batch.send(on: fixture.agent)
        batch.add(fixture.plain("b"))
        batch.repeatsOnlyFailures = true
        #expect(try await batch.send().count == 2)
        #expect(fixture.paths == ["/a", "/b"])
    }

    @Test func memberAddedToATypedBatchIsRefused() async throws {
        let batch = BatchRequest.Typed([fixture.user(1)])
        batch.add(fixture.user(2))
        let error = await failure { try await batch.send(on: fixture.agent) }
        #expect(error?.code == .invalidCombination && fixture.paths.isEmpty)
    }
}
