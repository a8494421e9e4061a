#if os(Linux)
    import Errand
    import ErrandCurl
    import ErrandRecording
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import TestSupport
    import Testing

    /// Archives in Chromium's developer tools, and archives that they have exported.
    @Suite("Real peers: archives in Chromium", .limited)
    struct ChromiumArchiveTests {
        /// A request as the developer tools show it.
        private struct Shown: Decodable, Equatable {
            var method: String
            var url: String
            var status: Int
            var type: String?
            var duration: Double
            var fromCache: Bool
            var messages: [String]
            var content: String?
        }

        private let image = Data((0...255).map { UInt8($0) })

        private func server() async throws -> LoopbackServer {
            let server = LoopbackServer()
            server.route("/items") { request in
                LoopbackResponse(
                    status: 201, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"received":\#(request.body.count),"token":"hunter2"}"#.utf8))
            }
            server.route("/image") { [image] _ in
                LoopbackResponse(headers: ["Content-Type": "image/png"], body: image)
            }
            try await server.start()
            return server
        }

        private func run(
            _ request: TransportRequest, _ transport: any Transport
        ) async throws -> RecordingReceiver.Record {
            let receiver = RecordingReceiver()
            _ = transport.start(request, receiver: receiver)
            return try await receiver.ended()
        }

        /// Imports the archive into Chromium, and exports it again.
        private func export(_ file: URL, to exported: URL) async throws -> [Shown] {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            let output = exported.deletingLastPathComponent().appendingPathComponent("shown.json")
            let (ends, continuation) = AsyncStream.makeStream(of: TestProcess.End.self)
            try TestProcess.start(
                [
                    root.appendingPathComponent("Scripts/peers/har-in-chromium").path, file.path,
                    exported.path,
                ], ProcessInfo.processInfo.environment, output: output.path
            ) {
                continuation.yield($0)
                continuation.finish()
            }
            for await end in ends {
                let text = try Data(contentsOf: output)
                #expect(end == .exit(EXIT_SUCCESS), "\(String(decoding: text, as: UTF8.self))")
                return try JSONDecoder().decode([Shown].self, from: text)
            }
            throw CancellationError()
        }

        @Test func archiveIsImportedAndTheExportedOneIsReplayed() async throws {
            let file = try TemporaryFile(name: "session.har")
            let exported = file.url.deletingLastPathComponent().appendingPathComponent(
                "chromium.har")
            let server = try await server()
            let recorder = try HARRecorder(writingTo: file.url)
            let transport = recorder.transport(over: CurlTransport())
            let requests = [
                TransportRequest(
                    method: .post, url: try HTTPURL(parsing: server.url("/items?page=1")),
                    body: .string(#"{"a":1}"#, contentType: "application/json")),
                TransportRequest(url: try HTTPURL(parsing: server.url("/image"))),
            ]
            for request in requests {
                #expect(try await run(request, transport).end?.error == nil)
            }
            try await recorder.finish()
            transport.shutDown()
            await server.stop()

            let shown = try await export(file.url, to: exported)
            let entries = try HAR(contentsOf: file.url).log.entries
            #expect(shown.map(\.method) == ["POST", "GET"])
            #expect(shown.map(\.url) == entries.map(\.request.url))
            #expect(shown.map(\.status) == [201, 200])
            #expect(shown.map(\.type) == ["application/json", "image/png"])
            #expect(
                shown.map(\.content) == [
                    #"{"received":7,"token":"REDACTED"}"#, image.base64EncodedString(),
                ])
            for (shown, entry) in zip(shown, entries) {
                #expect(abs(shown.duration - entry.time) < 0.001)
            }

            let cassette = try CassetteTransport(exported, mode: .replay)
            let item = try await run(requests[0], cassette)
            #expect(item.head?.status == .created)
            #expect(item.body == Data(#"{"received":7,"token":"REDACTED"}"#.utf8))
            #expect(try await run(requests[1], cassette).body == image)
            #expect(cassette.unusedRecordings.isEmpty)
        }

        final class Chat: BaseRequest, MessageEndpoint {
            typealias Incoming = Data
            typealias Outgoing = String
            override var url: EndpointURL { "echo?token=chromium" }
        }

        /// A WebSocket of the package websockets: the developer tools show its messages, and export them as they were.
        @Test func messagesOfWebSocketsAreImportedAndExported() async throws {
            let file = try TemporaryFile(name: "session.har")
            let exported = file.url.deletingLastPathComponent().appendingPathComponent(
                "chromium.har")
            let recorder = try HARRecorder(writingTo: file.url)
            var configuration = Configuration()
            configuration.baseURL = EndpointURL(
                raw: "ws://127.0.0.1:\(try Peers.get().port(.webSocket))")
            let transport = recorder.transport(over: CurlTransport())
            let agent = RequestAgent(configuration: configuration, transport: transport)
            let socket = try await Chat().connect(on: agent)
            // Long enough to be compressed.
            let text = String(repeating: "compressed ", count: 100)
            let lines = [#"{"token":"hunter2","text":"€"}"#, text]
            var messages = socket.messages.makeAsyncIterator()
            for line in lines {
                try await socket.send(line)
                #expect(try await messages.next() == Data(line.utf8))
            }
            socket.close()
            #expect(try await messages.next() == nil)
            await socket.task.untilEnded()
            try await recorder.finish()
            transport.shutDown()

            let shown = try await export(file.url, to: exported)
            let secret = #"{"token":"REDACTED","text":"€"}"#
            #expect(
                shown.map(\.messages) == [
                    [
                        "send 1 \(secret)", "receive 1 \(secret)", "send 1 \(text)",
                        "receive 1 \(text)",
                    ]
                ])
            let (own, chromiums) = (try HAR(contentsOf: file.url), try HAR(contentsOf: exported))
            let (entry, copy) = (try #require(own.log.entries.first), chromiums.log.entries.first)
            #expect(entry.resourceType == "websocket" && copy?.resourceType == "websocket")
            #expect(copy?.webSocketMessages?.map(\.data) == entry.webSocketMessages?.map(\.data))
            #expect(copy?.webSocketMessages?.map(\.opcode) == [1, 1, 1, 1])
            let times = zip(copy?.webSocketMessages ?? [], entry.webSocketMessages ?? [])
            #expect(times.allSatisfy { abs($0.time - $1.time) < 0.001 })
        }
    }
#endif
