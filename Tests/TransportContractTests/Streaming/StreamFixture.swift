import ErrandCore
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A loopback server and an agent that opens streams from it.
final class StreamFixture: Sendable {
    let server: LoopbackServer
    let kind: TransportKind
    let agent: RequestAgent

    /// A stream between its head and its end.
    struct Opened: Sendable {
        let task: RequestTask
        let response: Response
        let body: StreamedBody

        /// Reads the next chunk.
        func next() async throws -> Data? { try await body.channel.next() }

        /// Reads chunks until they have at least `count` bytes, or the body ends.
        func read(_ count: Int) async throws -> Data {
            var bytes = Data()
            while bytes.count < count, let chunk = try await next() { bytes += chunk }
            return bytes
        }
    }

    private init(
        _ kind: TransportKind, _ server: LoopbackServer, _ change: (inout Configuration) -> Void
    ) {
        self.kind = kind
        self.server = server
        var configuration = Configuration()
        change(&configuration)
        agent = RequestAgent(
            configuration: configuration, transport: kind.makeStreamTransport(), store: nil)
    }

    /// Runs a test with a new fixture, shuts down the agent, and checks that every connection is closed.
    static func with(
        _ kind: TransportKind, _ change: (inout Configuration) -> Void = { _ in },
        _ body: (StreamFixture) async throws -> Void
    ) async throws {
        let server = LoopbackServer()
        try await server.start()
        do {
            try await runTest(StreamFixture(kind, server, change), body)
            try await server.until { $0.open == 0 }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private static func runTest(
        _ fixture: StreamFixture, _ body: (StreamFixture) async throws -> Void
    ) async throws {
        do {
            try await body(fixture)
        } catch {
            fixture.agent.transport.shutDown()
            throw error
        }
        await fixture.agent.shutdown()
    }

    /// A description of a streamed request.
    func description(
        _ path: String, _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> RequestDescription {
        var description = RequestDescription(
            endpoint: "Stream", url: EndpointURL(raw: server.url(path)))
        description.isStreamed = true
        change(&description)
        return description
    }

    /// Sends a streamed request and returns at the head of its response.
    func open(
        _ path: String = "/", _ change: (inout RequestDescription) -> Void = { _ in }
    ) async throws -> Opened {
        let task = agent.enlist(description(path, change))
        let opened = try await agent.open(task)
        return Opened(task: task, response: opened.response, body: opened.body)
    }

    /// Returns after a time that is longer than an idle timeout: another request, to a silent server, has exceeded it.
    func pass(_ idle: Duration) async throws {
        let silent = LoopbackServer()
        silent.otherwise { _ in .silence(until: Gate()) }
        try await silent.start()
        var request = RequestDescription(endpoint: "Silent", url: silent.baseURL)
        request.timeouts = Timeouts(connect: .seconds(30), idle: idle)
        let result = await agent.start(request).outcome().result
        await silent.stop()
        guard case .failure(let error) = result, error.timeout == .idle else {
            throw Unexpected(result: "\(result)")
        }
    }

    private struct Unexpected: Error {
        let result: String
    }
}

extension TransportKind {
    /// A transport that allows as many connections to one server as there are streams.
    fileprivate func makeStreamTransport() -> any Transport {
        guard self == .urlSession else { return makeTransport() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 2000
        return URLSessionTransport(configuration: configuration)
    }
}
