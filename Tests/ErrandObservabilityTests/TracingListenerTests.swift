#if Tracing
    import ErrandCore
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import HTTPTypes
    import InMemoryTracing
    import TestSupport
    import Testing
    import Tracing

    @testable import ErrandObservability

    @Suite(.limited) struct TracingListenerTests {
        private let tracer = InMemoryTracer()
        private let transport = ScriptedTransport()

        private func agent(
            _ propagation: TracingListener.Propagation = .baseURL,
            change: (inout Configuration) -> Void = { _ in }
        ) -> RequestAgent {
            var configuration = Configuration(baseURL: "https://api.example.com")
            configuration.eventListeners = [
                TracingListener(tracer: tracer, propagation: propagation)
            ]
            change(&configuration)
            return RequestAgent(
                configuration: configuration, transport: transport, clock: ManualClock())
        }

        private func request(_ url: String = "/users") -> RequestDescription {
            RequestDescription(endpoint: "GetUser", url: EndpointURL(raw: url))
        }

        private func spans(named name: String) -> [FinishedInMemorySpan] {
            tracer.finishedSpans.filter { $0.operationName == name }
        }

        /// Starts a request within a span, which ends before the request.
        private func start(_ agent: RequestAgent) -> RequestTask {
            tracer.withSpan("screen") { _ in agent.start(request()) }
        }

        private func traced(_ request: TransportRequest) -> String? {
            HTTPField.Name(InMemoryTracer.spanIDKey).flatMap { request.headers[$0] }
        }

        @Test func requestHasASpanAndOneForEachRequestOnTheWire() async throws {
            transport.on(.get, "/users", .json("{}"))
            _ = try await agent().start(request("/users?token=hidden")).response()
            #expect(tracer.activeSpans.isEmpty)
            let span = try #require(spans(named: "GetUser").first)
            #expect(span.kind == .internal)
            #expect(span.parentSpanID == nil)
            #expect(span.status == nil)
            #expect(span.attributes.get("errand.endpoint") == .string("GetUser"))
            #expect(span.attributes.get("errand.source") == .string("network"))
            #expect(span.attributes.get("http.response.status_code") == .int64(200))
            let wire = try #require(spans(named: "GET").first)
            #expect(wire.kind == .client)
            #expect(wire.parentSpanID == span.spanID)
            #expect(wire.traceID == span.traceID)
            #expect(wire.status == nil)
            #expect(wire.attributes.get("http.request.method") == .string("GET"))
            #expect(
                wire.attributes.get("url.full")
                    == .string("https://api.example.com/users?token=REDACTED"))
            #expect(wire.attributes.get("server.address") == .string("api.example.com"))
            #expect(wire.attributes.get("server.port") == .int64(443))
            #expect(wire.attributes.get("http.response.status_code") == .int64(200))
            #expect(wire.attributes.get("network.protocol.version") == .string("1.1"))
            #expect(wire.attributes.get("http.request.resend_count") == nil)
            #expect(wire.attributes.get("error.type") == nil)
        }

        @Test func eachAttemptHasASpanAndItsOwnHeader() async throws {
            transport.on(
                .get, "/users", ScriptedResponse(status: .serviceUnavailable), ScriptedResponse())
            var description = request()
            description.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            _ = try await agent().start(description).response()
            let wire = spans(named: "GET")
            #expect(wire.count == 2)
            #expect(
                wire.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1)])
            #expect(wire.map { $0.attributes.get("error.type") } == [.string("503"), nil])
            #expect(wire.map { $0.status?.code } == [.error, nil])
            #expect(transport.requests.map(traced) == wire.map(\.spanID))
            let events = try #require(spans(named: "GetUser").first).events
            #expect(events.map(\.name).contains("errand.retrying"))
        }

        @Test func parentIsTheContextAtTheStart() async throws {
            transport.on(.get, "/users", ScriptedResponse())
            let agent = agent()
            _ = try await start(agent).response()
            let screen = try #require(spans(named: "screen").first)
            let span = try #require(spans(named: "GetUser").first)
            #expect(span.parentSpanID == screen.spanID)
            #expect(span.traceID == screen.traceID)
        }

        @Test func errorOfTheTransportIsTheStatusOfBothSpans() async throws {
            let error = RequestError(.cannotConnect, stage: .transport, "Connection refused.")
            transport.on(.get, "/users", .failure(error))
            _ = try? await agent().start(request()).response()
            for name in ["GET", "GetUser"] {
                let span = try #require(spans(named: name).first)
                #expect(span.status == SpanStatus(code: .error, message: "Connection refused."))
                #expect(span.attributes.get("error.type") == .string("cannotConnect"))
                #expect(span.errors.count == 1)
            }
        }

        @Test func cancelledRequestEndsItsSpansWithoutAnErrorStatus() async throws {
            let gate = Gate()
            transport.on(.get, "/users", ScriptedResponse(steps: [.hold(gate)]))
            let task = agent().start(request())
            try await gate.reached()
            task.cancel()
            await task.untilEnded()
            #expect(tracer.activeSpans.isEmpty)
            for name in ["GET", "GetUser"] {
                let span = try #require(spans(named: name).first)
                #expect(span.status == nil)
                #expect(span.attributes.get("error.type") == .string("cancelled"))
            }
        }

        @Test func phasesAreEventsWithTheirTimes() async throws {
            var response = ScriptedResponse()
            response.timings.nameLookedUp = .milliseconds(2)
            response.timings.connected = .milliseconds(5)
            response.timings.secured = .milliseconds(9)
            response.timings.firstByte = .milliseconds(40)
            transport.on(.get, "/users", response)
            _ = try await agent().start(request()).response()
            let span = try #require(spans(named: "GET").first)
            let start = span.startInstant.nanosecondsSinceEpoch
            #expect(
                span.events.map(\.name) == [
                    "errand.name_looked_up", "errand.connected", "errand.secured",
                    "errand.first_byte",
                ])
            #expect(
                span.events.map { $0.nanosecondsSinceEpoch - start } == [
                    2_000_000, 5_000_000, 9_000_000, 40_000_000,
                ])
        }

        @Test func redirectToAnotherServerHasASpanAndNoHeader() async throws {
            transport.on(
                .get, "/users",
                ScriptedResponse(
                    status: .found, headers: [.location: "https://other.example/users/7"]))
            transport.on(.get, "/users/7", ScriptedResponse())
            _ = try await agent().start(request()).response()
            #expect(spans(named: "GET").count == 2)
            #expect(transport.requests.map { traced($0) != nil } == [true, false])
        }

        @Test(arguments: [
            ("https://api.example.com/x", true), ("http://api.example.com/x", false),
            ("https://api.example.com:444/x", false), ("https://sub.example.com/x", false),
        ])
        func defaultRuleIsTheServerOfTheBaseURL(_ url: String, _ isAllowed: Bool) async throws {
            transport.respond { _ in ScriptedResponse() }
            _ = try await agent().start(request(url)).response()
            #expect(transport.requests.map { traced($0) != nil } == [isAllowed])
        }

        @Test func baseURLOfTheEnvironmentCounts() async throws {
            transport.respond { _ in ScriptedResponse() }
            let agent = agent {
                $0.environments = [
                    "test": Configuration.Environment(baseURL: "https://test.example")
                ]
                $0.environment = "test"
            }
            _ = try await agent.start(request()).response()
            _ = try await agent.start(request("https://api.example.com/x")).response()
            #expect(transport.requests.map { traced($0) != nil } == [true, false])
        }

        @Test(arguments: [
            (TracingListener.Propagation.none, [false, false]),
            (.all, [true, true]), (.hosts(["*.example.com"]), [true, false]),
        ])
        func rulesChooseServers(
            _ rule: TracingListener.Propagation, _ expected: [Bool]
        ) async throws {
            transport.respond { _ in ScriptedResponse() }
            let agent = agent(rule)
            _ = try await agent.start(request()).response()
            _ = try await agent.start(request("https://other.example/x")).response()
            #expect(transport.requests.map { traced($0) != nil } == expected)
        }

        @Test func headerIsNotPartOfTheCacheKey() async throws {
            transport.on(.get, "/users", .json("{}"))
            let agent = agent()
            var description = request()
            description.cacheSeconds = 60
            _ = try await agent.start(description).response()
            await agent.flushCache()
            _ = try await agent.start(description).response()
            #expect(transport.requestCount == 1)
            let stored = try #require(spans(named: "GetUser").last)
            #expect(stored.attributes.get("errand.source") == .string("cacheFresh"))
            #expect(stored.events.map(\.name) == ["errand.cache.hit"])
        }

        @Test func streamEndsItsSpansAfterTheBody() async throws {
            let gate = Gate()
            transport.on(
                .get, "/users",
                ScriptedResponse(steps: [
                    .head(.init(status: .ok)), .bytes(Data("ab".utf8)), .hold(gate),
                    .bytes(Data("c".utf8)),
                ]))
            var description = request()
            description.isStreamed = true
            let agent = agent()
            let task = agent.enlist(description)
            let opened = try await agent.open(task)
            #expect(spans(named: "GET").isEmpty)
            gate.open()
            var bytes = 0
            while let chunk = try await opened.body.channel.next() { bytes += chunk.count }
            await task.untilEnded()
            #expect(bytes == 3)
            #expect(tracer.activeSpans.isEmpty)
            #expect(spans(named: "GET").count == 1)
        }

        @Test func operationsWithoutATaskHaveNoSpans() async throws {
            let agent = agent()
            var description = request()
            description.cacheSeconds = 60
            _ = try await agent.cacheKey(for: description)
            _ = try await agent.cachedResponse(for: description)
            _ = try await agent.transportRequest(for: description)
            #expect(tracer.activeSpans.isEmpty)
            #expect(tracer.finishedSpans.isEmpty)
        }

        @Test func invalidHeadersAreNotInjected() {
            var headers: HTTPFields = [:]
            HeaderInjector().inject("1\r\nX: 2", forKey: "traceparent", into: &headers)
            HeaderInjector().inject("1", forKey: "a b", into: &headers)
            #expect(headers.isEmpty)
            HeaderInjector().inject("1", forKey: "traceparent", into: &headers)
            HeaderInjector().inject("2", forKey: "traceparent", into: &headers)
            #expect(headers == [HTTPField.Name("traceparent") ?? .accept: "2"])
        }
    }
#endif
