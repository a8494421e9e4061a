#if Logging
    import ErrandCore
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import HTTPTypes
    import Logging
    import TestSupport
    import Testing

    @testable import ErrandObservability

    @Suite(.limited) struct LoggingListenerTests {
        private let recorder = LogRecorder()
        private let transport = ScriptedTransport()
        private let clock = ManualClock()

        private func agent(
            _ level: Logger.Level = .trace, visibleQueryNames: Set<String> = [],
            change: (inout Configuration) -> Void = { _ in }
        ) -> (agent: RequestAgent, listener: LoggingListener) {
            let listener = LoggingListener(
                recorder.logger(level), visibleQueryNames: visibleQueryNames)
            var configuration = Configuration(baseURL: "https://api.example.com")
            configuration.eventListeners = [listener]
            change(&configuration)
            return (
                RequestAgent(configuration: configuration, transport: transport, clock: clock),
                listener
            )
        }

        @Test func successIsOneLineAtInfo() async throws {
            let gate = Gate()
            let body = Data(#""\#(String(repeating: "x", count: 1300))""#.utf8)
            let head = ResponseHead(status: .ok)
            transport.on(
                .get, "/repos/apple/swift-http-types/issues/4",
                ScriptedResponse(status: .serviceUnavailable),
                ScriptedResponse(steps: [.hold(gate), .head(head), .bytes(body)]))
            let (agent, _) = agent(.info)
            var description = RequestDescription(
                endpoint: "GetIssue", url: "/repos/apple/swift-http-types/issues/4?page=2&token=x")
            description.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            description.tag = 9
            let task = agent.start(description)
            try await gate.reached()
            clock.advance(by: .milliseconds(43))
            gate.open()
            _ = try await task.response()
            let text =
                "GetIssue GET api.example.com/repos/…/issues/4 → 200 in 43 ms, 1302 B, network, attempt 2"
            #expect(recorder.lines.filter { $0.level == .info }.map(\.text) == [text])
            #expect(
                recorder.lines.last?.metadata == [
                    "http.request.method": "GET",
                    "url.full":
                        "https://api.example.com/repos/apple/swift-http-types/issues/4?page=REDACTED&token=REDACTED",
                    "server.address": "api.example.com", "server.port": "443",
                    "http.response.status_code": "200", "http.response.body.size": "1302",
                    "http.request.resend_count": "1", "errand.endpoint": "GetIssue",
                    "errand.task": task.id.uuidString, "errand.tag": "9",
                    "errand.source": "network",
                ])
        }

        @Test func failureIsAWarningWithoutSecrets() async throws {
            transport.on(.get, "/users", .json(#"{"token":"hidden"}"#, status: .badGateway))
            let (agent, _) = agent(.debug)
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            description.arguments = ["q": "hidden"]
            description.authorization = .bearer("hidden")
            await #expect(throws: RequestError.self) {
                try await agent.start(description).response()
            }
            let lines = recorder.texts()
            #expect(lines.first == "debug GetUser started")
            #expect(lines.contains("debug GetUser attempt 1 received status 502"))
            let last = "warning GetUser GET api.example.com/users → failed in 0 ms: status 502 "
            #expect(lines.last?.hasPrefix(last) == true)
            let metadata = try #require(recorder.lines.last?.metadata)
            #expect(metadata["error.type"] == "502")
            #expect(metadata["http.response.status_code"] == "502")
            #expect(metadata["http.request.resend_count"] == nil)
            #expect(metadata["url.full"] == "https://api.example.com/users?q=REDACTED")
            #expect(!lines.contains { $0.contains("hidden") })
            #expect(
                !recorder.lines.contains { $0.metadata.values.contains { $0.contains("hidden") } })
        }

        @Test func failureWithoutAResponseHasItsCodeAsType() async throws {
            let error = RequestError(.cannotConnect, stage: .transport, "Connection refused.")
            transport.on(.get, "/users", .failure(error))
            let (agent, _) = agent(.warning)
            _ = try? await agent.start(RequestDescription(endpoint: "GetUser", url: "/users"))
                .response()
            #expect(
                recorder.lines.filter { $0.level == .warning }.map(\.text) == [
                    "GetUser GET api.example.com/users → failed in 0 ms: Connection refused."
                ])
            #expect(recorder.lines.last?.metadata["error.type"] == "cannotConnect")
        }

        @Test func retryIsANotice() async throws {
            transport.on(
                .get, "/users", ScriptedResponse(status: .serviceUnavailable), ScriptedResponse())
            let (agent, _) = agent()
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            description.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            _ = try await agent.start(description).response()
            #expect(
                recorder.lines.filter { $0.level == .notice }.map(\.text) == [
                    "GetUser retries in 0 ms after 503"
                ])
        }

        @Test func cancellationIsADebugLine() async throws {
            let gate = Gate()
            transport.on(.get, "/users", ScriptedResponse(steps: [.hold(gate)]))
            let (agent, _) = agent()
            let task = agent.start(RequestDescription(endpoint: "GetUser", url: "/users"))
            try await gate.reached()
            clock.advance(by: .seconds(12))
            task.cancel()
            await task.untilEnded()
            #expect(
                recorder.texts().last
                    == "debug GetUser GET api.example.com/users → cancelled after 12 s")
            #expect(recorder.lines.last?.metadata["error.type"] == "cancelled")
        }

        @Test func visibleQueryNamesAreLogged() async throws {
            transport.on(.get, "/users", ScriptedResponse())
            let (agent, _) = agent(visibleQueryNames: ["page"])
            _ = try await agent.start(
                RequestDescription(endpoint: "GetUser", url: "/users?page=2&token=x&bare")
            ).response()
            #expect(
                recorder.lines.last?.metadata["url.full"]
                    == "https://api.example.com/users?page=2&token=REDACTED&REDACTED")
        }

        @Test func storedResponseNamesTheCache() async throws {
            transport.on(.get, "/users", .json("{}"))
            let (agent, _) = agent(.info)
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            description.cacheSeconds = 60
            _ = try await agent.start(description).response()
            await agent.flushCache()
            _ = try await agent.start(description).response()
            #expect(
                recorder.lines.filter { $0.level == .info }.map(\.text) == [
                    "GetUser GET api.example.com/users → 200 in 0 ms, 2 B, network",
                    "GetUser GET api.example.com/users → 200 in 0 ms, 2 B, cache",
                ])
        }

        @Test func endpointThatNeverCachesHasNoCacheLine() async throws {
            transport.on(.get, "/users", .json("{}"))
            let (agent, _) = agent()
            _ = try await agent.start(RequestDescription(endpoint: "GetUser", url: "/users"))
                .response()
            #expect(!recorder.lines.contains { $0.text.contains("cache") })
            var cached = RequestDescription(endpoint: "GetUser", url: "/users")
            cached.cacheSeconds = 60
            _ = try await agent.start(cached).response()
            #expect(recorder.texts().contains("debug GetUser cache miss: noEntry"))
        }

        @Test func followedRedirectIsAResend() async throws {
            transport.on(
                .get, "/old",
                ScriptedResponse(status: .found, headers: [.location: "/new?secret=1"]))
            transport.on(.get, "/new", ScriptedResponse())
            let (agent, _) = agent(.info)
            _ = try await agent.start(RequestDescription(endpoint: "GetUser", url: "/old"))
                .response()
            #expect(
                recorder.lines.last?.text
                    == "GetUser GET api.example.com/new → 200 in 0 ms, 0 B, network")
            let metadata = try #require(recorder.lines.last?.metadata)
            #expect(metadata["http.request.resend_count"] == "1")
            #expect(metadata["url.full"] == "https://api.example.com/new?secret=REDACTED")
        }

        @Test func joinedRequestHasALineOfItsOwn() async throws {
            let gate = Gate()
            transport.on(
                .get, "/users", ScriptedResponse(steps: [.hold(gate), .head(.init(status: .ok))]))
            let events = EventRecorder()
            let (agent, _) = agent { $0.eventListeners.append(events) }
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            description.sending.duplicates = .join
            let first = agent.start(description)
            try await gate.reached()
            let second = agent.start(description)
            _ = try await events.next { if case .joined = $0.kind { true } else { false } }
            gate.open()
            _ = try await first.response()
            _ = try await second.response()
            let lines = recorder.lines.filter { $0.level == .info }.map(\.text)
            #expect(
                lines.sorted() == [
                    "GetUser GET api.example.com/users → 200 in 0 ms, 0 B, joined",
                    "GetUser GET api.example.com/users → 200 in 0 ms, 0 B, network",
                ])
        }

        /// Ended, cancelled, joined and refused requests leave nothing behind.
        @Test func nothingIsKeptAfterTenThousandRequests() async throws {
            transport.on(.get, "/users", ScriptedResponse())
            transport.on(.get, "/silent", .silence)
            let (agent, listener) = agent(.critical)
            let names = ["/users", "/silent", "/missing"]
            for round in 0..<100 {
                var tasks: [RequestTask] = []
                for number in 0..<100 {
                    var description = RequestDescription(
                        endpoint: "GetUser", url: EndpointURL(raw: names[number % names.count]))
                    if number % 2 == 0 { description.sending.duplicates = .join }
                    tasks.append(agent.start(description))
                }
                #expect(listener.openRecords > 0)
                for (number, task) in tasks.enumerated()
                where number % names.count == 1 || round % 10 == 9 {
                    task.cancel()
                }
                for task in tasks { await task.untilEnded() }
            }
            await agent.shutdown()
            // Events of a transfer may keep their request a moment longer.
            while listener.openRecords > 0 { await Task.yield() }
        }

        @Test func problemOfTheStoreIsAWarning() throws {
            let error = RequestError(.storeFailed, stage: .cache, "It cannot be opened.")
            let message = try #require(LogMessage(.storeProblem(error)))
            #expect(message.level == .warning)
            #expect(message.text.contains("It cannot be opened."))
        }
    }
#endif
