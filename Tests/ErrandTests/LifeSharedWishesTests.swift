import Errand
import ErrandTesting
import Testing

/// A shared transfer serves each of those who wait for it by their own rules, urgency and listeners.
@Suite(.timeLimit(.minutes(5))) struct LifeSharedWishesTests {
    private final class Sharing: BaseRequest {
        var serializer = ResponseSerializer.json
        var rule: BusinessValidator?
        var urgency = RequestPriority.normal
        override var url: String { "shared" }
        override var duplicatePolicy: DuplicatePolicy { .join }
        override var responseSerializer: ResponseSerializer { serializer }
        override var acceptableContentTypes: AcceptableContentTypes { .any }
        override var businessValidator: BusinessValidator? { rule }
        override var priority: RequestPriority { urgency }
    }

    private let gate = Gate()

    /// What a leader and a follower come to, in this order.
    private func outcomes(
        of answer: ScriptedAnswer, _ change: (Sharing, Sharing) -> Void
    ) async throws -> [RequestError.Code?] {
        let world = World()
        world.transport.on(.get, "/shared", answer.held(by: gate))
        let endpoints = (Sharing(), Sharing())
        change(endpoints.0, endpoints.1)
        let leader = world.agent.start(endpoints.0.describe())
        _ = try await world.transport.nextRequest()
        let follower = world.agent.start(endpoints.1.describe())
        try await untilJoined(world)
        gate.open()
        var codes: [RequestError.Code?] = []
        for task in [leader, follower] {
            do {
                _ = try await task.response()
                codes.append(nil)
            } catch {
                codes.append(error.code)
            }
        }
        #expect(world.transport.requests.count == 1)
        return codes
    }

    @Test func aLeadersSerializerIsNotItsFollowers() async throws {
        let codes = try await outcomes(of: .json("no json")) { $1.serializer = .string }
        #expect(codes == [.undecodable, nil])
    }

    @Test func aFollowersSerializerIsItsOwn() async throws {
        let codes = try await outcomes(of: .json("no json")) { leader, _ in
            leader.serializer = .string
        }
        #expect(codes == [nil, .undecodable])
    }

    @Test func aRuleOfTheLeadersThatThrowsAnErrorOfItsOwnIsNotItsFollowers() async throws {
        let codes = try await outcomes(of: .json("{}")) { leader, _ in
            leader.rule = BusinessValidator { _ in
                .reject(RequestError(.rejected, stage: .process, "Sold out."))
            }
        }
        #expect(codes == [.rejected, nil])
    }

    @Test func whatBefellTheTransferBefallsEverybody() async throws {
        let lost = RequestError(.connectionLost, stage: .transport, "Gone.")
        let codes = try await outcomes(of: .failure(lost)) { $1.serializer = .string }
        #expect(codes == [.connectionLost, .connectionLost])
    }

    enum Change: CaseIterable { case none, boards, changes, leaves }

    /// One place, taken; then the shared transfer waits with low priority, and another request with normal.
    @Test(arguments: Change.allCases) func theMostUrgentOnBoardDecidesWhenItIsSent(
        _ change: Change
    ) async throws {
        let world = World { $0.maximumRequestsInFlight = 1 }
        world.transport.on(.get, "/first", ScriptedAnswer.json("{}").held(by: gate))
        world.transport.on(.get, "/shared", .json("{}"))
        world.transport.on(.get, "/other", .json("{}"))
        var tasks = [world.agent.start(Plain("first").describe())]
        _ = try await world.transport.nextRequest()
        let leader = Sharing()
        leader.urgency = .low
        tasks.append(world.agent.start(leader.describe()))
        _ = try await world.events.next(where: isQueued)
        tasks.append(world.agent.start(Plain("other").describe()))
        _ = try await world.events.next(where: isQueued)
        let follower = Sharing()
        follower.urgency = change == .boards || change == .leaves ? .high : .low
        let boarded = world.agent.start(follower.describe())
        try await untilJoined(world)
        switch change {
        case .none, .boards: break
        case .changes: boarded.priority = .high
        case .leaves:
            boarded.cancel()
            await boarded.untilEnded()
        }
        gate.open()
        for task in tasks { _ = try await task.response() }
        let paths = world.transport.requests.map(\.url.path)
        let isEarly = change == .boards || change == .changes
        #expect(
            paths == (isEarly ? ["/first", "/shared", "/other"] : ["/first", "/other", "/shared"]))
    }

    @Test func whoStaysHearsWhatComesOfTheTransfer() async throws {
        let world = World()
        world.transport.on(.get, "/shared", ScriptedAnswer.json("{}").held(by: gate))
        let leader = world.agent.start(Sharing().describe())
        _ = try await world.transport.nextRequest()
        let follower = world.agent.start(Sharing().describe())
        try await untilJoined(world)
        leader.cancel()
        await leader.untilEnded()
        gate.open()
        _ = try await follower.response()
        func names(_ task: RequestTask) -> [String] {
            world.events.events.filter { $0.taskID == task.id }.map {
                String(String(describing: $0.kind).prefix { $0 != "(" })
            }
        }
        try await world.events.until { events in
            events.contains {
                guard case .ended = $0.kind else { return false }
                return $0.taskID == follower.id
            }
        }
        let heard = names(follower)
        for name in ["joined", "headReceived", "transferEnded", "validated", "attemptEnded"] {
            #expect(heard.contains(name), "\(heard)")
        }
        #expect(heard.last == "ended")
        #expect(names(leader).last == "ended" && !names(leader).contains("transferEnded"))
    }

    private func untilJoined(_ world: World) async throws {
        try await world.events.until { events in
            events.contains { if case .joined = $0.kind { true } else { false } }
        }
    }

    private let isQueued: @Sendable (RequestEvent) -> Bool = {
        if case .queued = $0.kind { true } else { false }
    }
}
