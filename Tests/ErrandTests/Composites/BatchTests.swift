import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct BatchTests {
    @Test func emptyBatchSucceeds() async throws {
        #expect(try await BatchRequest([]).send().isEmpty)
    }

    @Test func resultsKeepTheOrderOfTheMembers() async throws {
        for order in permutations(of: [0, 1, 2, 3]) {
            let fixture = AgentFixture()
            let gates = (0..<4).map { _ in Gate() }
            for index in 0..<4 {
                fixture.transport.on(
                    .get, "/\(index)",
                    ScriptedResponse.json(#"{"n":\#(index)}"#).held(by: gates[index]))
            }
            let batch = BatchRequest((0..<4).map { fixture.with(Plain("\($0)")) })
            async let opened: Void = open(gates, in: order)
            let results = try await batch.send()
            try await opened
            #expect(results.map { try? $0.get().json["n"].int } == [0, 1, 2, 3])
        }
    }

    @Test func failFastCancelsTheOtherMembersAndThrowsTheFirstError() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        let members = [
            fixture.with(Plain("slow")), fixture.with(Plain("bad")), fixture.with(Plain("slow")),
        ]
        let batch = BatchRequest(members)
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(batch.failedRequest === members[1])
        #expect(members[0].error?.code == .cancelled)
        #expect(members[2].error?.code == .cancelled)
        #expect(fixture.transport.inFlight == 0)
    }

    @Test func collectAllKeepsSuccessfulResults() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/good", .json(#"{"n":1}"#))
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        let batch = BatchRequest(
            [fixture.with(Plain("bad")), fixture.with(Plain("good"))], policy: .collectAll)
        let results = try await batch.send()
        #expect(throws: RequestError.self) { try results[0].get() }
        #expect(try results[1].get().json["n"].int == 1)
    }

    /// As many members as allowed are in progress at every moment, and never more.
    @Test(arguments: [1, 2, 3, 5, 9, nil])
    @MainActor func maxConcurrentIsReachedAndNotExceeded(limit: Int?) async throws {
        let fixture = AgentFixture()
        let gates = (0..<5).map { _ in Gate() }
        defer { for gate in gates { gate.open() } }
        fixture.transport.respond { request in
            let index = Int(request.url.path.dropFirst()) ?? 0
            return ScriptedResponse.json("{}").held(by: gates[index])
        }
        let batch = BatchRequest(
            (0..<5).map { fixture.with(Plain("\($0)")) }, maxConcurrent: limit)
        let work = Task { try await batch.send() }
        let most = min(limit ?? 5, 5)
        for index in 0...(5 - most) {
            // The batch starts members in order. So those before `index` have ended, and these are in progress.
            let active = index..<(index + most)
            for gate in gates[active] { try await gate.reached() }
            try #require(fixture.agent.activeTasks.count == most)
            #expect(fixture.transport.requestCount == active.upperBound)
            #expect(fixture.transport.inFlight == most)
            gates[index].open()
        }
        for gate in gates { gate.open() }
        #expect(try await work.value.count == 5)
        #expect(fixture.transport.requestCount == 5)
    }

    /// The callbacks of the first member stop the run before the second one starts.
    @Test @MainActor func batchThatIsCancelledBetweenTwoMembersStartsNoMore() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let members = [fixture.with(Plain("a")), fixture.with(Plain("b"))]
        let batch = BatchRequest(members, maxConcurrent: 1)
        members[0].observe { [unowned batch] event, _ in
            if event == .didStop { batch.task?.cancel() }
        }
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .cancelled)
        #expect(members[0].error == nil && members[1].error?.code == .cancelled)
        #expect(fixture.events.events.count { $0.isStart } == 1)
    }

    @Test @MainActor func batchThatIsCancelledAtOnceStartsNoMember() async {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let members = [fixture.with(Plain("a")), fixture.with(Plain("b"))]
        let batch = BatchRequest(members)
        await withCheckedContinuation { continuation in
            batch.start { _ in
                continuation.resume()
            } failure: { _, _ in
                continuation.resume()
            }.cancel()
        }
        #expect(members.allSatisfy { $0.error?.code == .cancelled })
        #expect(!fixture.events.events.contains { $0.isStart })
    }

    @Test @MainActor func batchAccessoriesAreCalledInOrderAndMembersEndFirst() async {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        let log = CallbackLog()
        let member = fixture.with(Plain("a"))
        member.attach { _ in log.lines.append("member") }
        let batch = BatchRequest([member])
        batch.accessories = [log]
        await withCheckedContinuation { continuation in
            batch.start { _ in
                log.lines.append("closure")
                Task { continuation.resume() }
            }
        }
        #expect(
            log.lines == [
                "batch willStart", "member", "batch willStop", "closure", "batch didStop",
            ])
    }

    @Test @MainActor func cancellingABatchEndsItAndItsMembersWithCancelled() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let batch = BatchRequest(
            [fixture.with(Plain("slow")), fixture.with(Plain("slow"))], policy: .collectAll)
        let error: RequestError? = await withCheckedContinuation { continuation in
            let task = batch.start { _ in
                continuation.resume(returning: nil)
            } failure: { _, error in
                continuation.resume(returning: error)
            }
            Task {
                _ = try await fixture.transport.nextRequest()
                task.cancel()
            }
        }
        #expect(error?.code == .cancelled)
        #expect(batch.requests.allSatisfy { $0.error?.code == .cancelled })
    }

    @Test func valuesReturnsTheTypedOutputsOfTheMembers() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let (first, second) = try await BatchRequest.Typed(
            fixture.with(GetUser(id: 1)), fixture.with(GetUser(id: 2))
        ).value()
        #expect(first == second)
        #expect(first.nick == "a")
    }

    private func open(_ gates: [Gate], in order: [Int]) async throws {
        for index in order {
            try await gates[index].reached()
            gates[index].open()
        }
    }

    private func permutations(of items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { item in
            permutations(of: items.filter { $0 != item }).map { [item] + $0 }
        }
    }
}
