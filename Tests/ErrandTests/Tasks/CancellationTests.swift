import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A cancelled request ends at once, at every point where a request can wait and for every way to cancel it.
@Suite(.limited) struct CancellationTests {
    /// The point at which the request waits.
    enum WaitPoint: String, CaseIterable, Sendable {
        case interceptor, headers, arguments, requestProcessor, network, queue, retryDelay,
            rateLimit
        case credentials, credentialRefresh, transfer, transferWithAttemptTimeout, joined
        case responseProcessor, errorProcessor, suspended
    }

    /// The way in which the request is cancelled.
    enum Canceller: CaseIterable, Sendable { case agent, swiftTask, shutDown }

    @Test(arguments: WaitPoint.allCases, Canceller.allCases)
    func awaitedRequestEndsAtOnce(at point: WaitPoint, by canceller: Canceller) async throws {
        let scenario = Scenario(point)
        let other = try await scenario.startOther()
        let waiter = Task { [agent = scenario.fixture.agent] () -> RequestError? in
            do throws(RequestError) {
                try await WaitingRequest(point).send(on: agent)
                return nil
            } catch {
                return error
            }
        }
        try await scenario.untilWaiting()
        try await scenario.cancel(canceller, waiter, other)
        #expect(scenario.fixture.agent.activeTasks.allSatisfy { $0.endpoint != "WaitingRequest" })
    }

    @Test(arguments: WaitPoint.allCases, Canceller.allCases)
    func startedRequestEndsAtOnce(at point: WaitPoint, by canceller: Canceller) async throws {
        let scenario = Scenario(point)
        let other = try await scenario.startOther()
        let task = scenario.fixture.agent.start(WaitingRequest(point).makeDescription())
        let waiter = Task { () -> RequestError? in
            do throws(RequestError) {
                _ = try await task.response()
                return nil
            } catch {
                return error
            }
        }
        try await scenario.untilWaiting()
        try await scenario.cancel(canceller, waiter, other)
        #expect(task.phase == .ended)
    }

