import Dispatch
import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Listeners and progress handlers never run on the thread that serves all transfers: if they did, a listener that
/// waits for another request would deadlock.
@Suite(.limited) struct ListenerThreadTests {
    @Test(arguments: TransportKind.allCases)
    func listenerCanWaitForAnotherRequest(kind: TransportKind) async throws {
        let second = try await SecondRequest(kind)
        let listener = FilteredListener(tags: [1]) { second.runOnce($0) }
        let agent = second.agent(listeners: [listener])
        let task = agent.start(SecondRequest.description("/slow", tag: 1))
        let response = try await task.outcome().result.get()
        #expect(response.string == "first last")
        #expect(await second.outcome() == "whole")
        await second.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func progressHandlerCanWaitForAnotherRequest(kind: TransportKind) async throws {
        let second = try await SecondRequest(kind)
        let agent = second.agent(listeners: [])
        let task = agent.start(SecondRequest.description("/slow", tag: 1))
        task.onProgress { progress in
            if progress.totalBytesToReceive == 10 { second.runOnce() }
        }
        #expect(try await task.outcome().result.get().string == "first last")
        #expect(await second.outcome() == "whole")
        await second.stop()
    }
}

/// A second request over the same transport; a listener blocks its thread until it has ended.
private final class SecondRequest: Sendable {
    private let server = LoopbackServer()
    private let transport: any Transport
    /// Holds the first response at the server until the second request has ended.
    ///
    /// Meanwhile only the transport's thread and the listener's thread are involved.
    private let gate = Gate()
    private let isStarted = Mutex(false)
    private let ended = AsyncStream.makeStream(of: String.self)

    init(_ kind: TransportKind) async throws {
        transport = kind.makeTransport()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n"
        server.route(
            "/slow",
            responses: LoopbackResponse(steps: [
                .bytes(Data((head + "first ").utf8)), .hold(gate), .bytes(Data("last".utf8)),
            ]))
        server.route(
            "/quick",
            responses: LoopbackResponse(headers: ["Content-Type": "text/plain"], body: "whole"))
        try await server.start()
    }

    /// Stops the server, whose threads would otherwise keep its responses until the process ends.
    func stop() async { await server.stop() }

    static func description(_ url: String, tag: Int) -> RequestDescription {
        var description = RequestDescription(endpoint: "Text", url: EndpointURL(raw: url))
        description.acceptance.format = .text
        description.tag = tag
        return description
    }

    func agent(listeners: [any RequestEventListener]) -> RequestAgent {
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = listeners
        return RequestAgent(configuration: configuration, transport: transport, store: nil)
    }

    func runOnce(_ event: RequestEvent) {
        if case .headReceived = event.kind { runOnce() }
    }

    /// On the first call, sends the second request and blocks the calling thread until it has ended.
    func runOnce() {
        let isFirst = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        guard isFirst else { return }
        let agent = agent(listeners: [])
        let done = DispatchSemaphore(value: 0)
        agent.start(Self.description("/quick", tag: 2)).whenEnded { [ended] outcome in
            let text = (try? outcome.result.get())?.string ?? "failed"
            ended.continuation.yield(text)
            done.signal()
        }
        // If this is the transport's own thread, it deadlocks here and the test exceeds its time limit.
        done.wait()
        gate.open()
    }

    /// The result of the second request.
    ///
    /// The first response may arrive before its listener has returned.
    func outcome() async -> String {
        await ended.stream.first { _ in true } ?? "none"
    }
}
