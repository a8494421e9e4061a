import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct ChainTests {
    @Test func thenBuildsEachStepFromThePreviousResponse() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/register", .json(#"{"userId":7}"#))
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let chain = ChainRequest()
        chain.add(fixture.with(Plain("register")))
            .then { register in
                fixture.with(GetUser(id: register.response?.json["userId"].int ?? 0))
            }
        let responses = try await chain.send()
        #expect(responses.count == 2)
        #expect(fixture.transport.requests.map(\.url.query) == [nil, "id=7"])
        #expect((chain.requests.last as? GetUser)?.output?.nick == "a")
    }

    @Test func thenReceivesTheOutputOfATypedStep() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        fixture.transport.on(.get, "/level3", .json("{}"))
        let chain = ChainRequest()
        chain.add(fixture.with(GetUser(id: 7)))
            .then { request, user in fixture.with(Plain("level\(user.level)")) }
        try await chain.send()
        #expect(fixture.transport.requests.map(\.url.path) == ["/users", "/level3"])
    }

    @Test func stepsAreAsynchronousAndRunOnTheActorOfTheChain() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let gate = Gate()
        let chain = ChainRequest()
        chain.add(fixture.with(Plain("a"))).then { _ in
            gate.open()
            try await gate.passed()
            return fixture.with(Plain("b"))
        }
        try await chain.send()
        #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/b"])
    }

    @Test func cancellingDuringAnAsynchronousStepSendsNothingMore() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let chain = ChainRequest()
        chain.add(fixture.with(Plain("a"))).then { [unowned chain] _ in
            chain.task?.cancel()
            await Task.yield()
            return fixture.with(Plain("never"))
        }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .cancelled && fixture.transport.requests.count == 1)
    }

    @Test func stepThatNeedsAnOutputFailsAfterAFailedStep() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json("{}", status: .badGateway))
        let chain = ChainRequest()
        chain.add(fixture.with(GetUser(id: 7)))
            .then { _, user in fixture.with(Plain("level\(user.level)")) }
        chain.recover { _, _ in .proceed }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .chainFailed)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func callbackCanAddSteps() async throws {
        let fixture = AgentFixture()
        for path in ["/a", "/b", "/c"] { fixture.transport.on(.get, path, .json("{}")) }
        let chain = ChainRequest()
        chain.add(fixture.with(Plain("a"))) { chain, _ in
            chain.add(fixture.with(Plain("b"))) { chain, _ in chain.add(fixture.with(Plain("c"))) }
        }
        try await chain.send()
        #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/b", "/c"])
        // A second run repeats the same steps and adds none.
        try await chain.send()
        #expect(fixture.transport.requests.count == 6)
    }

    @Test func stepsThatACallbackAddsRunAfterAllOthers() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let chain = ChainRequest()
        var totals: [Int] = []
        chain.add(fixture.with(Plain("a"))) { chain, _ in
            chain.add(fixture.with(Plain("added")))
                .then { added in fixture.with(Plain("after-\(added.url)")) }
        }
        chain.add(fixture.with(Plain("b"))) { chain, _ in
            totals.append(chain.task?.members?.total ?? 0)
        }
        chain.add(fixture.with(Plain("c")))
        let paths = ["/a", "/b", "/c", "/added", "/after-added"]
        let responses = try await chain.send()
        #expect(fixture.transport.requests.map(\.url.path) == paths)
        #expect(responses.map(\.url.path) == paths)
        // The progress counts the added steps from the moment when they were added.
        #expect(totals == [5])
        // They are added again by each run, at the same place.
        try await chain.send()
        #expect(fixture.transport.requests.map(\.url.path) == paths + paths)
    }

    @Test func failureStopsTheChainBeforeTheNextStepIsBuilt() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}", status: .badGateway))
        let chain = ChainRequest()
        var wasMade = false
        chain.add(fixture.with(Plain("a"))).then { _ -> Plain in
            wasMade = true
            return fixture.with(Plain("b"))
        }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(chain.failedRequest === chain.requests.first)
        #expect(!wasMade)
    }

    @Test func recoverReplacesTheFailedStepOrContinues() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}", status: .badGateway))
        fixture.transport.on(.get, "/spare", .json("{}"))
        fixture.transport.on(.get, "/b", .json("{}"))
        let chain = ChainRequest()
        var called: [String] = []
        var failures: [String] = []
        chain.add(fixture.with(Plain("a"))) { _, member in called.append(member.url.description) }
        chain.add(fixture.with(Plain("b"))) { _, member in called.append(member.url.description) }
        chain.recover { member, error in
            failures.append("\(member.url) \(error.code)")
            return .replace(fixture.with(Plain("spare")))
        }
        try await chain.send()
        #expect(chain.requests.map(\.url) == ["spare", "b"])
        #expect(called == ["spare", "b"] && failures == ["a unacceptableStatus"])
        chain.recover { member, error in
            failures.append("\(member.url) \(error.code)")
            return .proceed
        }
        try await chain.send()
        #expect(chain.requests.map(\.url) == ["a", "b"])
        // The callback of a step is not called after its failure.
        #expect(called == ["spare", "b", "b"])
        #expect(failures == ["a unacceptableStatus", "a unacceptableStatus"])
    }

    @Test func finishEndsTheChainAndAbortFailsIt() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        let finishing = ChainRequest()
        finishing.add(fixture.with(Plain("a"))) { chain, _ in chain.finish() }
        finishing.add(fixture.with(Plain("never")))
        #expect(try await finishing.send().count == 1)

        let aborting = ChainRequest()
        aborting.add(fixture.with(Plain("a"))) { chain, _ in
            chain.abort(RequestError(.chainFailed, stage: .process, "aborted by the test"))
        }
        aborting.add(fixture.with(Plain("never")))
        let error = await #expect(throws: RequestError.self) { try await aborting.send() }
        #expect(error?.code == .chainFailed)
        #expect(fixture.transport.failures.isEmpty)
    }

    @Test func cancellingTheTaskStopsTheChain() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        fixture.transport.on(.get, "/slow", .silence)
        let transport = fixture.transport
        let agent = fixture.agent
        let work = Task {
            let chain = ChainRequest()
            for path in ["a", "slow", "never"] { chain.add(Plain(path)) }
            return try await chain.send(on: agent).count
        }
        _ = try await transport.nextRequest()
        _ = try await transport.nextRequest()
        work.cancel()
        let error = await #expect(throws: RequestError.self) { try await work.value }
        #expect(error?.code == .cancelled)
        #expect(transport.requests.count == 2)
    }

    @Test func cancellingInACallbackEndsTheChain() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        var isMade = false
        for hasNextStep in [true, false] {
            let chain = ChainRequest()
            let member = fixture.with(Plain("a"))
            let link = chain.add(member) { chain, _ in chain.task?.cancel() }
            if hasNextStep {
                link.then { _ in
                    isMade = true
                    return fixture.with(Plain("never"))
                }
            }
            let error = await #expect(throws: RequestError.self) { try await chain.send() }
            #expect(error?.code == .cancelled && member.error == nil && !isMade)
        }
        #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/a"])
    }
}
