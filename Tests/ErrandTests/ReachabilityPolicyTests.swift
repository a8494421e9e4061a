import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReachabilityPolicyTests {
    private let network = NetworkStatusHub(NetworkStatus(.none))

    @Test func failFastFailsAtOnceWithAType() async {
        let world = world(.failFast)
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .offline)
        #expect(world.transport.requests.isEmpty)
    }

    @Test func aThousandWaitWhileTheNetworkComesAndGoes() async throws {
        let world = world(.waitForConnectivity)
        let tasks = (0..<1000).map { _ in world.agent.start(Plain("x").describe()) }
        for _ in 0..<1000 {
            _ = try await world.events.next {
                if case .waitingForConnectivity = $0.kind { true } else { false }
            }
        }
        #expect(world.transport.requests.isEmpty)
        for _ in 0..<20 {
            network.update(NetworkStatus(.wifi))
            network.update(NetworkStatus(.none))
        }
        network.update(NetworkStatus(.wired))
        for task in tasks { #expect(try await task.response().status == 200) }
    }

    @Test func cancellingEndsTheWait() async throws {
        let world = world(.waitForConnectivity)
        let task = world.agent.start(Plain("x").describe())
        _ = try await world.events.next {
            if case .waitingForConnectivity = $0.kind { true } else { false }
        }
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
    }

    @Test func whatIsNotKnownStopsNobody() async throws {
        network.update(NetworkStatus(.unknown))
        #expect(try await world(.failFast).with(Plain("x")).send().status == 200)
        network.update(NetworkStatus(.none))
        #expect(try await world(.ignore).with(Plain("x")).send().status == 200)
    }

    private func world(_ policy: ConnectivityPolicy) -> World {
        let world = World {
            $0.reachability = network
            $0.connectivityPolicy = policy
        }
        world.transport.on(nil, nil, .json("{}"))
        return world
    }
}
