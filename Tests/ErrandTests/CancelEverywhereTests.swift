import Errand
import ErrandTesting
import Foundation
import Testing

/// A request that waits, in each place where one can, ends at once when it is cancelled from anywhere.
@Suite(.timeLimit(.minutes(5))) struct CancelEverywhereTests {
    /// Where the request waits.
    enum Place: String, CaseIterable, Sendable {
        case filter, headers, arguments, requestProcessor, network, line, retryPause, pace
        case credentials, renewal, transfer, transferWithinLimit, joined, responseProcessor
        case errorProcessor, suspended
    }

    /// Who cancels.
    enum Canceller: CaseIterable, Sendable { case agent, swiftTask, shutDown }

    @Test(arguments: Place.allCases, Canceller.allCases)
    func aSentRequest(in place: Place, by canceller: Canceller) async throws {
        let stage = Stage(place)
        let work = Task { [agent = stage.world.agent] () -> RequestError? in
            let request = Waiting(place)
            request.agent = agent
            do throws(RequestError) {
                try await request.send()
                return nil
            } catch {
                return error
            }
        }
        try await stage.untilWaiting()
        await stage.cancel(canceller, work)
        let expected: RequestError.Code = canceller == .shutDown ? .agentShutDown : .cancelled
        #expect(await work.value?.code == expected)
        #expect(stage.world.agent.activeTasks.allSatisfy { $0.endpoint != "Waiting" })
    }

    @Test(arguments: Place.allCases, Canceller.allCases)
    func aStartedRequest(in place: Place, by canceller: Canceller) async throws {
        let stage = Stage(place)
        let task = stage.world.agent.start(Waiting(place).describe())
        let work = Task { () -> RequestError? in
            do throws(RequestError) {
                _ = try await task.response()
                return nil
            } catch {
                return error
            }
        }
        try await stage.untilWaiting()
        await stage.cancel(canceller, work)
        let expected: RequestError.Code = canceller == .shutDown ? .agentShutDown : .cancelled
        #expect(await work.value?.code == expected)
        #expect(task.phase == .ended)
    }

    private final class Waiting: BaseRequest {
        let place: Place
        init(_ place: Place) { self.place = place }
        override var url: String { place == .transfer ? "silent" : place.rawValue }
        override var duplicatePolicy: DuplicatePolicy { place == .joined ? .join : .allow }
        override var retryPolicy: RetryPolicy? {
            var policy = RetryPolicy.none
            switch place {
            case .retryPause: policy.maximumAttempts = 2
            case .transferWithinLimit: policy.attemptTimeout = .seconds(60)
            default: return nil
            }
            return policy
        }
    }

    /// A world in which the request comes to wait in one place.
    private struct Stage {
        let place: Place
        let world: World
        let gate = Gate()

        init(_ place: Place) {
            self.place = place
            let gate = gate
            world = World { Stage.configure(&$0, place, gate) }
            switch place {
            case .retryPause: world.transport.on(nil, nil, .json("{}", status: .serviceUnavailable))
            case .renewal: world.transport.on(nil, nil, .json("{}", status: .unauthorized))
            case .errorProcessor: world.transport.on(nil, nil, .json("{}", status: .notFound))
            case .responseProcessor: world.transport.on(nil, nil, .json("{}"))
            default: world.transport.on(nil, nil, .silence)
            }
        }

        private static func configure(
            _ configuration: inout Configuration, _ place: Place, _ gate: Gate
        ) {
            switch place {
            case .filter:
                configuration.urlFilters = [
                    ClosureURLFilter { url, _ in
                        try await gate.passed()
                        return url
                    }
                ]
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
            case .requestProcessor: configuration.requestProcessors = [Standing(gate: gate)]
            case .responseProcessor: configuration.responseProcessors = [Standing(gate: gate)]
            case .errorProcessor:
                configuration.errorProcessors = [
                    { error in
                        try? await gate.passed()
                        return error
                    }
                ]
            case .network:
                configuration.reachability = NetworkStatusHub(NetworkStatus(.none))
                configuration.connectivityPolicy = .waitForConnectivity
            case .line: configuration.maximumRequestsInFlight = 1
            case .pace: configuration.rateLimit = RateLimit(requests: 1, per: .seconds(60))
            case .credentials:
                configuration.authenticators = [
                    HostAuthenticator("api.example.com", Guard(applying: gate, renewing: nil))
                ]
            case .renewal:
                configuration.authenticators = [
                    HostAuthenticator("api.example.com", Guard(applying: nil, renewing: gate))
                ]
            case .retryPause, .transfer, .transferWithinLimit, .joined, .suspended: break
            }
        }

        /// Waits until the request stands where it is meant to.
        func untilWaiting() async throws {
            switch place {
            case .filter, .headers, .arguments, .requestProcessor, .credentials, .renewal,
                .responseProcessor, .errorProcessor:
                try await gate.reached()
            case .network:
                _ = try await world.events.next {
                    if case .waitingForConnectivity = $0.kind { true } else { false }
                }
            case .line, .pace: break
            case .retryPause: try await world.clock.untilSleeping()
            case .transferWithinLimit:
                try await world.clock.untilSleeping()
                _ = try await world.transport.nextRequest()
            case .transfer, .joined, .suspended: _ = try await world.transport.nextRequest()
            }
            try await enterLate()
        }

        private func enterLate() async throws {
            switch place {
            case .line, .pace:
                _ = try await world.transport.nextRequest()
                let second = world.agent.start(Waiting(place).describe())
                if place == .pace {
                    try await world.clock.untilSleeping()
                } else {
                    _ = try await world.events.next {
                        if case .queued = $0.kind { $0.taskID == second.id } else { false }
                    }
                }
            case .suspended: for task in world.agent.activeTasks { task.suspend() }
            case .joined:
                _ = world.agent.start(Waiting(place).describe())
                _ = try await world.events.next {
                    if case .joined = $0.kind { true } else { false }
                }
            default: break
            }
        }

        func cancel(_ canceller: Canceller, _ work: Task<RequestError?, Never>) async {
            switch canceller {
            case .agent: world.agent.cancelAll()
            case .swiftTask:
                work.cancel()
                _ = await work.value
                world.agent.cancelAll()
            case .shutDown: await world.agent.shutdown(draining: false)
            }
            await world.agent.shutdown()
            // A renewal goes on for others when nobody here waits for it any more.
            gate.open()
        }
    }

    private struct Standing: RequestProcessor, ResponseProcessor {
        let gate: Gate

        func process(
            _ request: inout TransportRequest, of description: RequestDescription
        ) async throws { try await gate.passed() }

        func process(_ response: Response, attempt: Int) async throws -> Response {
            try await gate.passed()
            return response
        }
    }

    private struct Guard: Authenticator {
        let applying: Gate?
        let renewing: Gate?

        func apply(to request: inout TransportRequest) async throws {
            try await applying?.passed()
        }

        func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
            try await renewing?.passed()
            return false
        }
    }
}
