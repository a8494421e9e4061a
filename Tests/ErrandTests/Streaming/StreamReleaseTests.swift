import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// What ends a stream although someone still refers to it, and what does not.
@Suite(.limited) struct StreamReleaseTests {
    /// Keeps every response that it has seen.
    private final class Keeper: Interceptor {
        let responses = Mutex<[Response]>([])

        func intercept(
            _ request: TransportRequest, next: TransportRequest.Next
        ) async throws -> Response {
            let response = try await next(request)
            responses.withLock { $0.append(response) }
            return response
        }
    }

    @Test func keptResponsesDoNotKeepAnUnreadStream() async throws {
        let keeper = Keeper()
        let fixture = AgentFixture { $0.interceptors = [keeper] }
        fixture.transport.on(
            .get, "/x", .chunks([Data("a".utf8)], then: [.hold(Gate())]))
        var stream: ResponseStream? = try await InlineRequest("x").stream(on: fixture.agent)
        let task = try #require(stream?.task)
        stream = nil
        await task.untilEnded()
        try await fixture.transport.untilIdle()
        #expect(keeper.responses.withLock { $0.map(\.isStreamed) } == [true])
    }

    @Test func cancellationIsNoticedBetweenTheElementsOfAChunk() async throws {
        let fixture = AgentFixture()
        let lines = Data(String(repeating: "line\n", count: 1000).utf8)
        let stream = try await fixture.stream([lines])
        let reading = Task {
            var count = 0
            do throws(RequestError) {
                for try await _ in stream.lines {
                    count += 1
                    if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
                }
                return (count, nil as RequestError?)
            } catch {
                return (count, error)
            }
        }
        let (count, error) = await reading.value
        #expect(count == 3)
        #expect(error?.code == .cancelled && error?.endpoint == "InlineRequest")
    }

    @Test func unusedIteratorOfACancelledTaskLeavesTheReaderItsBytes() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(
            .get, "/x",
            .chunks([Data("a\n".utf8)], then: [.hold(gate), .bytes(Data("b\n".utf8))]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        var lines = stream.lines.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let other = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var bytes = stream.rawLines.makeAsyncIterator()
            return await #expect(throws: RequestError.self) { _ = try await bytes.next() }
        }
        #expect(await other.value?.code == .invalidCombination)
        gate.open()
        #expect(try await lines.next() == "b")
        #expect(try await lines.next() == nil)
    }

    @Test func reconnectionsDoNotReadTheStore() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), .events("data: b\n\n"), .noContent)
        let stream = try await InlineRequest("x") { $0.cacheSeconds = 3600 }.stream(
            on: fixture.agent)
        let reading = Task { await read(stream.serverSentEvents) }
        try await fixture.sleep(exactly: .seconds(3))
        try await fixture.sleep(exactly: .seconds(3))
        let events = await reading.value
        #expect(events.values.map(\.data) == ["a", "b"] && events.error == nil)
        #expect(fixture.transport.requestCount == 3)
    }
}
