import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Attempts that fail at each phase, over real sockets, with both transports; then one that succeeds.
@Suite(.timeLimit(.minutes(2))) struct RetryPhaseTests {
    /// Where the first attempt fails.
    enum Phase: CaseIterable {
        case refused, closedBeforeHead, resetBeforeHead, closedInHead, resetInHead, cutInBody,
            resetInBody, cutInChunks, unavailable

        /// The answer to the first attempt; `nil` where it never comes to the server.
        func fault(of good: LoopbackAnswer) -> LoopbackAnswer? {
            switch self {
            case .refused: nil
            case .closedBeforeHead: .dropped
            case .resetBeforeHead: .reset
            case .closedInHead: good.cut(afterBytes: 20)
            case .resetInHead: good.reset(afterBytes: 20)
            case .cutInBody: good.cut(afterBodyBytes: 5)
            case .resetInBody:
                .init(steps: good.steps.dropLast() + [.body(Data("ab".utf8)), .reset])
            case .cutInChunks: .truncatedChunked([Data("ab".utf8)])
            case .unavailable: LoopbackAnswer(status: 503)
            }
        }

        /// What the first attempt may come to.
        var codes: Set<RequestError.Code> {
            switch self {
            case .refused: [.cannotConnect]
            case .unavailable: [.unacceptableStatus]
            case .cutInBody, .resetInBody, .cutInChunks: [.truncatedBody, .connectionLost]
            case .closedBeforeHead, .resetBeforeHead, .closedInHead, .resetInHead:
                [.connectionLost, .badServerResponse]
            }
        }
    }

    enum Carrier: CaseIterable {
        case curl, urlSession

        func make() -> any Transport {
            switch self {
            case .curl: CurlTransport()
            case .urlSession: URLSessionTransport()
            }
        }
    }

    /// Every carrier with every phase but one: on a head that ends too early Foundation's own loader on Linux ends the
    /// process ("Transfer completed, but there's no response").
    static let cases: [(Carrier, Phase)] = Carrier.allCases.flatMap { carrier in
        Phase.allCases.filter { carrier == .curl || $0 != .closedInHead }.map { (carrier, $0) }
    }

    private let body = "0123456789"
    private var good: LoopbackAnswer {
        LoopbackAnswer(headers: ["Content-Type": "text/plain"], body: body)
    }

    @Test(arguments: cases)
    func whatIsIdempotentIsSentAgain(carrier: Carrier, phase: Phase) async throws {
        let (response, heard, events) = try await run(.get, phase, carrier)
        #expect(try response.get().string == body)
        #expect(try response.get().attempts == 2)
        #expect(heard == (phase == .refused ? 1 : 2))
        #expect(events.count { $0.hasPrefix("attemptStarted") } == 2)
        #expect(events.count { $0.hasPrefix("retrying") } == 1)
        #expect(events.last == "ended")
    }

    @Test(arguments: cases)
    func whatIsNotIdempotentIsNot(carrier: Carrier, phase: Phase) async throws {
        let (response, heard, events) = try await run(.post, phase, carrier)
        let error = #expect(throws: RequestError.self) { try response.get() }
        #expect(error.map { phase.codes.contains($0.code) } == true, "\(String(describing: error))")
        #expect(error?.attempts == 1)
        #expect(heard == (phase == .refused ? 0 : 1))
        #expect(events.contains("retryDeclined") && !events.contains("retrying"))
    }

    private func run(
        _ method: HTTPMethod, _ phase: Phase, _ carrier: Carrier
    ) async throws -> (Result<Response, RequestError>, heard: Int, events: [String]) {
        let server = LoopbackServer()
        let heard = Heard()
        let good = good
        let fault = phase.fault(of: good)
        server.route("/x") { _ in
            heard.next() == 1 ? fault ?? good : good
        }
        try await server.start()
        let dead = try DeadPort.Refusing()
        let recorder = EventRecorder()
        var configuration = Configuration(baseURL: server.url())
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(1))
        configuration.eventListeners = [recorder]
        if phase == .refused { configuration.requestProcessors = [Misled(port: dead.port)] }
        let agent = RequestAgent(
            configuration: configuration, transport: carrier.make(), store: nil)
        var description = RequestDescription(endpoint: "Phase", url: "x")
        description.method = method
        description.responseSerializer = .string
        let outcome = await agent.start(description).outcome()
        await agent.shutdown()
        await server.stop()
        withExtendedLifetime(dead) {}
        return (outcome.result, heard.count, recorder.names)
    }

    private final class Heard: Sendable {
        private let requests = Mutex(0)
        var count: Int { requests.withLock { $0 } }

        func next() -> Int {
            requests.withLock { requests in
                requests += 1
                return requests
            }
        }
    }

    /// Sends the first attempt to where nobody listens.
    private struct Misled: RequestProcessor {
        let port: Int

        func process(
            _ request: inout TransportRequest, of description: RequestDescription
        ) async throws {}

        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            if attempt == 1 { request.url.port = port }
        }
    }
}
