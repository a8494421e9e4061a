import Errand
import ErrandOutbox
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// An entry counts as delivered when the server has accepted it, even if its response cannot be used.
@Suite(.limited) struct OutboxDeliveryTests {
    private struct Rejection: Error {}

    /// Adds one request; returns how often it was sent and the remaining entries.
    private func outcome(
        of response: ScriptedResponse, _ configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> (sent: Int, remaining: [OutboxEntry]) {
        let fixture = AgentFixture(configure)
        fixture.transport.on(nil, nil, response)
        let store = MemoryOutboxStore()
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.start()
        try await outbox.add(PostNote().makeDescription())
        await outbox.untilDelivered()
        await outbox.stop()
        return (fixture.transport.requests.count, try await store.entries())
    }

    @Test func droppedResponseIsADelivery() async throws {
        let (sent, remaining) = try await outcome(of: .json("{}")) {
            $0.responseRules = [ResponseRule { _ in .drop("superseded") }]
        }
        #expect(sent == 1 && remaining.isEmpty)
    }

    @Test func rejectedResponseParksTheEntry() async throws {
        let (sent, remaining) = try await outcome(of: .json("{}")) {
            $0.responseRules = [ResponseRule { _ in .reject(Rejection()) }]
        }
        #expect(sent == 1)
        #expect(remaining.map(\.isParked) == [true])
        #expect(remaining.first?.lastFailure?.hasPrefix("rejected") == true)
    }

    @Test func truncatedResponseIsADelivery() async throws {
        let head = ResponseHead(status: .created, headers: [:], httpVersion: .http11)
        let cut = RequestError(.truncatedBody, stage: .transport, "It ended early.")
        let (sent, remaining) = try await outcome(
            of: ScriptedResponse(steps: [.head(head), .bytes(Data("{".utf8)), .fail(cut)]))
        #expect(sent == 1 && remaining.isEmpty)
    }

    @Test func responseTooLargeForMemoryIsADelivery() async throws {
        let (sent, remaining) = try await outcome(of: .json(#"{"text": "more than four bytes"}"#)) {
            $0.transportOptions.maximumBytesInMemory = 4
        }
        #expect(sent == 1 && remaining.isEmpty)
    }

    @Test func responseWithUnacceptableTypeIsADelivery() async throws {
        let (sent, remaining) = try await outcome(
            of: ScriptedResponse(headers: [.contentType: "text/html"], body: Data("<p>".utf8))
        ) { $0.acceptableContentTypes = ["application/json"] }
        #expect(sent == 1 && remaining.isEmpty)
    }

    @Test(arguments: [false, true])
    func responseProcessorErrorIsADelivery(withRequestError: Bool) async throws {
        let (sent, remaining) = try await outcome(of: .json("{}")) {
            $0.responseProcessors = [
                { _ in
                    if withRequestError { throw RequestError(.undecodable, stage: .process, "") }
                    throw Rejection()
                }
            ]
        }
        #expect(sent == 1 && remaining.isEmpty)
    }

    @Test(arguments: [false, true])
    func untilDeliveredReturnsWhenTheLastEntryIsRemoved(storeFails: Bool) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            nil, nil, .failure(RequestError(.cannotConnect, stage: .transport, "refused")))
        let outbox = Outbox(agent: fixture.agent, store: OutboxTestStore(failsRemovals: storeFails))
        try await outbox.start()
        let id = try await outbox.add(PostNote().makeDescription())
        try await fixture.clock.untilSleeping()
        // An immediate task runs up to its first suspension, so it waits before the removal.
        let waiting = Task.immediate { await outbox.untilDelivered() }
        let failed: Bool
        do {
            try await outbox.remove(id)
            failed = false
        } catch {
            failed = true
        }
        _ = await waiting.value
        #expect(failed == storeFails && outbox.entries.isEmpty)
        await outbox.stop()
    }

    private final class PostNote: BaseRequest {
        override var url: EndpointURL { "notes" }
        override var method: HTTPMethod { .post }
    }
}
