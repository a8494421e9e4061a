import ErrandCore
import ErrandCurl
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited) struct CassetteTests {
    private let folder: Folder
    private let network = ScriptedTransport(name: "network")
    private var file: URL { folder.url.appendingPathComponent("test.har") }

    init() throws { folder = try Folder() }

    private func request(
        _ method: HTTPMethod = .get, _ path: String, _ json: String? = nil
    ) throws -> TransportRequest {
        TransportRequest(
            method: method, url: try HTTPURL(parsing: "https://api.example.com" + path),
            body: json.map { .string($0, contentType: "application/json") })
    }

    @discardableResult
    private func run(
        _ request: TransportRequest, _ transport: CassetteTransport
    ) async throws -> RecordingReceiver.Record {
        let receiver = RecordingReceiver()
        _ = transport.start(request, receiver: receiver)
        let record = try await receiver.ended()
        #expect(record.violations.isEmpty && record.ends == 1)
        return record
    }

    /// Records requests with the scripted network.
    private func record(
        _ requests: [TransportRequest], _ options: CassetteTransport.Options = .init()
    ) async throws {
        let cassette = try CassetteTransport(file, mode: .record(over: network), options: options)
        for request in requests { try await run(request, cassette) }
        try await cassette.finish()
    }

    private func replay(
        _ change: (inout CassetteTransport.Options) -> Void = { _ in }
    ) throws -> CassetteTransport {
        var options = CassetteTransport.Options()
        change(&options)
        return try CassetteTransport(file, mode: .replay, options: options)
    }

    private func text(_ record: RecordingReceiver.Record) -> String {
        String(decoding: record.body, as: UTF8.self)
    }

    /// A cassette has responses, and no conversations: a WebSocket is refused before anything is sent.
    @Test func webSocketIsRefused() async throws {
        let cassette = try CassetteTransport(file, mode: .record(over: network))
        var request = try request(.get, "/socket")
        try cassette.check(request)
        request.options.isUpgrade = true
        let error = #expect(throws: RequestError.self) { try cassette.check(request) }
        #expect(error?.code == .unsupported && error?.message.contains("/socket") == true)
    }

    /// A WebSocket works through a transport that records, which gets its 101 and its bytes.
    @Test func recordedWebSocketWorks() async throws {
        network.on(
            .get, "/socket",
            .webSocket {
                $0.send("one"); $0.expectClose()
            })
        let recorded = Mutex<[RecordedTransfer]>([])
        let transport = RecordingTransport(
            network, limit: 1_000, memory: RecordingMemory(limit: 10_000)
        ) { transfer in recorded.withLock { $0.append(transfer) } }
        var request = try request(.get, "/socket")
        request.headers[.upgrade] = "websocket"
        request.headers[.secWebSocketKey] = "dGhlIHNhbXBsZSBub25jZQ=="
        let owner = RecordingOwner(extendedProtocol: "websocket")
        _ = transport.start(request, receiver: owner)
        _ = try await owner.until { $0.input == Data([0x81, 3] + Array("one".utf8)) }
        // A masked close frame without a code.
        owner.sending.yield(Data([0x88, 0x80, 1, 2, 3, 4]))
        owner.sending.finish()
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends.first?.error == nil && record.hasInputEnded)
        #expect(record.heads.first?.headers[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(recorded.withLock { $0.count } == 1 && network.failures == [])
    }

    /// A number that is no status, in a file that was edited or damaged, fails the transfer and not the process.
    @Test(arguments: ["1000", "-1", "99", "9223372036854775807"])
    func invalidStatusIsAnError(status: String) async throws {
        network.on(.get, "/a", ScriptedResponse(body: Data("{}".utf8)))
        try await record([request(.get, "/a")])
        let text = try String(contentsOf: file, encoding: .utf8)
        let changed = text.replacingOccurrences(
            of: #""status"\s*:\s*200"#, with: #""status":\#(status)"#, options: .regularExpression)
        #expect(changed != text)
        try changed.write(to: file, atomically: true, encoding: .utf8)
        let record = try await run(request(.get, "/a"), replay())
        let error = try #require(record.end?.error)
        #expect(error.code == .fileFailed && error.message.contains("status"))
    }

    // MARK: - Connections

    @Test func connectionsOfTheRecordingTransportAreReported() async throws {
        let server = LoopbackServer()
        server.route("/a") { _ in LoopbackResponse(body: "{}") }
        try await server.start()
        let events = EventRecorder()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = [events]
        let cassette = try CassetteTransport(file, mode: .record(over: CurlTransport()))
        let agent = RequestAgent(configuration: configuration, transport: cassette, store: nil)
        _ = try await agent.start(RequestDescription(endpoint: "A", url: "/a")).response()
        #expect(events.names.contains("connectionOpened"))
        let opened = try await events.untilConnections { !$0.isEmpty }
        #expect(opened.map(\.transport) == ["curl"])
        #expect(cassette.connectionReports.openConnections == 1)
        await server.stop()
        try await cassette.finish()
    }

    @Test func replayHasNoConnections() async throws {
        try await record([])
        let cassette = try replay()
        #expect(cassette.connectionReports.openConnections == 0)
    }

    // MARK: - Recording and replaying

    @Test func replayDeliversWhatWasRecorded() async throws {
        let bytes = Data([0, 254, 255])
        network.on(
            .get, "/image",
            ScriptedResponse(
                status: .ok, headers: [.contentType: "image/png", .eTag: "\"1\""], body: bytes))
        network.on(.post, "/items", .json(#"{"id":1}"#, status: .created))
        var trailed = ScriptedResponse(status: .ok, body: Data("a".utf8))
        trailed.trailers = [.init("X-Sum")!: "4"]
        network.on(.get, "/trailed", trailed)
        try await record([
            request(.get, "/image"), request(.post, "/items", #"{"a":1}"#),
            request(.get, "/trailed"),
        ])
        let cassette = try replay()
        let created = try await run(request(.post, "/items", #"{"a":1}"#), cassette)
        #expect(created.head?.status == .created)
        #expect(created.head?.headers[.contentType] == "application/json")
        #expect(text(created) == #"{"id":1}"#)
        let image = try await run(request(.get, "/image"), cassette)
        #expect(image.body == bytes)
        #expect(image.head?.headers[.eTag] == "\"1\"")
        #expect(cassette.unusedRecordings == ["GET https://api.example.com/trailed"])
        let last = try await run(request(.get, "/trailed"), cassette)
        #expect(last.end?.trailers == [.init("X-Sum")!: "4"])
        #expect(cassette.unusedRecordings.isEmpty && cassette.failures.isEmpty)
        #expect(network.requestCount == 3)
    }

    @Test func missingRecordingsAreAddedToTheCassette() async throws {
        network.on(.get, "/a", .json("1"), .json("2"))
        network.on(.get, "/b", .json("3"))
        for expected in [["1"], ["1", "3"], ["1", "3"]] {
            let cassette = try CassetteTransport(file, mode: .replayOrRecord(over: network))
            for (path, body) in zip(["/a", "/b"], expected) {
                #expect(text(try await run(request(.get, path), cassette)) == body)
            }
            try await cassette.finish()
        }
        #expect(network.requestCount == 2)
        #expect(try HAR(contentsOf: file).log.entries.count == 2)
    }

    @Test func recordingReplacesTheCassette() async throws {
        network.on(.get, "/a", .json("1"), .json("2"))
        try await record([request(.get, "/a")])
        try await record([request(.get, "/a")])
        #expect(text(try await run(request(.get, "/a"), replay())) == "2")
        #expect(try HAR(contentsOf: file).log.entries.count == 1)
    }

    @Test func endpointsAreReplayedThroughTheWholePipeline() async throws {
        let server = LoopbackServer()
        server.route("/old") { _ in
            LoopbackResponse(status: 302, headers: ["Location": "/new"])
        }
        server.route("/new") { _ in LoopbackResponse(body: #"{"nick":"amelia"}"#) }
        try await server.start()
        let base = server.baseURL
        for mode in [CassetteTransport.Mode.record(over: CurlTransport()), .replay] {
            let cassette = try CassetteTransport(file, mode: mode)
            let agent = RequestAgent(
                configuration: Configuration(baseURL: base), transport: cassette)
            let response = try await agent.start(
                RequestDescription(endpoint: "Get", url: "/old")
            ).response()
            #expect(response.json["nick"].string == "amelia")
            #expect(response.url.path == "/new")
            try await cassette.finish()
            await agent.shutdown()
            await server.stop()
        }
    }

    @Test func errorsOfTheNetworkAreReplayed() async throws {
        network.on(
            .get, "/a",
            .failure(RequestError(.cannotFindHost, stage: .transport, "No such host.")))
        network.on(
            .get, "/b",
            ScriptedResponse(steps: [
                .head(ResponseHead(status: .ok)), .bytes(Data("ha".utf8)),
                .fail(RequestError(.truncatedBody, stage: .transport, "Half.")),
            ]))
        try await record([request(.get, "/a"), request(.get, "/b")])
        let cassette = try replay()
        let failed = try await run(request(.get, "/a"), cassette)
        #expect(failed.end?.error?.code == .cannotFindHost)
        #expect(failed.end?.error?.message == "No such host.")
        let half = try await run(request(.get, "/b"), cassette)
        #expect(text(half) == "ha" && half.end?.error?.code == .truncatedBody)
    }

    @Test func bodyThatIsNotRecordedIsAnError() async throws {
        network.on(.get, "/a", .json(#"{"broken"#))
        let cassette = try CassetteTransport(file, mode: .record(over: network))
        try await run(request(.get, "/a"), cassette)
        let error = await #expect(throws: RequestError.self) { try await cassette.finish() }
        #expect(error?.message.contains("GET https://api.example.com/a") == true)
        let replayed = try await run(request(.get, "/a"), replay())
        #expect(replayed.end?.error?.code == .fileFailed)
        #expect(replayed.head == nil)
    }

    // MARK: - Matching

    @Test func unmatchedRequestNamesTheNearestRecording() async throws {
        network.on(nil, nil, .json("1"))
        try await record([
            request(.get, "/users?page=1"), request(.post, "/items", #"{"a":1}"#),
        ])
        let cassette = try replay()
        let record = try await run(request(.post, "/items?x=1", #"{"a":2}"#), cassette)
        let error = try #require(record.end?.error)
        #expect(error.code == .unsupported)
        #expect(
            error.message
                == "test.har has no recording for POST https://api.example.com/items?…. The nearest recording is "
                + "POST https://api.example.com/items. The query and the body differ.")
        let other = try await run(request(.put, "/users?page=1"), cassette)
        #expect(
            other.end?.error?.message.hasSuffix(
                "GET https://api.example.com/users?…. The method differs.") == true)
        #expect(
            cassette.failures == [
                "POST https://api.example.com/items?…", "PUT https://api.example.com/users?…",
            ])
        #expect(cassette.unusedRecordings.count == 2)
    }

    @Test func argumentsAndMembersMatchInAnyOrder() async throws {
        network.on(nil, nil, .json("1"))
        try await record([request(.post, "/a?x=1&y=2", #"{"a":1,"b":[2,3]}"#)])
        let cassette = try replay { $0.matching.repeatsLast = true }
        for (path, body, matches) in [
            ("/a?y=2&x=1", #"{ "b": [2, 3], "a": 1 }"#, true),
            ("/a?y=2&x=1", #"{"a":1,"b":[3,2]}"#, false),
            ("/a?y=2", #"{"a":1,"b":[2,3]}"#, false),
            ("/a?x=1&y=2&y=2", #"{"a":1,"b":[2,3]}"#, false),
        ] {
            let record = try await run(request(.post, path, body), cassette)
            #expect((record.end?.error == nil) == matches, "\(path) \(body)")
        }
    }

    @Test func recordingIsUsedOnceUnlessItMayRepeat() async throws {
        network.on(.get, "/a", .json("1"), .json("2"))
        try await record([request(.get, "/a"), request(.get, "/a")])
        let once = try replay()
        let repeating = try replay { $0.matching.repeatsLast = true }
        for expected in ["1", "2"] {
            #expect(text(try await run(request(.get, "/a"), once)) == expected)
            #expect(text(try await run(request(.get, "/a"), repeating)) == expected)
        }
        let third = try await run(request(.get, "/a"), once)
        #expect(third.end?.error?.message.contains("was used already") == true)
        #expect(text(try await run(request(.get, "/a"), repeating)) == "2")
    }

    @Test func orderIsRequiredIfAsked() async throws {
        network.on(nil, nil, .json("1"))
        try await record([request(.get, "/a"), request(.get, "/b")])
        let cassette = try replay { $0.matching.requiresOrder = true }
        let early = try await run(request(.get, "/b"), cassette)
        #expect(
            early.end?.error?.message.contains(
                "The next recording is GET https://api.example.com/a. The path differs.") == true)
        #expect(try await run(request(.get, "/a"), cassette).end?.error == nil)
        #expect(try await run(request(.get, "/b"), cassette).end?.error == nil)
        let late = try await run(request(.get, "/b"), cassette)
        #expect(late.end?.error?.message.contains("All 2 recordings were used already.") == true)
    }

    @Test func rulesSelectWhatIsCompared() async throws {
        network.on(nil, nil, .json("1"))
        var sent = try request(.post, "/a?time=1", #"{"nonce":1,"x":{"nonce":2}}"#)
        sent.headers[.accept] = "text/html"
        try await record([sent])
        var other = try request(.post, "/a?time=2", #"{"nonce":7,"x":{"nonce":8}}"#)
        other.url.host = "staging.example.com"
        other.headers[.accept] = "text/plain"
        let rules: [(Bool, (inout CassetteMatching) -> Void)] = [
            (true, { ($0.comparesHosts, $0.ignoredNames) = (false, ["time", "nonce"]) }),
            (false, { $0.ignoredNames = ["time", "nonce"] }),
            (false, { ($0.comparesHosts, $0.ignoredNames) = (false, ["time"]) }),
            (
                true,
                {
                    ($0.comparesHosts, $0.ignoredNames, $0.comparesBodies) = (
                        false, ["time"], false
                    )
                }
            ),
            (
                false,
                {
                    ($0.comparesHosts, $0.ignoredNames, $0.headers) = (
                        false, ["time", "nonce"], ["ACCEPT"]
                    )
                }
            ),
        ]
        for (index, (matches, rule)) in rules.enumerated() {
            let record = try await run(other, replay { rule(&$0.matching) })
            #expect((record.end?.error == nil) == matches, "rule \(index)")
        }
    }

    // MARK: - Secrets and placeholders

    @Test func secretsAreReplacedAndStillMatch() async throws {
        network.on(nil, nil, .json(#"{"token":"hunter2"}"#))
        var sent = try request(.post, "/login?token=hunter2", #"{"password":"hunter2"}"#)
        sent.headers[.authorization] = "Bearer hunter2"
        try await record([sent])
        #expect(!(try String(contentsOf: file, encoding: .utf8)).contains("hunter2"))
        var other = try request(.post, "/login?token=other", #"{"password":"other"}"#)
        other.headers[.authorization] = "Bearer other"
        let record = try await run(other, replay { $0.matching.headers = ["Authorization"] })
        #expect(text(record) == #"{"token":"REDACTED"}"#)
    }

    @Test func placeholdersHaveThePresentValues() async throws {
        network.on(
            nil, nil,
            ScriptedResponse(
                status: .ok, headers: [.contentType: "application/json", .location: "/u/anna b"],
                body: Data(#"{"token":"t-1","user":"anna b"}"#.utf8)))
        var options = CassetteTransport.Options()
        options.placeholders = ["token": "t-1", "user": "anna b"]
        var sent = try request(.get, "/u/anna%20b?token=t-1")
        sent.headers[.authorization] = "Bearer t-1"
        try await record([sent], options)
        let written = try String(contentsOf: file, encoding: .utf8)
        #expect(!written.contains("t-1") && !written.contains("anna"))

        options.placeholders = ["token": "t-2", "user": "ben"]
        options.matching.headers = ["authorization"]
        var other = try request(.get, "/u/ben?token=t-2")
        other.headers[.authorization] = "Bearer t-2"
        let record = try await run(other, CassetteTransport(file, mode: .replay, options: options))
        #expect(text(record) == #"{"token":"t-2","user":"ben"}"#)
        #expect(record.head?.headers[.location] == "/u/ben")
    }

    // MARK: - Streams, cancellation, files

    @Test func streamedRequestBodiesAreCompared() async throws {
        network.on(nil, nil, .json("1"))
        func streamed(_ text: String) throws -> TransportRequest {
            var request = try request(.post, "/a")
            request.body = .stream(contentType: "text/plain") {
                AsyncStream { continuation in
                    for character in text { continuation.yield(Data(String(character).utf8)) }
                    continuation.finish()
                }
            }
            return request
        }
        let cassette = try CassetteTransport(file, mode: .replayOrRecord(over: network))
        try await run(streamed("abc"), cassette)
        try await cassette.finish()
        #expect(try await network.requests[0].collectedBody() == Data("abc".utf8))
        #expect(try await run(streamed("abc"), replay()).end?.error == nil)
        #expect(try await run(streamed("abd"), replay()).end?.error?.code == .unsupported)
    }

    @Test func cancelledWhileTheBodyIsReadEndsOnce() async throws {
        network.on(nil, nil, .json("1"))
        try await record([request(.post, "/a", "{}")])
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        var sent = try request(.post, "/a")
        sent.body = .stream { stream }
        let receiver = RecordingReceiver()
        let transfer = try replay().start(sent, receiver: receiver)
        transfer.cancel()
        let record = try await receiver.ended()
        #expect(record.end?.error?.code == .cancelled)
        continuation.finish()
        transfer.cancel()
        #expect(receiver.record.ends == 1)
    }

    @Test func shutDownEndsRequests() async throws {
        network.on(nil, nil, .json("1"))
        try await record([request(.get, "/a")])
        let cassette = try replay()
        cassette.shutDown()
        #expect(try await run(request(.get, "/a"), cassette).end?.error?.code == .agentShutDown)
    }

    @Test func missingCassetteIsAnError() {
        let error = #expect(throws: RequestError.self) {
            try CassetteTransport("missing.har", mode: .replay)
        }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains("missing.har") == true)
    }

    @Test func relativePathBeginsAtTheSourceFile() throws {
        let source = folder.url.appendingPathComponent("Tests.swift").path
        let cassette = try CassetteTransport(
            "Cassettes/a.har", mode: .record(over: network), sourceFile: source)
        #expect(cassette.file.path == folder.url.appendingPathComponent("Cassettes/a.har").path)
        #expect(FileManager.default.fileExists(atPath: cassette.file.path))
    }
}
