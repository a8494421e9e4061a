import Errand
import ErrandTesting
import Foundation
import Testing

/// What counts as delivered: what the server took, whatever becomes of its answer here.
@Suite(.timeLimit(.minutes(5))) struct OutboxAnswerTests {
    private struct Refusal: Error {}

    /// Adds one request and returns how often it was sent, and what is left.
    private func outcome(
        of answer: ScriptedAnswer, _ configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> (sent: Int, left: [OutboxEntry]) {
        let world = World(configure)
        world.transport.on(nil, nil, answer)
        let store = MemoryOutboxStore()
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.start()
        try await outbox.add(Plain().describe())
        await outbox.untilDelivered()
        await outbox.stop()
        return (world.transport.requests.count, try await store.entries())
    }

    @Test func anAnswerThatABusinessValidatorDropsIsNotAskedForAgain() async throws {
        let (sent, left) = try await outcome(of: .json("{}")) {
            $0.businessValidators = [BusinessValidator { _ in .drop("superseded") }]
        }
        #expect(sent == 1 && left.isEmpty)
    }

    @Test func anAnswerThatABusinessValidatorRejectsIsSetAside() async throws {
        let (sent, left) = try await outcome(of: .json("{}")) {
            $0.businessValidators = [BusinessValidator { _ in .reject(Refusal()) }]
        }
        #expect(sent == 1)
        #expect(left.map(\.isSetAside) == [true])
        #expect(left.first?.lastFailure?.hasPrefix("rejected") == true)
    }

    @Test func anAnswerThatIsCutOffIsADelivery() async throws {
        let head = ResponseHead(status: .created, headers: [:], httpVersion: .http11)
        let cut = RequestError(.truncatedBody, stage: .transport, "It ended early.")
        let (sent, left) = try await outcome(
            of: ScriptedAnswer(steps: [.head(head), .bytes(Data("{".utf8)), .fail(cut)]))
        #expect(sent == 1 && left.isEmpty)
    }

    @Test func anAnswerThatIsTooLargeToKeepIsADelivery() async throws {
        let (sent, left) = try await outcome(of: .json(#"{"text": "far more than four"}"#)) {
            $0.transport.maximumBytesInMemory = 4
        }
        #expect(sent == 1 && left.isEmpty)
    }

    @Test func anAnswerOfAnUnacceptableTypeIsADelivery() async throws {
        let (sent, left) = try await outcome(
            of: ScriptedAnswer(headers: [.contentType: "text/html"], body: Data("<p>".utf8))
        ) { $0.acceptableContentTypes = .types(["application/json"]) }
        #expect(sent == 1 && left.isEmpty)
    }

    @Test(arguments: [false, true])
    func anAnswerThatAProcessorRefusesIsADelivery(withErrorOfItsOwn: Bool) async throws {
        let (sent, left) = try await outcome(of: .json("{}")) {
            $0.responseProcessors = [
                ClosureProcessor { _, _ in
                    if withErrorOfItsOwn { throw RequestError(.undecodable, stage: .process, "") }
                    throw Refusal()
                }
            ]
        }
        #expect(sent == 1 && left.isEmpty)
    }

    @Test(arguments: [false, true])
    func whoeverWaitsIsToldWhenTheLastEntryIsRemoved(storeFails: Bool) async throws {
        let world = World()
        world.transport.on(
            nil, nil, .failure(RequestError(.cannotConnect, stage: .transport, "Nobody listens.")))
        let outbox = Outbox(agent: world.agent, store: Forgetless(fails: storeFails))
        try await outbox.start()
        let id = try await outbox.add(Plain().describe())
        try await world.clock.untilSleeping()
        // Begins to wait before the removal: a task's first part runs at once.
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

    /// A store that may be unable to remove.
    private struct Forgetless: OutboxStore {
        let fails: Bool
        private let entriesInMemory = MemoryOutboxStore()

        init(fails: Bool) { self.fails = fails }

        func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry {
            try await entriesInMemory.append(entry)
        }
        func update(_ entry: OutboxEntry) async throws(RequestError) {
            try await entriesInMemory.update(entry)
        }
        func remove(_ id: UUID) async throws(RequestError) {
            if fails { throw RequestError(.storeFailed, stage: .cache, "The disk is gone.") }
            try await entriesInMemory.remove(id)
        }
        func entries() async throws(RequestError) -> [OutboxEntry] {
            try await entriesInMemory.entries()
        }
    }

    private final class Plain: BaseRequest {
        override var url: String { "notes" }
        override var method: HTTPMethod { .post }
    }
}
