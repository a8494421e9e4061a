#if Observability
    import ErrandCore
    import ErrandTesting
    import Logging
    import Synchronization
    import Testing

    @testable import ErrandObservability

    @Suite(.timeLimit(.minutes(5))) struct LoggingListenerTests {
        @Test func requestIsLoggedFromStartToEndWithoutSecrets() async throws {
            let recorder = LogRecorder()
            let transport = ScriptedTransport()
            transport.on(.get, "/users", .json(#"{"token":"hidden"}"#, status: .badGateway))
            var configuration = Configuration(baseURL: "https://api.example.com")
            configuration.eventListeners = [
                LoggingListener(
                    Logger(label: "test") { _ in RecordingLogHandler(recorder: recorder) })
            ]
            let agent = RequestAgent(configuration: configuration, transport: transport)
            var description = RequestDescription(endpoint: "GetUser", url: "/users")
            description.arguments = ["q": "hidden"]
            description.authorization = .bearer("hidden")
            await #expect(throws: RequestError.self) {
                try await agent.start(description).response()
            }
            let lines = recorder.lines
            #expect(lines.first == "debug GetUser started")
            #expect(lines.contains("debug GetUser attempt 1 received status 502"))
            let last =
                "warning GetUser failed: GET https://api.example.com/users: status 502 (expected "
            #expect(lines.last?.hasPrefix(last) == true)
            #expect(!lines.contains { $0.contains("hidden") })
        }

        @Test func problemOfTheStoreIsAWarning() {
            let error = RequestError(.storeFailed, stage: .cache, "It cannot be opened.")
            let message = LogMessage(.storeProblem(error))
            #expect(message.level == .warning)
            #expect(message.text.contains("It cannot be opened."))
        }
    }

    final class LogRecorder: Sendable {
        private let state = Mutex<[String]>([])
        var lines: [String] { state.withLock { $0 } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    struct RecordingLogHandler: LogHandler {
        let recorder: LogRecorder
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(recorder: LogRecorder) { self.recorder = recorder }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { recorder.add("\(event.level) \(event.message)") }
    }
#endif
