import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Interceptors around streamed requests.
@Suite(.limited) struct StreamInterceptorTests {
    private let never = Gate()

    @Test func aResponseOfAnInterceptorIsStreamed() async throws {
        let fixture = AgentFixture.intercepting { request, _ in
            Response(status: .ok, body: .data(Data("own\nlines".utf8)), url: request.url)
        }
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(stream.response.isStreamed && stream.response.data.isEmpty)
        var lines: [String] = []
        for try await line in stream.lines { lines.append(line) }
        #expect(lines == ["own", "lines"] && fixture.transport.requestCount == 0)
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func anInterceptorSeesTheHead() async throws {
        let seen = Mutex<[String]>([])
        let fixture = AgentFixture.intercepting { request, next in
            let response = try await next(request)
            seen.withLock { $0.append("\(response.status.code) \(response.isStreamed)") }
            var changed = response
            changed.headers[.via] = "interceptor"
            return changed
        }
        let stream = try await fixture.feed(.text("body"))
        #expect(stream.response.headers[.via] == "interceptor")
        #expect(await stream.readToEnd().text == "body")
        #expect(seen.withLock { $0 } == ["200 true"])
    }

    /// The first stream holds the only permit, and the interceptor keeps its response.
    @Test func aSecondCallOfNextCancelsTheFirstStream() async throws {
        let kept = Mutex<[Response]>([])
        let fixture = AgentFixture.intercepting {
            $0.limits.total = 1
        } _: { request, next in
            let first = try await next(request)
            kept.withLock { $0.append(first) }
            return try await next(request)
        }
        fixture.transport.on(
            .get, "/feed", .stream(.text("first"), .hold(never)),
            .stream(.text("second"), .text(".")))
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(await stream.readToEnd().text == "second.")
        #expect(fixture.transport.requestCount == 2)
        #expect(stream.task.progress.current.bytesReceived == 7)
        try await fixture.expectOneEnd(stream.task, nil)
        #expect(kept.withLock { $0.count } == 1)
    }

    @Test func aStreamThatAnInterceptorReplacesIsCancelled() async throws {
        let kept = Mutex<[Response]>([])
        let fixture = AgentFixture.intercepting { request, next in
            let first = try await next(request)
            kept.withLock { $0.append(first) }
            return Response(status: .ok, body: .data(Data("own".utf8)), url: request.url)
        }
        let stream = try await fixture.feed(.text("first"), .hold(never))
        try await fixture.transport.untilIdle()
        #expect(await stream.readToEnd().text == "own")
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func aStreamIsCancelledIfItsInterceptorFails() async throws {
        struct Refused: Error {}
        let kept = Mutex<[Response]>([])
        let fixture = AgentFixture.intercepting { request, next in
            let response = try await next(request)
            kept.withLock { $0.append(response) }
            throw Refused()
        }
        fixture.transport.on(.get, "/feed", .stream(.text("first"), .hold(never)))
        #expect(await fixture.refusal(Feed())?.code == .processingFailed)
        try await fixture.transport.untilIdle()
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    /// The end of the first transfer does not detach the second one from the task.
    @Test func theSecondStreamCanBeSuspended() async throws {
        let kept = Mutex<[Response]>([])
        let gate = Gate()
        let fixture = AgentFixture.intercepting { request, next in
            let first = try await next(request)
            kept.withLock { $0.append(first) }
            return try await next(request)
        }
        fixture.transport.on(
            .get, "/feed", .stream(.text("first"), .hold(never)),
            .stream(.hold(gate), .text("sec"), .text("ond")))
        let stream = try await Feed().stream(on: fixture.agent)
        // Only the second transfer is left.
        while fixture.transport.inFlight > 1 { await Task.yield() }
        try await gate.reached()
        stream.task.suspend()
        gate.open()
        var iterator = stream.bytes.makeAsyncIterator()
        #expect(try await iterator.next() == Data("sec".utf8))
        stream.task.resume()
        #expect(try await iterator.next() == Data("ond".utf8))
        #expect(try await iterator.next() == nil)
        try await fixture.expectOneEnd(stream.task, nil)
    }
}
