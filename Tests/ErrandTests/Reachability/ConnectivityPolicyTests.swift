import Errand
import ErrandTesting
import TestSupport
import Testing

@Suite(.limited) struct ConnectivityPolicyTests {
    private static let connectionLost = RequestError(
        .connectionLost, stage: .transport, "connection lost")
    private let network = NetworkStatusHub(NetworkStatus(.none))

    @Test func failFastFailsWithOffline() async {
        let fixture = fixture(.failFast)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .offline)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func policyWithoutLimitsNeedsNoPermit() async throws {
        network.update(NetworkStatus(.wired))
        let fixture = fixture(.failFast)
        try await fixture.with(Plain("x")).send()
        _ = try await fixture.events.next { if case .ended = $0.kind { true } else { false } }
        let queueEvents = fixture.events.events.filter {
            switch $0.kind {
            case .queued, .dequeued: true
            default: false
            }
        }
        #expect(queueEvents.isEmpty)
    }

    @Test func manyRequestsWaitUntilTheNetworkReturns() async throws {
        let fixture = fixture(.waitForConnectivity)
        let tasks = (0..<1000).map { _ in fixture.agent.start(Plain("x").makeDescription()) }
        for _ in 0..<1000 {
            _ = try await fixture.events.next { $0.isWaitingForConnectivity }
        }
        #expect(fixture.transport.requests.isEmpty)
        for _ in 0..<20 {
            network.update(NetworkStatus(.wifi))
            network.update(NetworkStatus(.none))
        }
        network.update(NetworkStatus(.wired))
        for task in tasks { #expect(try await task.response().status == 200) }
    }

    @Test func cancellingEndsTheWaitForConnectivity() async throws {
        let fixture = fixture(.waitForConnectivity)
        let task = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.events.next { $0.isWaitingForConnectivity }
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
    }

    @Test func unknownStatusAndIgnorePolicyDoNotBlock() async throws {
        network.update(NetworkStatus(.unknown))
        #expect(try await fixture(.failFast).with(Plain("x")).send().status == 200)
        network.update(NetworkStatus(.none))
        #expect(try await fixture(.ignore).with(Plain("x")).send().status == 200)
    }

    @Test(arguments: ["http://localhost:8080/x", "http://127.0.0.1/x", "http://[::1]/x"])
    func loopbackRequestsNeedNoNetwork(url: String) async throws {
        for policy in [ConnectivityPolicy.failFast, .waitForConnectivity] {
            #expect(try await fixture(policy).with(Plain(url)).send().status == 200)
        }
    }

    @Test func unixSocketRequestsNeedNoNetwork() async throws {
        let fixture = fixture(.waitForConnectivity)
        fixture.agent.configuration.transportOptions.unixSocketPath = "/run/x.sock"
        #expect(try await fixture.with(Plain("x")).send().status == 200)
    }

    @Test func policyWithoutReachabilityIsInvalidConfiguration() async {
        let fixture = AgentFixture { $0.connectivityPolicy = .waitForConnectivity }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("SystemReachability()") == true)
    }

    @Test func endpointPolicyOverridesTheConfiguration() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await self.fixture(.ignore).with(ConnectivityRequest(.failFast)).send()
        }
        #expect(error?.code == .offline)
        let ignoring = ConnectivityRequest(.ignore)
        #expect(try await self.fixture(.failFast).with(ignoring).send().status == 200)
        let fixture = self.fixture(.failFast)
        let task = fixture.agent.start(ConnectivityRequest(.waitForConnectivity).makeDescription())
        _ = try await fixture.events.next { $0.isWaitingForConnectivity }
        network.update(NetworkStatus(.wired))
        #expect(try await task.response().status == 200)
    }

    @Test func retryWaitsForTheNetworkToReturn() async throws {
        let fixture = fixture(.waitForConnectivity)
        network.update(NetworkStatus(.wifi))
        fixture.transport.on(.get, "/lost", .failure(Self.connectionLost), .json("{}"))
        let task = fixture.agent.start(
            ConnectivityRequest(nil, "lost", attempts: 2).makeDescription())
        try await fixture.clock.untilSleeping()
        network.update(NetworkStatus(.none))
        fixture.clock.advance(by: .seconds(1))
        _ = try await fixture.events.next { $0.isWaitingForConnectivity }
        #expect(fixture.transport.requests.count == 1)
        network.update(NetworkStatus(.wifi))
        #expect(try await task.response().attempts == 2)
    }

    @Test func offlineErrorKeepsThePreviousFailure() async throws {
        let fixture = fixture(.failFast)
        network.update(NetworkStatus(.wifi))
        fixture.transport.on(.get, "/lost", .failure(Self.connectionLost))
        let task = fixture.agent.start(
            ConnectivityRequest(nil, "lost", attempts: 2).makeDescription())
        try await fixture.clock.untilSleeping()
        network.update(NetworkStatus(.none))
        fixture.clock.advance(by: .seconds(1))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .offline && error?.attempts == 1)
        #expect((error?.underlying as? RequestError)?.code == .connectionLost)
    }

    private func fixture(_ policy: ConnectivityPolicy) -> AgentFixture {
        let fixture = AgentFixture {
            $0.reachability = network
            $0.connectivityPolicy = policy
        }
        fixture.transport.on(nil, nil, .json("{}"))
        return fixture
    }
}

private final class ConnectivityRequest: BaseRequest {
    private let policy: ConnectivityPolicy?
    private let path: String
    private let attempts: Int

    init(_ policy: ConnectivityPolicy?, _ path: String = "x", attempts: Int = 1) {
        self.policy = policy
        self.path = path
        self.attempts = attempts
    }

    override var url: EndpointURL { EndpointURL(raw: path) }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.sending.connectivity = policy
    }
    override var retryPolicy: RetryPolicy? { .attempts(attempts) }
}
