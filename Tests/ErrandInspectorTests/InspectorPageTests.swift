#if Inspector && os(Linux)
    import ErrandCore
    import ErrandTesting
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandInspector

    /// The page in headless Chromium: Scripts/peers/inspector-in-chromium uses it, and checks what it shows.
    ///
    /// With `ERRAND_INSPECTOR_SCREENSHOTS` it also writes the screenshots of the documentation to that folder; see
    /// Scripts/inspector-screenshots.
    @Suite("Inspector: page in Chromium", .limited)
    struct InspectorPageTests {
        private var script: URL {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            return root.appendingPathComponent("Scripts/peers/inspector-in-chromium")
        }

        /// Runs the script; returns its status and its output.
        private func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = script
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            let ended = AsyncStream<Int32>.makeStream()
            process.terminationHandler = {
                ended.continuation.yield($0.terminationStatus)
                ended.continuation.finish()
            }
            try process.run()
            var status: Int32 = -1
            for await value in ended.stream { status = value }
            let text = String(
                decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            return (status, text)
        }

        @Test func pageShowsAndChangesRequests() async throws {
            let (transport, clock) = (ScriptedTransport(), ManualClock())
            transport.on(nil, nil, .json(#"{"from":"server"}"#))
            var configuration = Configuration(baseURL: "https://api.example.com")
            configuration.limits = RequestLimits(total: 2, perHost: 2)
            configuration.circuitBreaker = CircuitBreakerPolicy(failures: 2)
            let agent = RequestAgent(
                configuration: configuration, transport: transport, clock: clock)
            var options = Inspector.Options()
            options.printsURL = false
            options.isEnabledInReleaseBuilds = true
            options.maximumRequests = 10_000
            let inspector = try await Inspector.start(agent, options: options)
            let traffic = DemoTraffic(inspector.recorder, clock)

            // The script controls the app through this server.
            let server = LoopbackServer()
            server.route("/start") { request in
                var description = RequestDescription(endpoint: "LiveRequest", url: "/live")
                description.cacheSeconds = 600
                description.ignoresCache = true
                agent.start(description)
                return LoopbackResponse(body: "started")
            }
            server.route("/silent") { _ in
                transport.on(.get, "/silent", .silence)
                for _ in 0..<4 {
                    agent.start(RequestDescription(endpoint: "SlowRequest", url: "/silent"))
                }
                return LoopbackResponse(body: "started")
            }
            server.route("/fail") { _ in
                let error = RequestError(.connectionLost, stage: .transport, "Lost.")
                transport.on(.get, "/fail", .failure(error))
                for _ in 0..<2 {
                    var description = RequestDescription(
                        endpoint: "GetStatus", url: "https://status.example.net/fail")
                    description.uses.remove(.cookies)
                    agent.start(description)
                }
                return LoopbackResponse(body: "started")
            }
            server.route("/cancel") { _ in
                agent.cancelAll()
                return LoopbackResponse(body: "cancelled")
            }
            server.route("/tour") { _ in
                traffic.tour()
                return LoopbackResponse(body: "recorded")
            }
            server.route("/burst") { _ in
                traffic.burst(10_000)
                return LoopbackResponse(body: "recorded")
            }
            server.route("/socket") { _ in
                traffic.openSocket()
                return LoopbackResponse(body: "open")
            }
            server.route("/message") { _ in
                traffic.exchange(.sent, "late message")
                return LoopbackResponse(body: "sent")
            }
            server.route("/flood") { _ in
                for number in 0..<1500 { traffic.exchange(.received, "flood \(number)") }
                return LoopbackResponse(body: "sent")
            }
            server.route("/close") { _ in
                traffic.closeSocket()
                return LoopbackResponse(body: "closed")
            }
            server.route("/last") { _ in
                let last = transport.requests.last
                return LoopbackResponse(
                    body: "\(last?.method.rawValue ?? "") \(last?.url.string ?? "") "
                        + (last?.headers[.authorization] ?? ""))
            }
            try await server.start()
            var arguments = [inspector.url.absoluteString, server.url("")]
            if let folder = ProcessInfo.processInfo.environment["ERRAND_INSPECTOR_SCREENSHOTS"] {
                arguments.append(folder)
            }
            let (status, output) = try await run(arguments)
            #expect(status == 0, "\(output)")
            agent.cancelAll()
            await inspector.stop()
            await server.stop()
        }
    }
#endif
