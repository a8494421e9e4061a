#if Metrics
    import ErrandCore
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import HTTPTypes
    import Metrics
    import MetricsTestKit
    import TestSupport
    import Testing

    @testable import ErrandObservability

    @Suite(.limited) struct MetricsListenerTests {
        private let metrics = TestMetrics()
        private let transport = ScriptedTransport()
        private let clock = ManualClock()

        private func agent(
            change: (inout Configuration) -> Void = { _ in }
        ) -> RequestAgent {
            var configuration = Configuration(baseURL: "https://api.example.com")
            configuration.eventListeners = [MetricsListener(factory: metrics)]
            change(&configuration)
            return RequestAgent(configuration: configuration, transport: transport, clock: clock)
        }

        private func timed(_ response: ScriptedResponse, _ duration: Duration) -> ScriptedResponse {
            var response = response
            response.timings.finished = duration
            response.timings.bytesReceived = 7
            return response
        }

        @Test func requestOnTheWireHasTheNamesAndUnitsOfOpenTelemetry() async throws {
            transport.on(.post, "/users", timed(.json("{}"), .milliseconds(1500)))
            var description = RequestDescription(endpoint: "AddUser", url: "/users")
            description.method = .post
            description.body = .data(Data("name".utf8))
            _ = try await agent().start(description).response()
            let dimensions = [
                ("http.request.method", "POST"), ("server.address", "api.example.com"),
                ("server.port", "443"), ("http.response.status_code", "200"),
                ("network.protocol.version", "1.1"),
            ]
            let duration = try metrics.expectTimer("http.client.request.duration", dimensions)
            #expect(duration.values == [1_500_000_000])
            #expect(duration.displayUnit == .seconds)
            #expect(duration.valueInPreferredUnit(atIndex: 0) == 1.5)
            #expect(
                try metrics.expectRecorder("http.client.request.body.size", dimensions).values == [
                    4
                ])
            #expect(
                try metrics.expectRecorder("http.client.response.body.size", dimensions).values
                    == [7])
        }

        @Test func activeRequestsAreCountedWhileTheyAreOnTheWire() async throws {
            let gate = Gate()
            transport.on(
                .get, "/users", ScriptedResponse(steps: [.hold(gate), .head(.init(status: .ok))]))
            let task = agent().start(RequestDescription(endpoint: "GetUser", url: "/users"))
            try await gate.reached()
            let active = try metrics.expectMeter(
                "http.client.active_requests",
                [
                    ("http.request.method", "GET"), ("server.address", "api.example.com"),
                    ("server.port", "443"),
                ])
            #expect(active.values == [1])
            gate.open()
            _ = try await task.response()
            #expect(active.values == [1, 0])
        }

        @Test func cancelledRequestIsNoLongerActive() async throws {
            let gate = Gate()
            transport.on(.get, "/users", ScriptedResponse(steps: [.hold(gate)]))
            let task = agent().start(RequestDescription(endpoint: "GetUser", url: "/users"))
            try await gate.reached()
            task.cancel()
            await task.untilEnded()
            #expect(metrics.meters(label: "http.client.active_requests").map(\.lastValue) == [0])
            let durations = metrics.timers(
                label: "http.client.request.duration", dimensions: [("error.type", "cancelled")])
            #expect(durations.count == 1)
        }

        @Test func eachAttemptIsRecorded() async throws {
            transport.on(
                .get, "/users", ScriptedResponse(status: .serviceUnavailable), ScriptedResponse())
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            description.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            _ = try await agent().start(description).response()
            let durations = "http.client.request.duration"
            #expect(
                metrics.timers(
                    label: durations,
                    dimensions: [("http.response.status_code", "503"), ("error.type", "503")]
                ).count == 1)
            #expect(
                metrics.timers(label: durations, dimensions: [("http.response.status_code", "200")])
                    .count == 1)
            let retries = try metrics.expectCounter(
                "errand.retries", [("errand.endpoint", "GetUser"), ("error.type", "503")])
            #expect(retries.totalValue == 1)
        }

        @Test func wholeRequestIsMeasuredWithItsDelays() async throws {
            let gate = Gate()
            transport.on(
                .get, "/users", ScriptedResponse(steps: [.hold(gate), .head(.init(status: .ok))]))
            let task = agent().start(RequestDescription(endpoint: "GetUser", url: "/users"))
            try await gate.reached()
            clock.advance(by: .seconds(3))
            gate.open()
            _ = try await task.response()
            let total = try metrics.expectTimer(
                "errand.request.duration",
                [("errand.endpoint", "GetUser"), ("errand.source", "network")])
            #expect(total.values == [3_000_000_000])
            #expect(total.displayUnit == .seconds)
        }

        @Test func queueTimeIsRecorded() async throws {
            let gate = Gate()
            transport.on(
                .get, "/users", ScriptedResponse(steps: [.hold(gate), .head(.init(status: .ok))]))
            let events = EventRecorder()
            let agent = agent {
                $0.limits = RequestLimits(total: 1)
                $0.eventListeners.append(events)
            }
            let description = RequestDescription(endpoint: "GetUser", url: "/users")
            let first = agent.start(description)
            try await gate.reached()
            let second = agent.start(description)
            _ = try await events.next { if case .queued = $0.kind { true } else { false } }
            clock.advance(by: .seconds(2))
            gate.open()
            _ = try await first.response()
            _ = try await second.response()
            let queue = try metrics.expectTimer(
                "errand.queue.duration", [("errand.endpoint", "GetUser")])
            // The first one did not wait.
            #expect(queue.values == [0, 2_000_000_000])
        }

        @Test func cacheOutcomesAreCounted() async throws {
            transport.on(.get, "/users", .json("{}"))
            let agent = agent()
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            _ = try await agent.start(description).response()
            #expect(metrics.counters(label: "errand.cache.lookups").isEmpty)
            description.cacheSeconds = 60
            _ = try await agent.start(description).response()
            await agent.flushCache()
            _ = try await agent.start(description).response()
            for outcome in ["noEntry", "cacheFresh"] {
                let counter = try metrics.expectCounter(
                    "errand.cache.lookups",
                    [("errand.endpoint", "GetUser"), ("errand.outcome", outcome)])
                #expect(counter.totalValue == 1)
            }
            let stores = try metrics.expectCounter(
                "errand.cache.stores",
                [("errand.endpoint", "GetUser"), ("errand.outcome", "stored")])
            #expect(stores.totalValue == 1)
        }

        @Test func circuitStateIsAGauge() async throws {
            transport.on(
                .get, "/users", ScriptedResponse(status: .badGateway), ScriptedResponse())
            let agent = agent {
                $0.circuitBreaker = CircuitBreakerPolicy(failures: 1, pause: .seconds(30))
            }
            let description = RequestDescription(endpoint: "GetUser", url: "/users")
            let server = [("server.address", "api.example.com")]
            _ = try? await agent.start(description).response()
            let state = try metrics.expectGauge("errand.circuit.state", server)
            #expect(state.values == [2])
            clock.advance(by: .seconds(30))
            _ = try await agent.start(description).response()
            #expect(state.values == [2, 1, 0])
            let changes = try metrics.expectCounter(
                "errand.circuit.changes", server + [("errand.outcome", "open")])
            #expect(changes.totalValue == 1)
        }

        @Test func connectionsAreCounted() async throws {
            var opened = ScriptedResponse()
            opened.timings.reusedConnection = false
            var reused = ScriptedResponse()
            reused.timings.reusedConnection = true
            transport.on(.get, "/users", opened, reused)
            let agent = agent()
            for _ in 0..<3 {
                _ = try await agent.start(RequestDescription(endpoint: "GetUser", url: "/users"))
                    .response()
            }
            let counts = ["opened", "reused"].map { outcome in
                metrics.counters(
                    label: "errand.connections", dimensions: [("errand.outcome", outcome)]
                ).map(\.totalValue)
            }
            #expect(counts == [[1], [2]])
        }

        /// The gauge follows the openings and ends of connections, also those between requests.
        @Test func openConnectionsOfTheTransportAreAGauge() async throws {
            var configuration = Configuration(baseURL: "https://api.example.com")
            let recorder = EventRecorder()
            configuration.eventListeners = [MetricsListener(factory: metrics), recorder]
            let reporting = ReportingTransport(base: transport)
            let agent = RequestAgent(configuration: configuration, transport: reporting)
            let reports = reporting.connectionReports
            let connections = (0..<2).map { _ in
                Response.Connection(host: "api.example.com", port: 443, isSecure: true)
            }
            for connection in connections { reports.opened(connection) }
            reports.closed(connections[1], because: .idleLimit)
            try await recorder.untilConnections { $0.count == 3 }
            let gauge = try metrics.expectGauge(
                "http.client.open_connections", [("errand.transport", "reporting")])
            #expect(gauge.values == [1, 2, 1])
            let closed = try metrics.expectCounter(
                "errand.connections.closed",
                [("errand.transport", "reporting"), ("errand.outcome", "idleLimit")])
            #expect(closed.totalValue == 1)
            withExtendedLifetime(agent) {}
        }

        private struct ReportingTransport: ConnectionReporting {
            let base: ScriptedTransport
            let connectionReports = ConnectionReports(transport: "reporting")
            var name: String { "reporting" }

            func check(_ request: TransportRequest) throws(RequestError) { try base.check(request) }

            func start(
                _ request: TransportRequest, receiver: any TransferReceiver
            ) -> any Transfer { base.start(request, receiver: receiver) }

            func shutDown() { base.shutDown() }
        }

        /// Hosts, paths, methods and endpoints of any number make a bounded number of series.
        @Test func seriesAreBounded() async throws {
            transport.respond { _ in ScriptedResponse() }
            let agent = agent()
            for number in 0..<10_000 {
                var description = RequestDescription(
                    endpoint: "Endpoint\(number)",
                    url: "https://host\(number).example/path/\(number)?q=\(number)")
                description.method = number % 2 == 0 ? .get : HTTPMethod("M\(number)")
                description.tag = number
                _ = try await agent.start(description).response()
            }
            let durations = metrics.timers(label: "http.client.request.duration")
            // 100 servers with one method each, the others with both.
            #expect(durations.count == 102)
            #expect(metrics.timers(label: "errand.request.duration").count == 201)
            let other = metrics.timers(
                label: "http.client.request.duration", dimensions: [("server.address", "_OTHER")])
            #expect(other.map(\.values.count).reduce(0, +) == 9_900)
            #expect(
                Set(
                    durations.flatMap(\.dimensions).filter { $0.0 == "http.request.method" }.map(
                        \.1))
                    == ["GET", "_OTHER"])
        }

        @Test func metricWithTooManySeriesOverflows() throws {
            let handles = MetricHandles(metrics, limit: 3)
            for number in 0..<10 { handles.count(MetricSeries("count", [("n", "\(number)")])) }
            #expect(metrics.counters(label: "count").count == 4)
            let rest = try metrics.expectCounter("count", [("otel.metric.overflow", "true")])
            #expect(rest.totalValue == 7)
        }
    }
#endif