    private final class WaitingRequest: BaseRequest {
        let point: WaitPoint
        init(_ point: WaitPoint) { self.point = point }
        override var url: EndpointURL {
            EndpointURL(raw: point == .transfer ? "silent" : point.rawValue)
        }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.duplicates = point == .joined ? .join : .allow
        }
        override var retryPolicy: RetryPolicy? {
            var policy = RetryPolicy.none
            switch point {
            case .retryDelay: policy.maximumAttempts = 2
            case .transferWithAttemptTimeout: policy.attemptTimeout = .seconds(60)
            default: return nil
            }
            return policy
        }
    }

    /// An agent configured so that the request waits at one point.
    private struct Scenario {
        let point: WaitPoint
        let fixture: AgentFixture
        let gate = Gate()

        init(_ point: WaitPoint) {
            self.point = point
            let gate = gate
            fixture = AgentFixture { Scenario.configure(&$0, point, gate) }
            switch point {
            case .retryDelay:
                fixture.transport.on(nil, nil, .json("{}", status: .serviceUnavailable))
            case .credentialRefresh:
                fixture.transport.on(nil, nil, .json("{}", status: .unauthorized))
            case .errorProcessor: fixture.transport.on(nil, nil, .json("{}", status: .notFound))
            case .responseProcessor: fixture.transport.on(nil, nil, .json("{}"))
            case .queue, .rateLimit, .joined:
                fixture.transport.on(nil, nil, ScriptedResponse.json("{}").held(by: gate))
            default: fixture.transport.on(nil, nil, .silence)
            }
        }

        private static func configure(
            _ configuration: inout Configuration, _ point: WaitPoint, _ gate: Gate
        ) {
            switch point {
            case .interceptor:
                configuration.interceptors = [GatedInterceptor(gate: gate)]
            case .headers:
                configuration.headerProvider = {
                    try await gate.passed()
                    return [:]
                }
            case .arguments:
                configuration.argumentProvider = {
                    try await gate.passed()
                    return [:]
                }
            case .requestProcessor:
                configuration.requestProcessors = [{ _, _, _ in try await gate.passed() }]
            case .responseProcessor:
                configuration.responseProcessors = [{ _ in try await gate.passed() }]
            case .errorProcessor:
                configuration.errorProcessors = [
                    { _ in try? await gate.passed() }
                ]
            case .network:
                configuration.reachability = NetworkStatusHub(NetworkStatus(.none))
                configuration.connectivityPolicy = .waitForConnectivity
            case .queue: configuration.limits.total = 1
            case .rateLimit: configuration.rateLimit = RateLimit(requests: 1, per: .seconds(60))
            case .credentials:
                configuration.authenticators = [
                    "api.example.com": GatedAuthenticator(applying: gate)
                ]
            case .credentialRefresh:
                configuration.authenticators = [
                    "api.example.com": GatedAuthenticator(refreshing: gate)
                ]
            case .retryDelay, .transfer, .transferWithAttemptTimeout, .joined, .suspended: break
            }
        }

        /// Starts the request for which the cancelled one waits, if there is one, up to its transfer.
        func startOther() async throws -> RequestTask? {
            switch point {
            case .queue, .rateLimit, .joined: break
            default: return nil
            }
            let other = fixture.agent.start(WaitingRequest(point).makeDescription())
            _ = try await fixture.transport.nextRequest()
            return other
        }

        /// Waits until the request has reached its wait point.
        func untilWaiting() async throws {
            switch point {
            case .interceptor, .headers, .arguments, .requestProcessor, .credentials,
                .credentialRefresh,
                .responseProcessor, .errorProcessor:
                try await gate.reached()
            case .network:
                _ = try await fixture.events.next {
                    $0.isWaitingForConnectivity
                }
            case .queue: try await fixture.untilQueued()
            case .joined: try await fixture.untilJoined()
            case .rateLimit, .retryDelay: try await fixture.clock.untilSleeping()
            case .transferWithAttemptTimeout:
                try await fixture.clock.untilSleeping()
                _ = try await fixture.transport.nextRequest()
            case .transfer: _ = try await fixture.transport.nextRequest()
            case .suspended:
                _ = try await fixture.transport.nextRequest()
                for task in fixture.agent.activeTasks { task.suspend() }
            }
        }

        /// Cancels the request, and checks its end and the end of the other one.
        func cancel(
            _ canceller: Canceller, _ waiter: Task<RequestError?, Never>, _ other: RequestTask?
        ) async throws {
            switch canceller {
            case .agent: fixture.agent.cancelAll()
            case .swiftTask: waiter.cancel()
            case .shutDown: await fixture.agent.shutdown(draining: false)
            }
            let expected: RequestError.Code = canceller == .shutDown ? .agentShutDown : .cancelled
            #expect(await waiter.value?.code == expected)
            if let other {
                if canceller == .swiftTask {
                    try await checkUnaffected(other)
                } else {
                    #expect(await other.outcome().error?.code == expected)
                }
            }
            fixture.agent.cancelAll()
            await fixture.agent.shutdown()
            // A credential refresh continues after its only waiter was cancelled: let it end.
            gate.open()
        }

        /// The other request is still in its transfer, which is the only one, and succeeds.
        private func checkUnaffected(_ other: RequestTask) async throws {
            #expect(other.phase == .inFlight(attempt: 1))
            gate.open()
            #expect(try await other.response().status == .ok)
            #expect(fixture.transport.requestCount == 1)
        }
    }

    private struct GatedInterceptor: Interceptor {
        let gate: Gate

        func intercept(
            _ request: TransportRequest, next: TransportRequest.Next
        ) async throws -> Response {
            try await gate.passed()
            return try await next(request)
        }
    }
}
