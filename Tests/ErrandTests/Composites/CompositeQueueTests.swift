import Dispatch
import Errand
import ErrandTesting
import TestSupport
import Testing

/// Batches and chains that synchronous code gives up to a queue.
@Suite(.limited) struct CompositeQueueTests {
    private let fixture = CompositeFixture()

    @Test func typedBatchDeliversItsValues() async throws {
        let users = await BatchRequest.Typed.outputOnQueue(
            BatchRequest.Typed([GetUser(id: 1), GetUser(id: 2)]), on: fixture.agent)
        #expect(try users.get().map(\.nick) == ["1", "2"])
        let failed = await BatchRequest.Typed.outputOnQueue(
            BatchRequest.Typed([fixture.user(0)]))
        #expect(failed.failure?.code == .unacceptableStatus)
    }

    @Test func typedBatchThatSucceedsWithoutAnOutputFailsWithTheErrorOfItsMember() async throws {
        let users = await BatchRequest.Typed.outputOnQueue(
            BatchRequest.Typed([fixture.user(1), fixture.user(0)], policy: .collectAll))
        #expect(users.failure?.code == .unacceptableStatus)
        let results = await BatchRequest.Typed.endedOnQueue(
            BatchRequest.Typed([fixture.user(1), fixture.user(0)], policy: .collectAll))
        #expect(try results.get().map { $0.failure?.code } == [nil, .unacceptableStatus])
    }

    @Test func typedChainDeliversItsValue() async throws {
        let user = await ChainRequest.Typed.outputOnQueue(
            ChainRequest.Typed { $0.add(GetUser(id: 2)) }, on: fixture.agent)
        #expect(try user.get().nick == "2")
        // The chain has no agent for the shared configuration without a base URL.
        let failed = await ChainRequest.Typed.outputOnQueue(
            ChainRequest.Typed { $0.add(GetUser(id: 0)) })
        #expect(failed.failure != nil)
    }

    @Test func batchThatIsGivenUpIsReadFromItsSequence() async throws {
        let batch = BatchRequest([Plain("a"), Plain("b")])
        let members = batch.members
        BatchRequest.start(batch, on: fixture.agent, queue: .global()) { _ in
        } failure: { _, _ in
        }
        var indices: [Int] = []
        for await member in members where member.error == nil { indices.append(member.index) }
        #expect(indices.sorted() == [0, 1])
    }

    @Test func errorOfAChainThatIsGivenUpHasTheResponsesBeforeIt() async throws {
        let chain = ChainRequest()
        chain.add(Plain("a")) { chain, _ in
            chain.abort(RequestError(.rejected, stage: .process, "no"))
        }
        chain.add(Plain("b"))
        let error = await ChainRequest.endedOnQueue(chain, on: fixture.agent).failure
        #expect(error?.code == .rejected)
        #expect(error?.precedingResponses.map { $0.json["path"].string } == ["/a"])
    }

    /// Records the order of the ends, each of which must be on the queue.
    private final class Order: RequestDelegate, RequestAccessory {
        let queue: DispatchQueue
        var lines: [String] = []

        init(_ queue: DispatchQueue) { self.queue = queue }

        private func add(_ line: String) {
            dispatchPrecondition(condition: .onQueue(queue))
            lines.append(line)
        }

        func requestDidFinish(_ request: BaseRequest) { add("\(request.url) finished") }
        func requestDidStop(_ request: BaseRequest) { add("\(request.url) stopped") }
        func compositeDidFinish(_ composite: CompositeRequest) { add("batch finished") }
        func compositeWillStop(_ composite: CompositeRequest) { add("batch will stop") }
        func compositeDidStop(_ composite: CompositeRequest) { add("batch stopped") }
    }

    /// The end of a batch with its lines, from a function that gives everything up.
    private func orderOfEnds(_ queue: DispatchQueue) async -> [String] {
        await withCheckedContinuation { continuation in
            let order = Order(queue)
            let (member, nested) = (fixture.plain("a"), fixture.plain("b"))
            let inner = BatchRequest([nested])
            for unit in [member, nested, inner] as [RequestUnit] {
                unit.delegate = order
                unit.accessories = [order]
            }
            let batch = BatchRequest([member, inner], maxConcurrent: 1)
            BatchRequest.start(batch, queue: queue) { batch in
                dispatchPrecondition(condition: .onQueue(queue))
                let order = batch.requests.first?.accessories.first as? Order
                continuation.resume(returning: order?.lines ?? [])
            } failure: { _, _ in
                continuation.resume(returning: [])
            }
        }
    }

    @Test(arguments: [true, false]) func everythingAtTheEndIsOnTheQueue(isSerial: Bool) async {
        let queue = DispatchQueue(label: "ends", attributes: isSerial ? [] : .concurrent)
        #expect(
            await orderOfEnds(queue) == [
                "a finished", "a stopped", "b finished", "b stopped", "batch will stop",
                "batch finished", "batch stopped",
            ])
    }
}
