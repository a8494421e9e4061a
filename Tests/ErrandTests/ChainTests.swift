import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChainTests {
    @Test func eachStepIsMadeFromWhatCameBefore() async throws {
        let world = World()
        world.transport.on(.get, "/register", .json(#"{"userId":7}"#))
        world.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let chain = ChainRequest()
        chain.add(world.with(Plain("register")))
            .then { register in
                world.with(GetUser(id: register.response?.json["userId"].int ?? 0))
            }
        let responses = try await chain.send()
        #expect(responses.count == 2)
        #expect(world.transport.requests.map(\.url.query) == [nil, "id=7"])
        #expect((chain.requests.last as? GetUser)?.output?.nick == "a")
    }

    @Test func aCallbackMayAddSteps() async throws {
        let world = World()
        for path in ["/a", "/b", "/c"] { world.transport.on(.get, path, .json("{}")) }
        let chain = ChainRequest()
        chain.add(world.with(Plain("a"))) { chain, _ in
            chain.add(world.with(Plain("b"))) { chain, _ in chain.add(world.with(Plain("c"))) }
        }
        try await chain.send()
        #expect(world.transport.requests.map(\.url.path) == ["/a", "/b", "/c"])
        // A second run is the same again, not longer.
        try await chain.send()
        #expect(world.transport.requests.count == 6)
    }

    @Test func aFailureStopsTheChainAndTheNextStepIsNotMade() async throws {
        let world = World()
        world.transport.on(.get, "/a", .json("{}", status: .badGateway))
        let chain = ChainRequest()
        var wasMade = false
        chain.add(world.with(Plain("a"))).then { _ -> Plain in
            wasMade = true
            return world.with(Plain("b"))
        }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(chain.failedRequest === chain.requests.first)
        #expect(!wasMade)
    }

    @Test func recoverReplacesOrProceeds() async throws {
        let world = World()
        world.transport.on(.get, "/a", .json("{}", status: .badGateway))
        world.transport.on(.get, "/spare", .json("{}"))
        world.transport.on(.get, "/b", .json("{}"))
        let chain = ChainRequest()
        chain.add(world.with(Plain("a")))
        chain.add(world.with(Plain("b")))
        chain.recover { _, _ in .replace(world.with(Plain("spare"))) }
        try await chain.send()
        #expect(chain.requests.map(\.url) == ["spare", "b"])
        chain.recover { _, _ in .proceed }
        try await chain.send()
        #expect(chain.requests.map(\.url) == ["a", "b"])
    }

    @Test func finishAndAbort() async throws {
        let world = World()
        world.transport.on(.get, "/a", .json("{}"))
        let finishing = ChainRequest()
        finishing.add(world.with(Plain("a"))) { chain, _ in chain.finish() }
        finishing.add(world.with(Plain("never")))
        #expect(try await finishing.send().count == 1)

        let aborting = ChainRequest()
        aborting.add(world.with(Plain("a"))) { chain, _ in
            chain.abort(RequestError(.chainFailed, stage: .process, "enough"))
        }
        aborting.add(world.with(Plain("never")))
        let error = await #expect(throws: RequestError.self) { try await aborting.send() }
        #expect(error?.code == .chainFailed)
        #expect(world.transport.failures.isEmpty)
    }

    @Test func cancellingStopsTheChainAnywhere() async throws {
        let world = World()
        world.transport.on(.get, "/a", .json("{}"))
        world.transport.on(.get, "/slow", .silence)
        let transport = world.transport
        let agent = world.agent
        let work = Task {
            let chain = ChainRequest()
            for path in ["a", "slow", "never"] {
                let request = Plain(path)
                request.agent = agent
                chain.add(request)
            }
            return try await chain.send().count
        }
        _ = try await transport.nextRequest()
        _ = try await transport.nextRequest()
        work.cancel()
        let error = await #expect(throws: RequestError.self) { try await work.value }
        #expect(error?.code == .cancelled)
        #expect(transport.requests.count == 2)
    }
}
