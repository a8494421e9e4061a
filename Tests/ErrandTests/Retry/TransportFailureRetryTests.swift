import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A first attempt that fails in each phase of a transfer and a second that succeeds, over real sockets.
@Suite(.limited) struct TransportFailureRetryTests {
    /// The phase in which the first attempt fails.
    enum Phase: CaseIterable {
        case refused, closedBeforeHead, resetBeforeHead, closedInHead, resetInHead, cutInBody,
            resetInBody, cutInChunks, unavailable

        /// The response to the first attempt; `nil` when the attempt does not reach the server.
        func fault(of success: LoopbackResponse) -> LoopbackResponse? {
            switch self {
            case .refused: nil
            case .closedBeforeHead: .dropped
            case .resetBeforeHead: .reset
            case .closedInHead: success.cut(afterBytes: 20)
            case .resetInHead: success.reset(afterBytes: 20)
            case .cutInBody: success.cut(afterBodyBytes: 5)
            case .resetInBody:
                .init(steps: success.steps.dropLast() + [.body(Data("ab".utf8)), .reset])
            case .cutInChunks: .truncatedChunked([Data("ab".utf8)])
            case .unavailable: LoopbackResponse(status: 503)
            }
        }

        /// The error codes with which the first attempt may fail.
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

    /// Every transport with every phase except one: on a truncated response head, swift-corelibs-foundation's loader
    /// stops the process ("Transfer completed, but there's no response").
    static let cases: [(TransportKind, Phase)] = TransportKind.allCases.flatMap { kind in
        Phase.allCases.filter { kind == .curl || $0 != .closedInHead }.map { (kind, $0) }
    }

    private let body = "0123456789"
    private var success: LoopbackResponse {
        LoopbackResponse(headers: ["Content-Type": "text/plain"], body: body)
    }

    @Test(arguments: cases)
    func idempotentRequestIsRetried(kind: TransportKind, phase: Phase) async throws {
        let (response, requestCount, events) = try await run(.get, phase, kind)
        #expect(try response.get().string == body)
        #expect(try response.get().attempts == 2)
        #expect(requestCount == (phase == .refused ? 1 : 2))
        #expect(events.count { $0.hasPrefix("attemptStarted") } == 2)
        #expect(events.count { $0.hasPrefix("retrying") } == 1)
        #expect(events.last == "ended")
    }

    @Test(arguments: cases)
    func nonIdempotentRequestIsNotRetried(kind: TransportKind, phase: Phase) async throws {
        let (response, requestCount, events) = try await run(.post, phase, kind)
        let error = #expect(throws: RequestError.self) { try response.get() }
        #expect(error.map { phase.codes.contains($0.code) } == true, "\(String(describing: error))")
        #expect(error?.attempts == 1)
        #expect(requestCount == (phase == .refused ? 0 : 1))
        #expect(events.contains("retryDeclined") && !events.contains("retrying"))
    }

    private func run(
        _ method: HTTPMethod, _ phase: Phase, _ kind: TransportKind
    ) async throws -> (Result<Response, RequestError>, requestCount: Int, events: [String]) {
        let server = LoopbackServer()
        let requestCount = RequestCounter()
        let success = success
        let fault = phase.fault(of: success)
        server.route("/x") { _ in
            requestCount.next() == 1 ? fault ?? success : success
        }
        try await server.start()
        let refusingPort = try DeadPort.Refusing()
        let recorder = EventRecorder()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(1))
        configuration.eventListeners = [recorder]
        if phase == .refused {
            configuration.requestProcessors = [WrongPortProcessor(port: refusingPort.port).process]
        }
        let agent = RequestAgent(
            configuration: configuration, transport: kind.makeTransport(), store: nil)
        var description = RequestDescription(endpoint: "Phase", url: "x")
        description.method = method
        description.acceptance.format = .text
        let outcome = await agent.start(description).outcome()
        await agent.shutdown()
        await server.stop()
        withExtendedLifetime(refusingPort) {}
        return (outcome.result, requestCount.count, recorder.names)
    }

    private final class RequestCounter: Sendable {
        private let requests = Mutex(0)
        var count: Int { requests.withLock { $0 } }

        func next() -> Int {
            requests.withLock { requests in
                requests += 1
                return requests
            }
        }
    }

    /// Sends the first attempt to a port on which no process listens.
    private struct WrongPortProcessor: Sendable {
        let port: Int

        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            if attempt == 1 { request.url.port = port }
        }
    }
}
