import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReachabilityPolicyTests {
    private static let cut = RequestError(.connectionLost, stage: .transport, "The line was cut.")
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

    @Test(arguments: ["http://localhost:8080/x", "http://127.0.0.1/x", "http://[::1]/x"])
    func whatStaysOnThisMachineNeedsNoNetwork(url: String) async throws {
        for policy in [ConnectivityPolicy.failFast, .waitForConnectivity] {
            #expect(try await world(policy).with(Plain(url)).send().status == 200)
        }
    }

    @Test func aUnixSocketNeedsNoNetwork() async throws {
        let world = world(.waitForConnectivity)
        world.agent.configuration.transport.unixSocketPath = "/run/x.sock"
        #expect(try await world.with(Plain("x")).send().status == 200)
    }

    @Test func withoutAWatcherThePolicyIsAMistake() async {
        let world = World { $0.connectivityPolicy = .waitForConnectivity }
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("SystemReachability()") == true)
    }

    @Test func anEndpointHasTheLastWord() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await self.world(.ignore).with(Careful(.failFast)).send()
        }
        #expect(error?.code == .offline)
        #expect(try await self.world(.failFast).with(Careful(.ignore)).send().status == 200)
        let world = self.world(.failFast)
        let task = world.agent.start(Careful(.waitForConnectivity).describe())
        _ = try await world.events.next {
            if case .waitingForConnectivity = $0.kind { true } else { false }
        }
        network.update(NetworkStatus(.wired))
        #expect(try await task.response().status == 200)
    }

    @Test func whatTheNetworksEndBrokeIsSentAgainWhenItIsBack() async throws {
        let world = world(.waitForConnectivity)
        network.update(NetworkStatus(.wifi))
        world.transport.on(.get, "/cut", .failure(Self.cut), .json("{}"))
        let task = world.agent.start(Careful(nil, "cut", attempts: 2).describe())
        try await world.clock.untilSleeping()
        network.update(NetworkStatus(.none))
        world.clock.advance(by: .seconds(1))
        _ = try await world.events.next {
            if case .waitingForConnectivity = $0.kind { true } else { false }
        }
        #expect(world.transport.requests.count == 1)
        network.update(NetworkStatus(.wifi))
        #expect(try await task.response().attempts == 2)
    }

    @Test func theErrorOfAnEndedNetworkSaysWhatWentBefore() async throws {
        let world = world(.failFast)
        network.update(NetworkStatus(.wifi))
        world.transport.on(.get, "/cut", .failure(Self.cut))
        let task = world.agent.start(Careful(nil, "cut", attempts: 2).describe())
        try await world.clock.untilSleeping()
        network.update(NetworkStatus(.none))
        world.clock.advance(by: .seconds(1))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .offline && error?.attempts == 1)
        #expect((error?.underlying as? RequestError)?.code == .connectionLost)
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

private final class Careful: BaseRequest {
    private let policy: ConnectivityPolicy?
    private let path: String
    private let attempts: Int

    init(_ policy: ConnectivityPolicy?, _ path: String = "x", attempts: Int = 1) {
        self.policy = policy
        self.path = path
        self.attempts = attempts
    }

    override var url: String { path }
    override var connectivityPolicy: ConnectivityPolicy? { policy }
    override var retryPolicy: RetryPolicy? { .attempts(attempts) }
}
