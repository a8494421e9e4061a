import Errand
import ErrandTesting
import TestSupport
import Testing

/// Batches and chains as members of batches, and the rules for members.
@Suite(.limited) struct BatchNestingTests {
    private let fixture = CompositeFixture()

    @Test func batchContainsBatchesAndChains() async throws {
        let chain = ChainRequest()
        chain.add(fixture.plain("c")).then { [fixture] _ in fixture.plain("d") }
        let inner = BatchRequest([fixture.plain("a"), fixture.plain("b")])
        let batch = BatchRequest([inner, chain, fixture.plain("e")] as [RequestUnit])
        let results = try await batch.send()
        #expect(Set(fixture.paths) == ["/a", "/b", "/c", "/d", "/e"])
        #expect(
            results.map { try? $0.get().json["path"].string } == ["/a", "/b", "/c", "/d", "/e"])
        #expect(batch.requests.map(\.url) == ["a", "b", "c", "d", "e"])
    }

    @Test func failureOfANestedChainFailsTheBatch() async throws {
        let chain = ChainRequest()
        chain.add(fixture.plain("bad")).then { [fixture] _ in fixture.plain("never") }
        let batch = BatchRequest([chain, fixture.plain("a")] as [RequestUnit])
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .unacceptableStatus && batch.failedRequest?.url == "bad")
        #expect(batch.task == nil && chain.task == nil)
    }

    @Test func membersAreDescribedBeforeTheFirstIsSent() async throws {
        let sent = fixture.transport
        var counts: [Int] = []
        let members = (0..<3).map { fixture.plain("\($0)") }
        for member in members {
            member.observe { event, _ in
                if event == .willStart { counts.append(sent.requestCount) }
            }
        }
        try await BatchRequest(members, maxConcurrent: 1).send()
        #expect(counts == [0, 0, 0])
    }

    @Test func describedMembersThatAreNotStartedHaveOneEnd() async throws {
        var lines: [String] = []
        let members = ["bad", "a"].map { fixture.plain($0) }
        for member in members {
            member.observe { lines.append("\(($1 as? BaseRequest)?.url ?? "") \($0)") }
        }
        let inner = BatchRequest([members[1]])
        let batch = BatchRequest([members[0], inner] as [RequestUnit], maxConcurrent: 1)
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        let end = ["willCancel", "willStop", "didStop"].map { "a \($0)" }
        #expect(
            lines == ["bad willStart", "a willStart", "bad willStop", "bad didStop"] + end)
        #expect(
            members[1].error?.code == .cancelled && inner.task == nil && fixture.paths == ["/bad"])
    }

    @Test func requestThatOccursTwiceIsRefusedBeforeHooksAreCalled() async throws {
        let request = fixture.plain("a")
        var events = 0
        request.observe { _, _ in events += 1 }
        let nested = BatchRequest([request])
        for members in [[request, request], [nested, request]] as [[RequestUnit]] {
            let batch = BatchRequest(members)
            let error = await #expect(throws: RequestError.self) { try await batch.send() }
            #expect(error?.code == .invalidCombination && batch.task == nil && nested.task == nil)
        }
        #expect(events == 0 && fixture.transport.requests.isEmpty)
        // The refusal keeps no reservation.
        try await BatchRequest([nested] as [RequestUnit]).send()
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func batchThatContainsItselfThroughAChainFails() async throws {
        let chain = ChainRequest()
        let batch = BatchRequest([chain] as [RequestUnit])
        chain.add(batch)
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .batchFailed && error?.message.contains("contains itself") == true)
        #expect(batch.task == nil && chain.task == nil)
    }

    /// They retain each other; only one test uses them.
    nonisolated(unsafe) private static let cycle = (0..<3).map { _ in BatchRequest([]) }

    @Test func compositesThatContainThemselvesFailWithoutAnAgentAtTheCall() async throws {
        let batch = Self.cycle[0]
        batch.add(batch)
        let own = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(own?.code == .batchFailed && own?.message.contains("contains itself") == true)
        let (first, second) = (Self.cycle[1], Self.cycle[2])
        first.add(second)
        second.add(first)
        let nested = await #expect(throws: RequestError.self) { try await first.send() }
        #expect(nested?.code == .batchFailed && first.task == nil && second.task == nil)
        #expect(first.requests.isEmpty)
    }

    // MARK: - Typed values

    @Test func valuesAreATupleAnArrayOrADictionary() async throws {
        let nested = BatchRequest.Typed([fixture.user(3), fixture.user(4)])
        let (one, response, more) = try await BatchRequest.Typed(
            fixture.user(1), fixture.base.with(InlineRequest("users?id=2")), nested,
            maxConcurrent: 1
        ).value()
        #expect(one.nick == "1" && response.json["nick"].string == "2")
        #expect(more.map(\.nick) == ["3", "4"])
        let byKey = try await BatchRequest.Typed(["a": fixture.user(1), "b": fixture.user(2)])
            .value()
        #expect(byKey.mapValues(\.nick) == ["a": "1", "b": "2"])
    }

    @Test func collectAllGivesResults() async throws {
        let (first, second) = (fixture.user(0), fixture.user(1))
        let batch = BatchRequest.Typed(first, second, policy: .collectAll)
        try await batch.send()
        #expect(first.outputResult?.failure?.code == .unacceptableStatus)
        #expect(try second.outputResult?.get().nick == "1")
        let thrown = await #expect(throws: RequestError.self) { try await batch.value() }
        #expect(thrown?.code == .unacceptableStatus)
    }

    @Test @MainActor func closureReceivesTheValues() async throws {
        let nicks = await withCheckedContinuation { continuation in
            BatchRequest.Typed([1, 2].map { fixture.user($0) }).start { _, users in
                continuation.resume(returning: users.map(\.nick))
            } failure: { _, _ in
                continuation.resume(returning: [])
            }
        }
        #expect(nicks == ["1", "2"])
    }
}
