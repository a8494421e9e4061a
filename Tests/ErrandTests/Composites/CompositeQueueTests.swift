import Dispatch
import Errand
import ErrandTesting
import TestSupport
import Testing

/// Batches and chains that synchronous code gives up, with their typed results.
@Suite(.limited) struct CompositeQueueTests {
    /// The calls of a closure.
    private struct Calls<Value: Sendable> {
        private let stream: AsyncStream<Value>
        let continuation: AsyncStream<Value>.Continuation

        init(of type: Value.Type = Value.self) { (stream, continuation) = AsyncStream.makeStream() }

        /// The value of the first call; more calls are found by the tests of the ends.
        var first: Value {
            get async throws { try #require(await stream.first { _ in true }) }
        }
    }

    private typealias Values = Result<[User], RequestError>
    private typealias Results = Result<[Result<User, RequestError>], RequestError>

    private let fixture = CompositeFixture()

    @Test func typedBatchDeliversItsValues() async throws {
        let calls = Calls(of: Values.self)
        let continuation = calls.continuation
        fixture.agent.start(
            BatchRequest.Typed([GetUser(id: 1), GetUser(id: 2)]), on: .global()
        ) { continuation.yield($0) }
        #expect(try await calls.first.get().map(\.nick) == ["1", "2"])
        let others = Calls(of: Values.self)
        let next = others.continuation
        BatchRequest.Typed.start(
            BatchRequest.Typed([fixture.user(0)]), on: .global()
        ) { next.yield($0) }
        #expect(try await others.first.failure?.code == .unacceptableStatus)
    }

    @Test func typedBatchDeliversItsResults() async throws {
        let calls = Calls(of: Results.self)
        let continuation = calls.continuation
        fixture.agent.start(
            BatchRequest.Typed([GetUser(id: 1), GetUser(id: 0)], policy: .collectAll),
            on: .global(), results: { continuation.yield($0) })
        #expect(try await calls.first.get().map { (try? $0.get())?.nick } == ["1", nil])
        let others = Calls(of: Results.self)
        let next = others.continuation
        BatchRequest.Typed.start(
            BatchRequest.Typed([fixture.user(0)], policy: .collectAll), on: .global(),
            results: { next.yield($0) })
        #expect(try await others.first.get().map { $0.failure?.code } == [.unacceptableStatus])
    }

    @Test func typedChainDeliversItsValue() async throws {
        let calls = Calls(of: Result<User, RequestError>.self)
        let continuation = calls.continuation
        fixture.agent.start(ChainRequest.Typed { $0.add(GetUser(id: 2)) }, on: .global()) {
            continuation.yield($0)
        }
        #expect(try await calls.first.get().nick == "2")
        let others = Calls(of: Result<User, RequestError>.self)
        let next = others.continuation
        ChainRequest.Typed.start(ChainRequest.Typed { $0.add(GetUser(id: 0)) }, on: .global()) {
            next.yield($0)
        }
        // The chain has no agent for the shared configuration without a base URL.
        #expect(try await others.first.failure != nil)
    }

    @Test func batchThatIsGivenUpIsReadFromItsSequence() async throws {
        let batch = BatchRequest([Plain("a"), Plain("b")])
        let members = batch.members
        fixture.agent.start(batch, on: .global()) { _ in }
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
        let calls = Calls(of: Result<[Response], RequestError>.self)
        let continuation = calls.continuation
        fixture.agent.start(chain, on: .global()) { continuation.yield($0) }
        let error = try await calls.first.failure
        #expect(error?.code == .rejected)
        #expect(error?.precedingResponses.map { $0.json["path"].string } == ["/a"])
    }

    private final class Opening: RequestDelegate, Sendable {
        let gate: Gate
        init(_ gate: Gate) { self.gate = gate }
        func compositeFinished(_ composite: any CompositeRequest) { gate.open() }
    }

    @Test func delegateIsCalledBeforeTheClosure() async throws {
        let gate = Gate()
        let delegate = Opening(gate)
        let batch = BatchRequest([Plain("a")])
        batch.delegate = delegate
        let calls = Calls(of: Bool.self)
        let continuation = calls.continuation
        fixture.agent.start(batch, on: .global()) { _ in continuation.yield(gate.isOpen) }
        #expect(try await calls.first)
        withExtendedLifetime(delegate) {}
    }
}
