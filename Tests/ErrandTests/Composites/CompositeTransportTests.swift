import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Batches and chains over both transports and the store.
@Suite(.limited) @MainActor struct CompositeTransportTests {
    private final class Stored: BaseRequest {
        private let path: String
        init(_ path: String) { self.path = path }
        override var url: EndpointURL { EndpointURL(raw: path) }
        override var cacheSeconds: Int { 60 }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.cache.writesAsynchronously = false
        }
    }

    private func route(_ path: String, on server: LoopbackServer) {
        server.route("/\(path)") { request in
            LoopbackResponse(
                status: request.path.hasPrefix("/failure") ? 404 : 200,
                headers: ["Content-Type": "application/json"], body: #"{"path":"\#(request.path)"}"#
            )
        }
    }

    private func agent(
        _ kind: TransportKind, _ server: LoopbackServer, store: MemoryResponseStore? = nil
    ) -> RequestAgent {
        RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: kind.makeTransport(),
            store: store)
    }

    @Test(arguments: TransportKind.allCases)
    func randomNestingHasTheOutcomeOfItsDefinition(kind: TransportKind) async throws {
        let server = LoopbackServer()
        try await server.start()
        for seed in 0..<15 {
            var generator = CompositeTree.Generator(
                seed: UInt64(seed) &* 911 &+ 5, hasSilence: false)
            let tree = generator.composite(depth: 5)
            for request in tree.requests {
                route(CompositeTree.path(request.number, request.outcome), on: server)
            }
            let event = seed % 3 == 0 ? Int.random(in: 1...20, using: &generator.random) : nil
            let agent = agent(kind, server)
            let before = server.requests.count
            let form = CompositeTreeRun.Form.allCases[event == nil ? seed % 3 : seed % 2]
            let run = CompositeTreeRun(
                tree: tree, form: form, stop: event.map { (.cancel, $0) })
            // After a cancellation the server may not have received all requests that were sent.
            try await run.check(on: agent, nil, "seed \(seed), \(kind), \(form): \(tree)") {
                event == nil ? server.requests.dropFirst(before).map(\.path) : nil
            }
            await agent.shutdown()
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func secondRunOfACompositeIsServedFromTheStore(kind: TransportKind) async throws {
        let server = LoopbackServer()
        for path in ["a", "b", "c", "d"] { route(path, on: server) }
        try await server.start()
        let agent = agent(kind, server, store: MemoryResponseStore())
        let batch = BatchRequest([Stored("b"), Stored("c")])
        let chain = ChainRequest {
            Stored("a")
            batch
            ChainRequest.Step { batch.isFromCache ? nil : Stored("d") }
        }
        #expect(try await chain.send(on: agent).count == 4 && !batch.isFromCache)
        let before = server.requests.count
        #expect(before == 4)
        // A run whose members end at once has one end, too, and is released.
        #expect(try await chain.send(on: agent).count == 3 && batch.isFromCache)
        weak var released: BatchRequest?
        await withCheckedContinuation { continuation in
            let other = BatchRequest((0..<20).map { _ in Stored("a") })
            released = other
            other.start(on: agent) { batch in
                #expect(batch.isFromCache)
                continuation.resume()
            }
        }
        for _ in 0..<5000 where released != nil { await Task.yield() }
        #expect(server.requests.count == before && released == nil && agent.activeTasks.isEmpty)
        await agent.shutdown()
        await server.stop()
    }
}
