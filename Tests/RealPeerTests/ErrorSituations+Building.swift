import Errand
import ErrandDownloadQueue
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import Foundation
import TestSupport

// Errors before anything is sent.
extension ErrorSituations {
    func building(_ code: RequestError.Code) async throws -> RequestError? {
        switch code {
        case .invalidURL: return await failure { $0.url = "ftp://files.example.com/film.mkv" }
        case .noBaseURL: return await failure(on: agent { $0.baseURL = nil })
        case .invalidMethod: return await failure { $0.method = "GET PILOT" }
        case .invalidHeader: return await failure { $0.headers[.custom("X Token")] = "secret" }
        case .invalidArguments: return await failure { $0.arguments = ["speed": Double.nan] }
        case .invalidBody:
            return await failure {
                $0.method = .put
                $0.body = .file(folder.url.appendingPathComponent("sunset.jpg"))
            }
        case .invalidValidator:
            return await failure { $0.validator = ["code": .pattern("(unclosed")] }
        case .invalidConfiguration: return await failure { $0.timeouts = Timeouts(idle: .zero) }
        case .invalidCombination:
            return await failure {
                $0.method = .head
                $0.body = .string("Amelia")
            }
        case .unsupported: return await failure(on: agent(over: URLSessionTransport()))
        case .adaptationFailed:
            return await failure(on: agent { $0.headerProvider = { throw Problem() } })
        default: return nil
        }
    }

    func waiting(_ code: RequestError.Code) async throws -> RequestError? {
        switch code {
        case .cacheMiss:
            return await failure {
                $0.cacheSeconds = 60
                $0.cache.policy = .cacheOnly
            }
        case .storeFailed: return try await storeFailure()
        case .duplicate:
            return try await secondFailure(on: agent()) { $0.sending.duplicates = .reject }
        case .queueFull: return try await queueFailure()
        case .offline:
            return await failure(
                on: agent {
                    $0.reachability = NetworkStatusHub(NetworkStatus(.none))
                    $0.connectivityPolicy = .failFast
                })
        case .circuitOpen: return await circuitFailure()
        case .agentShutDown: return await shutDownFailure()
        default: return nil
        }
    }

    /// The error of a queue whose folder is a file.
    private func storeFailure() async throws -> RequestError? {
        try Data().write(to: folder.url.appendingPathComponent("downloads"))
        let agent = agent()
        let queue = DownloadQueue(path: folder.path("downloads/queue.sqlite"), agent: agent)
        do {
            try await queue.open()
            return nil
        } catch {
            return error
        }
    }

    /// The error of a request that is started while another one waits for its response.
    private func secondFailure(
        on agent: RequestAgent, _ change: @escaping (inout RequestDescription) -> Void = { _ in }
    ) async throws -> RequestError? {
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse().held(by: gate) }
        let first = agent.start(GetPilot(change).makeDescription())
        try await gate.reached()
        let second = agent.start(GetPilot(change).makeDescription())
        let outcome = await second.outcome()
        gate.open()
        _ = await first.outcome()
        await agent.shutdown()
        return outcome.error
    }

    /// The error of the request that is refused while one is in progress and 20 wait.
    private func queueFailure() async throws -> RequestError? {
        let agent = agent { $0.limits = RequestLimits(total: 1, waiting: 20) }
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse().held(by: gate) }
        let first = agent.start(GetPilot().makeDescription())
        try await gate.reached()
        let others = (0...20).map { _ in agent.start(GetPilot().makeDescription()) }
        let refusal = await withTaskGroup(of: RequestError?.self) { group in
            for other in others { group.addTask { await other.outcome().error } }
            // The others end after the gate has opened.
            let refusal = await group.next()
            gate.open()
            await group.waitForAll()
            return refusal ?? nil
        }
        _ = await first.outcome()
        await agent.shutdown()
        return refusal
    }

    private func circuitFailure() async -> RequestError? {
        let agent = agent {
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 1, pause: .seconds(30))
        }
        server.otherwise { _ in LoopbackResponse(status: 503) }
        _ = try? await GetPilot().send(on: agent)
        return await failure(on: agent)
    }

    private func shutDownFailure() async -> RequestError? {
        let agent = agent()
        await agent.shutdown()
        return await failure(on: agent)
    }
}
