import Dispatch
import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// What is told of a transfer is never told on the thread that serves all of them: code that waits there for another
/// request would wait for ever.
@Suite(.timeLimit(.minutes(2))) struct ListenersApartTests {
    @Test(arguments: ["curl", "URLSession"])
    func aListenerMayWaitForAnotherRequest(name: String) async throws {
        let other = try await Other(name)
        let listener = FilteredListener(tags: [1]) { other.finishOnce($0) }
        let agent = other.agent(listeners: [listener])
        let response = try await agent.start(Other.description("/slow", tag: 1)).outcome().result
            .get()
        #expect(response.string == "first last")
        #expect(await other.outcome() == "whole")
    }

    @Test(arguments: ["curl", "URLSession"])
    func aProgressHandlerMayWaitForAnotherRequest(name: String) async throws {
        let other = try await Other(name)
        var description = Other.description("/slow", tag: 1)
        description.progressHandler = { progress in
            if progress.totalBytesToReceive == 10 { other.finishOnce() }
        }
        let agent = other.agent(listeners: [])
        #expect(try await agent.start(description).outcome().result.get().string == "first last")
        #expect(await other.outcome() == "whole")
    }
}

/// Another request over the same transport, for which a thread waits.
private final class Other: Sendable {
    private let server = LoopbackServer()
    private let transport: any Transport
    /// The server holds the first answer back until the other one has come: meanwhile nobody but the transport's
    /// thread, and the one that listens, has anything to do with it.
    private let gate = Gate()
    private let isBegun = Mutex(false)
    private let ended = AsyncStream.makeStream(of: String.self)

    init(_ name: String) async throws {
        transport = name == "curl" ? CurlTransport() : URLSessionTransport()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n"
        server.route(
            "/slow",
            answers: LoopbackAnswer(steps: [
                .bytes(Data((head + "first ").utf8)), .hold(gate), .bytes(Data("last".utf8)),
            ]))
        server.route(
            "/quick",
            answers: LoopbackAnswer(headers: ["Content-Type": "text/plain"], body: "whole"))
        try await server.start()
    }

    static func description(_ url: String, tag: Int) -> RequestDescription {
        var description = RequestDescription(endpoint: "Text", url: url)
        description.responseSerializer = .string
        description.tag = tag
        return description
    }

    func agent(listeners: [any RequestEventListener]) -> RequestAgent {
        var configuration = Configuration(baseURL: server.url())
        configuration.eventListeners = listeners
        return RequestAgent(configuration: configuration, transport: transport, store: nil)
    }

    func finishOnce(_ event: RequestEvent) {
        if case .headReceived = event.kind { finishOnce() }
    }

    /// Blocks the calling thread until the other request has ended.
    func finishOnce() {
        let isFirst = isBegun.withLock { isBegun in
            defer { isBegun = true }
            return !isBegun
        }
        guard isFirst else { return }
        let agent = agent(listeners: [])
        let done = DispatchSemaphore(value: 0)
        agent.start(Self.description("/quick", tag: 2)).whenEnded { [ended] outcome in
            let text = (try? outcome.result.get())?.string ?? "failed"
            ended.continuation.yield(text)
            done.signal()
        }
        // A thread that waits for itself stays here, and the test runs into its time limit.
        done.wait()
        gate.open()
    }

    /// What the other request came to; the first one's answer may be there before its listener has returned.
    func outcome() async -> String {
        await ended.stream.first { _ in true } ?? "none"
    }
}
