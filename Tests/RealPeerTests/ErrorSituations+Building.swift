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
        case .cacheMiss: return await failure { $0.cache.policy = .cacheOnly }
        case .storeFailed: return await storeFailure()
        case .duplicate: return try await secondFailure { $0.sending.duplicates = .reject }
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

    private func storeFailure() async -> RequestError? {
        let queue = DownloadQueue(path: folder.path("missing/queue.sqlite"), agent: agent())
        do {
            try await queue.open()
            return nil
        } catch {
            return error
        }
    }

    /// The error of a request that is started while an equal one waits for its response.
    private func secondFailure(
        _ change: @escaping (inout RequestDescription) -> Void
    ) async throws -> RequestError? {
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse().held(by: gate) }
        let agent = agent()
        let first = agent.start(GetPilot(change).makeDescription())
        _ = try await gate.reached()
        let error = await failure(on: agent, change)
        gate.open()
        _ = await first.outcome()
        return error
    }

    private func queueFailure() async throws -> RequestError? {
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse().held(by: gate) }
        let agent = agent { $0.limits = RequestLimits(total: 1, waiting: 0) }
        let first = agent.start(GetPilot().makeDescription())
        _ = try await gate.reached()
        let error = await failure(on: agent)
        gate.open()
        _ = await first.outcome()
        return error
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
