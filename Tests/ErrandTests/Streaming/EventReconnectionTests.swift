import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// The connections of `serverSentEvents`, which follow each other.
@Suite(.limited) struct EventReconnectionTests {
    private let fixture = AgentFixture {
        $0.retryPolicy = RetryPolicy(baseDelay: .seconds(1000), maximumDelay: .seconds(1_000_000))
    }

    private static func data(_ events: Elements<ServerSentEvent>) -> [String] {
        events.values.map(\.data)
    }

    // MARK: - Endings

    @Test func endAndInterruptionAreFollowedByAConnectionFromTheLastEvent() async throws {
        fixture.transport.on(
            .get, "/x", .events("id: 1\ndata: a\n\n"),
            .events("data: b\n\nid: 2\n\nid: 3\ndata: incomplete", then: [.interruption]),
            .events("data: c\n\nid\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        #expect(try await fixture.nextID() == "1")
        try await fixture.sleep(exactly: .seconds(3))
        #expect(try await fixture.nextID() == "2")
        try await fixture.sleep(exactly: .seconds(3))
        #expect(try await fixture.nextID() == nil)
        let events = await reader.value
        #expect(events.error == nil)
        #expect(
            events.values == [
                ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b", id: "1"),
                ServerSentEvent(data: "c", id: "2"),
            ])
        #expect(fixture.agent.activeTasks.isEmpty && fixture.transport.inFlight == 0)
    }

    @Test func noContentIsTheEndOfTheFirstConnectionToo() async throws {
        fixture.transport.on(.get, "/x", .noContent)
        #expect(await (try await fixture.startReading()).value == Elements())
        #expect(fixture.transport.requestCount == 1 && fixture.clock.sleepers == 0)
    }

    @Test(arguments: [400, 401, 403, 404, 410, 501])
    func refusalIsTheErrorOfTheSequence(status: Int) async throws {
        let refusal = ScriptedResponse(
            status: .init(code: status), headers: [.contentType: "text/plain"],
            body: Data("Not here.".utf8))
        fixture.transport.on(.get, "/x", .events("data: a\n\n"), refusal)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        let events = await reader.value
        #expect(Self.data(events) == ["a"])
        #expect(events.error?.code == .unacceptableStatus)
        #expect(events.error?.response?.string == "Not here.")
        #expect(fixture.transport.requestCount == 2 && fixture.agent.activeTasks.isEmpty)
    }

    @Test func anotherContentTypeOfALaterConnectionIsAnError() async throws {
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), .chunks([Data("x".utf8)], then: [.hold(Gate())]))
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        let events = await reader.value
        #expect(Self.data(events) == ["a"])
        #expect(events.error?.code == .unacceptableContentType)
        try await fixture.transport.untilIdle()
    }

    @Test func iteratorReturnsNilAfterAnError() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n", then: [.interruption]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        var iterator = stream.serverSentEvents(reconnects: .never).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        await #expect(throws: RequestError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    // MARK: - Times

    @Test func reconnectionTimeOfTheServerLastsUntilItSetsAnother() async throws {
        fixture.transport.on(
            .get, "/x", .events("retry: 700\ndata: a\n\n"), .events("data: b\n\n"),
            .events("data: c\n\nretry: 20000\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .milliseconds(700))
        _ = try await fixture.nextID()
        try await fixture.sleep(exactly: .milliseconds(700))
        _ = try await fixture.nextID()
        try await fixture.sleep(exactly: .seconds(20))
        #expect(Self.data(await reader.value) == ["a", "b", "c"])
    }

    @Test(arguments: [
        ("0", Duration.milliseconds(500)), ("1", .milliseconds(500)),
        ("3600001", .seconds(3600)), ("999999999999999999999", .seconds(3600)),
    ])
    func reconnectionTimeHasBounds(retry: String, delay: Duration) async throws {
        fixture.transport.on(.get, "/x", .events("retry: \(retry)\ndata: a\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: delay)
        #expect(Self.data(await reader.value) == ["a"])
    }

    /// Random delays of up to 1,000 s, 2,000 s and so on are added; that they are below 1 ms is not to be expected.
    @Test func delaysGrowWithoutEventsAndAreResetByAnEvent() async throws {
        fixture.transport.on(
            .get, "/x", .events(""), .failure(RequestError(.cannotConnect, stage: .transport, "")),
            .events(": comment\n\n"), .events("data: a\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        for maximum in [1000, 2000] {
            _ = try await fixture.nextID()
            try await fixture.clock.untilSleeping()
            fixture.clock.advance(by: .seconds(3))
            #expect(fixture.clock.sleepers == 1)
            fixture.clock.advance(by: .seconds(maximum))
        }
        _ = try await fixture.nextID()
        try await fixture.sleep(exactly: .seconds(3))
        #expect(Self.data(await reader.value) == ["a"])
        #expect(fixture.transport.requestCount == 5)
    }

    @Test func retryableStatusIsRepeatedAfterItsRetryAfter() async throws {
        let unavailable = ScriptedResponse(
            status: .serviceUnavailable, headers: [.retryAfter: "5000"])
        fixture.agent.configuration.retryPolicy.maximumRetryAfter = .seconds(5000)
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), unavailable, .events("data: b\n\n"),
            .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        _ = try await fixture.nextID()
        // More than the reconnection time and the random part of at most 1,000 s.
        try await fixture.sleep(exactly: .seconds(5000))
        _ = try await fixture.nextID()
        try await fixture.sleep(exactly: .seconds(3))
        #expect(Self.data(await reader.value) == ["a", "b"])
    }

    @Test func retryAfterAboveTheLimitOfThePolicyIsTheEnd() async throws {
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"),
            ScriptedResponse(status: .serviceUnavailable, headers: [.retryAfter: "61"]))
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        let events = await reader.value
        #expect(Self.data(events) == ["a"] && events.error?.response?.statusCode == 503)
        #expect(fixture.clock.sleepers == 0)
    }

    // MARK: - Limits

    @Test func neverEndsWithTheBody() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"))
        let events = await (try await fixture.startReading(.never)).value
        #expect(Self.data(events) == ["a"] && events.error == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func limitCountsFailedConnectionsInARowWithoutEvents() async throws {
        let policy = RetryPolicy(baseDelay: .zero)
        let lost = ScriptedResponse.events("", then: [.interruption])
        fixture.transport.on(
            .get, "/x", lost, .events("data: a\n\n"), lost, lost, .events("data: b\n\n"))
        let reader = try await fixture.startReading(.limited(1)) { $0.retryPolicy = policy }
        for _ in 0..<3 {
            try await fixture.sleep(exactly: .seconds(3))
            _ = try await fixture.nextID()
        }
        let events = await reader.value
        #expect(Self.data(events) == ["a"])
        #expect(events.error?.code == .connectionLost)
        #expect(fixture.transport.requestCount == 4 && fixture.clock.sleepers == 0)
    }

    @Test func limitDoesNotCountConnectionsThatEndRegularly() async throws {
        let policy = RetryPolicy(baseDelay: .zero)
        fixture.transport.on(
            .get, "/x", .events(""), .events(""), .events(": nothing\n\n"), .noContent)
        let reader = try await fixture.startReading(.limited(1)) { $0.retryPolicy = policy }
        for _ in 0..<3 {
            try await fixture.sleep(exactly: .seconds(3))
            _ = try await fixture.nextID()
        }
        #expect(await reader.value == Elements())
        #expect(fixture.transport.requestCount == 4)
    }

    // MARK: - The total time limit

    /// The timer of their limit then sleeps no more.
    private func untilTasksHaveEnded() async {
        for task in fixture.agent.activeTasks { await task.untilEnded() }
    }

    /// The pause ends with the limit, which counts from the start of the first request.
    @Test func totalLimitEndsThePauseBeforeAConnection() async throws {
        fixture.transport.on(.get, "/x", .events("retry: 60000\ndata: a\n\n"))
        let reader = try await fixture.startReading { $0.timeouts = Timeouts(total: .seconds(10)) }
        await untilTasksHaveEnded()
        try await fixture.sleep(exactly: .seconds(10))
        let events = await reader.value
        #expect(Self.data(events) == ["a"])
        #expect(events.error?.code == .timedOut && events.error?.timeout == .total)
        #expect(events.error?.message.contains("10.0 seconds") == true)
        #expect(fixture.transport.requestCount == 1 && fixture.clock.sleepers == 0)
    }

    /// A later connection has the time that is left, whatever its body does.
    @Test(arguments: [true, false])
    func totalLimitEndsALaterConnection(ofTheEndpoint: Bool) async throws {
        let gate = Gate()
        if !ofTheEndpoint { fixture.agent.configuration.timeouts.total = .seconds(10) }
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), .events("data: b\n\n"),
            .events("", then: [.hold(gate)]))
        let reader = try await fixture.startReading {
            if ofTheEndpoint { $0.timeouts = Timeouts(total: .seconds(10)) }
        }
        for _ in 0..<2 {
            await untilTasksHaveEnded()
            try await fixture.sleep(exactly: .seconds(3))
            _ = try await fixture.nextID()
        }
        try await gate.reached()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .milliseconds(3999))
        #expect(fixture.clock.sleepers == 1)
        fixture.clock.advance(by: .milliseconds(1))
        let events = await reader.value
        #expect(Self.data(events) == ["a", "b"])
        #expect(events.error?.code == .timedOut && events.error?.timeout == .total)
        #expect(events.error?.message.contains("10.0 seconds") == true)
        #expect(fixture.transport.requestCount == 3)
    }

    // MARK: - Header fields

    /// The way in which an endpoint says that it reads events.
    enum Declaration: CaseIterable, Sendable { case method, contentTypes, none }

    @Test(arguments: Declaration.allCases, [nil, "text/event-stream;q=1, application/json"])
    func requestsAcceptEvents(declaration: Declaration, own: String?) async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"), .noContent)
        let request = InlineRequest("x") {
            if let own { $0.headers[.accept] = own }
            if own != nil { $0.headers[.custom("cache-control")] = "max-age=0" }
            if declaration == .contentTypes {
                $0.acceptance.contentTypes = ["text/event-stream"]
            }
        }
        let agent = fixture.agent
        let events =
            declaration == .method
            ? try await request.serverSentEvents(on: agent)
            : try await request.stream(on: agent).serverSentEvents
        let reader = Task { await read(events) }
        try await fixture.sleep(exactly: .seconds(3))
        #expect(await reader.value.error == nil)
        let requests = fixture.transport.requests
        #expect(requests.count == 2)
        for (index, sent) in requests.enumerated() {
            let isPlain = declaration == .none && index == 0
            #expect(
                sent.headers[values: .accept]
                    == [own ?? (isPlain ? "*/*" : "text/event-stream")])
            #expect(
                sent.headers[.cacheControl]
                    == (own != nil ? "max-age=0" : isPlain ? nil : "no-store"))
        }
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func unsafeRequestIsNotRepeated(method: HTTPMethod) async throws {
        fixture.transport.on(
            method, "/x", .events("data: a\n\n"), .events("data: b\n\n", then: [.interruption]))
        for reconnects in [ResponseStream.Reconnects.automatic, .limited(5)] {
            let events = await (try await fixture.startReading(reconnects) { $0.method = method })
                .value
            #expect(Self.data(events) == [reconnects == .automatic ? "a" : "b"])
            #expect(events.error?.code == (reconnects == .automatic ? nil : .connectionLost))
        }
        #expect(fixture.transport.requestCount == 2 && fixture.clock.sleepers == 0)
    }

    @Test func safeRequestWithABodyIsNotRepeated() async throws {
        fixture.transport.on(.query, "/x", .events("data: a\n\n"))
        let events = await
            (try await fixture.startReading {
                $0.method = .query
                $0.body = .string("q")
            }).value
        #expect(Self.data(events) == ["a"] && fixture.transport.requestCount == 1)
    }

    // MARK: - The path of a request

    private final class TokenAuthenticator: Authenticator {
        let token = RefreshableToken()

        func apply(to request: inout TransportRequest) async throws {
            request.headers[.authorization] = "Bearer \(token.current)"
        }

        func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
            token.refresh()
            return true
        }
    }

    @Test func credentialsAreRenewedBetweenConnections() async throws {
        fixture.agent.configuration.authenticators = [
            "*.example.com": TokenAuthenticator()
        ]
        fixture.transport.on(
            .get, "/x", .events("id: 1\ndata: a\n\n"), ScriptedResponse(status: .unauthorized),
            .events("data: b\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        for token in ["old", "new"] {
            let request = try await fixture.transport.nextRequest()
            #expect(request.headers[.authorization] == "Bearer \(token)")
            #expect(request.headers[.lastEventID] == "1")
        }
        try await fixture.sleep(exactly: .seconds(3))
        let last = try await fixture.transport.nextRequest()
        #expect(last.headers[.authorization] == "Bearer new")
        let events = await reader.value
        #expect(Self.data(events) == ["a", "b"] && events.error == nil)
    }

    @Test func eachConnectionReturnsItsPermitAndIsNoDuplicateOfTheLastOne() async throws {
        fixture.agent.configuration.limits.total = 1
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), .events("data: b\n\n"), .noContent)
        let reader = try await fixture.startReading { $0.sending.duplicates = .reject }
        for _ in 0..<2 {
            try await fixture.sleep(exactly: .seconds(3))
            _ = try await fixture.nextID()
        }
        #expect(await reader.value.values.map(\.data) == ["a", "b"])
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    // MARK: - Cancellation

    @Test func cancellationWhileWaitingIsTheEnd() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"))
        let reader = try await fixture.startReading()
        try await fixture.clock.untilSleeping()
        reader.cancel()
        let events = await reader.value
        #expect(Self.data(events) == ["a"] && events.error?.code == .cancelled)
        #expect(fixture.transport.requestCount == 1 && fixture.clock.sleepers == 0)
    }

    @Test(arguments: [true, false]) func cancellingTasksEndsTheWaitIf(matches: Bool) async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"), .noContent)
        let reader = try await fixture.startReading { $0.tag = 7 }
        try await fixture.clock.untilSleeping()
        fixture.agent.cancel(tag: matches ? 7 : 8)
        if !matches { try await fixture.sleep(exactly: .seconds(3)) }
        let events = await reader.value
        #expect(Self.data(events) == ["a"] && events.error?.code == (matches ? .cancelled : nil))
        #expect(fixture.transport.requestCount == (matches ? 1 : 2))
        #expect(fixture.agent.activeTasks.isEmpty && fixture.clock.sleepers == 0)
    }

    @Test(arguments: [true, false]) func shutdownEndsTheWait(isDraining: Bool) async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"))
        let reader = try await fixture.startReading()
        try await fixture.clock.untilSleeping()
        await fixture.agent.shutdown(draining: isDraining)
        let events = await reader.value
        #expect(Self.data(events) == ["a"] && events.error?.code == .agentShutDown)
        #expect(fixture.transport.requestCount == 1 && fixture.clock.sleepers == 0)
    }

    @Test func cancellationWhileConnectingIsTheEnd() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"), .silence)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        _ = try await fixture.nextID()
        reader.cancel()
        let events = await reader.value
        #expect(Self.data(events) == ["a"] && events.error?.code == .cancelled)
        try await fixture.transport.untilIdle()
        #expect(fixture.agent.activeTasks.isEmpty && fixture.clock.sleepers == 0)
    }

    @Test(arguments: ["the loop is left", "the Swift task is cancelled"])
    func secondConnectionIsCancelledWhen(_ cause: String) async throws {
        let gate = Gate()
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), .events("data: b\n\n", then: [.hold(gate)]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        let leaves = cause == "the loop is left"
        let reader = Task {
            var found: [String] = []
            for try await event in stream.serverSentEvents {
                found.append(event.data)
                if leaves, found.count == 2 { break }
            }
            return found
        }
        try await fixture.sleep(exactly: .seconds(3))
        try await gate.reached()
        if leaves {
            #expect(try await reader.value == ["a", "b"])
        } else {
            #expect(fixture.agent.activeTasks.count == 1)
            reader.cancel()
            let error = await #expect(throws: RequestError.self) { try await reader.value }
            #expect(error?.code == .cancelled)
        }
        try await fixture.transport.untilIdle()
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        #expect(fixture.transport.requestCount == 2 && fixture.clock.sleepers == 0)
    }

    @Test func shutdownOfTheAgentIsTheEnd() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n"))
        let reader = try await fixture.startReading()
        try await fixture.clock.untilSleeping()
        await fixture.agent.shutdown()
        fixture.clock.advance(by: .seconds(3))
        let events = await reader.value
        #expect(Self.data(events) == ["a"] && events.error?.code == .agentShutDown)
    }
}
