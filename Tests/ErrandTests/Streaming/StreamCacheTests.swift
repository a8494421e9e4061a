import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Streamed responses and the response store.
@Suite(.limited) struct StreamCacheTests {
    /// The rules by which a response is stored.
    enum Mode: CaseIterable, Sendable { case time, http }

    private let fixture = AgentFixture { $0.transportOptions.maximumBytesInMemory = 2 << 20 }
    private let gate = Gate()

    private func page(
        _ mode: Mode, isAsynchronous: Bool = true,
        _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> InlineRequest {
        InlineRequest("page") { description in
            switch mode {
            case .time: description.cacheSeconds = 60
            case .http: description.cache.policy = .http
            }
            description.cache.writesAsynchronously = isAsynchronous
            change(&description)
        }
    }

    private static let headers: HTTPFields = [
        .contentType: "text/plain", .cacheControl: "max-age=60", .eTag: "\"1\"",
    ]

    private static func body(_ count: Int) -> Data {
        var random = SeededGenerator(seed: 7)
        var data = Data(capacity: count)
        while data.count < count {
            withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
        }
        return data.prefix(count)
    }

    private static func chunks(of body: Data, size: Int = 50_000) -> [ScriptedResponse.Step] {
        stride(from: 0, to: body.count, by: size).map {
            .bytes(body[$0..<min(body.count, $0 + size)])
        }
    }

    private func names(_ name: String) -> Int { fixture.events.names.count { $0 == name } }

    @Test(arguments: Mode.allCases, [true, false])
    func aStreamThatWasReadToItsEndIsStored(mode: Mode, isAsynchronous: Bool) async throws {
        let body = Self.body(1 << 20)
        fixture.transport.on(.get, "/page", .stream(Self.headers, Self.chunks(of: body)))
        let first = try await page(mode, isAsynchronous: isAsynchronous).stream(on: fixture.agent)
        #expect(first.response.source == .network)
        #expect(await first.readToEnd().bytes == body)
        await fixture.agent.flushCache()
        #expect(names("cacheStored") == 1)
        let second = try await page(mode).stream(on: fixture.agent)
        #expect(second.response.source == .cacheFresh && second.response.isStreamed)
        #expect(second.response.data.isEmpty && second.response.headers[.eTag] == "\"1\"")
        #expect(await second.readToEnd().bytes == body)
        #expect(fixture.transport.requestCount == 1)
        // A request that is not streamed gets the same body.
        let whole = try await page(mode) { $0.acceptance.format = .any }.send(on: fixture.agent)
        #expect(whole.source == .cacheFresh && whole.data == body)
    }

    @Test(arguments: Mode.allCases) func theEntryExistsAtTheEndOfTheLoop(mode: Mode) async throws {
        fixture.transport.on(.get, "/page", .stream(Self.headers, .text("body")))
        _ = await (try await page(mode).stream(on: fixture.agent)).readToEnd()
        // Without `flushCache()`: queued writes are read, too.
        let second = try await page(mode).stream(on: fixture.agent)
        #expect(second.response.source == .cacheFresh)
        #expect(await second.readToEnd().text == "body")
    }

    @Test(arguments: Mode.allCases) func aStoredResponseIsStreamed(mode: Mode) async throws {
        fixture.transport.on(.get, "/page", .stream(Self.headers, .text("one\ntwo")))
        _ = try await page(mode) { $0.acceptance.format = .any }.send(on: fixture.agent)
        let stream = try await page(mode).stream(on: fixture.agent)
        #expect(stream.response.source == .cacheFresh && stream.task.phase == .ended)
        var lines: [String] = []
        for try await line in stream.lines { lines.append(line) }
        #expect(lines == ["one", "two"] && fixture.transport.requestCount == 1)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    /// The way in which a stream does not reach its end.
    enum Early: CaseIterable, Sendable { case left, released, cancelled, interrupted }

    @Test(arguments: Mode.allCases, Early.allCases)
    func aStreamThatEndsEarlyIsNotStored(mode: Mode, early: Early) async throws {
        let last: ScriptedResponse.Step = early == .interrupted ? .interruption : .text("b")
        if early == .interrupted { gate.open() }
        fixture.transport.on(
            .get, "/page", .stream(Self.headers, .text("a"), .hold(gate), last))
        var stream: ResponseStream? = try await page(mode).stream(on: fixture.agent)
        let task = try #require(stream?.task)
        switch early {
        case .left: if let stream { for try await _ in stream.bytes { break } }
        case .released: stream = nil
        case .cancelled: task.cancel()
        case .interrupted: _ = await stream?.readToEnd()
        }
        await task.untilEnded()
        await fixture.agent.flushCache()
        #expect(names("cacheStored") == 0 && names("cacheWriteFailed") == 0)
        gate.open()
        _ = try? await page(mode).stream(on: fixture.agent)
        #expect(fixture.transport.requestCount == 2)
        withExtendedLifetime(stream) {}
    }

    @Test(arguments: Mode.allCases) func aLargeStreamIsNotStored(mode: Mode) async throws {
        let body = Self.body((2 << 20) + 1)
        fixture.transport.on(.get, "/page", .stream(Self.headers, Self.chunks(of: body)))
        let stream = try await page(mode).stream(on: fixture.agent)
        #expect(await stream.readToEnd().bytes == body)
        await fixture.agent.flushCache()
        #expect(names("cacheStored") == 0 && names("cacheWriteFailed") == 1)
        _ = try await page(mode).stream(on: fixture.agent)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func a304StreamsTheStoredBody() async throws {
        fixture.transport.on(
            .get, "/page", .stream(Self.headers, .text("body")),
            ScriptedResponse(status: .notModified, headers: Self.headers))
        _ = await (try await page(.http).stream(on: fixture.agent)).readToEnd()
        await fixture.agent.flushCache()
        fixture.clock.advance(by: .seconds(61))
        let second = try await page(.http).stream(on: fixture.agent)
        #expect(second.response.source == .revalidated && second.response.status == .ok)
        #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        #expect(await second.readToEnd().text == "body")
        #expect(fixture.transport.requestCount == 2 && fixture.agent.activeTasks.isEmpty)
    }

    @Test func anotherResponseReplacesTheStoredOne() async throws {
        fixture.transport.on(
            .get, "/page", .stream(Self.headers, .text("old")), .stream(Self.headers, .text("new")))
        _ = await (try await page(.http).stream(on: fixture.agent)).readToEnd()
        fixture.clock.advance(by: .seconds(61))
        let second = try await page(.http).stream(on: fixture.agent)
        #expect(await second.readToEnd().text == "new")
        let third = try await page(.http).stream(on: fixture.agent)
        #expect(third.response.source == .cacheFresh)
        #expect(await third.readToEnd().text == "new")
    }

    /// The background request has no reader: its body is collected.
    @Test func aStaleStreamIsRevalidatedInTheBackground() async throws {
        let headers: HTTPFields = [
            .contentType: "text/plain", .cacheControl: "max-age=10, stale-while-revalidate=60",
        ]
        fixture.transport.on(
            .get, "/page", .stream(headers, .text("old")), .stream(headers, .text("n"), .text("ew"))
        )
        _ = await (try await page(.http).stream(on: fixture.agent)).readToEnd()
        fixture.clock.advance(by: .seconds(11))
        let stale = try await page(.http).stream(on: fixture.agent)
        #expect(stale.response.source == .cacheStale)
        #expect(await stale.readToEnd().text == "old")
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        await fixture.agent.flushCache()
        let third = try await page(.http).stream(on: fixture.agent)
        #expect(third.response.source == .cacheFresh)
        #expect(await third.readToEnd().text == "new")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aFailureIsReplacedByTheStoredResponse() async throws {
        fixture.transport.on(
            .get, "/page", .stream(Self.headers, .text("body")),
            .failure(RequestError(.offline, stage: .transport, "")))
        _ = await (try await page(.time).stream(on: fixture.agent)).readToEnd()
        let second = try await page(.time) { $0.cache.policy = .loadElseCache }.stream(
            on: fixture.agent)
        #expect(second.response.source == .cacheStale)
        #expect(await second.readToEnd().text == "body")
    }

    @Test func clearedResponsesOfAStreamAreNotStored() async throws {
        fixture.transport.on(.get, "/page", .stream(Self.headers, .hold(gate), .text("body")))
        let stream = try await page(.time).stream(on: fixture.agent)
        try await fixture.agent.clearCache()
        gate.open()
        #expect(await stream.readToEnd().text == "body")
        await fixture.agent.flushCache()
        _ = try await page(.time).stream(on: fixture.agent)
        #expect(fixture.transport.requestCount == 2)
    }
}
