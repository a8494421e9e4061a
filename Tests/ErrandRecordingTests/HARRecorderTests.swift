import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandRecording

@Suite(.limited) struct HARRecorderTests {
    private let folder: Folder
    private var file: URL { folder.url.appendingPathComponent("session.har") }

    init() throws { folder = try Folder() }

    private func entries() throws -> [HAR.Entry] { try HAR(contentsOf: file).log.entries }

    /// A named pipe would block the reader, and a folder has no bytes.
    @Test(arguments: [PlantedFile.pipe, .folder, .danglingLink]) func archivesAreRegularFiles(
        _ planted: PlantedFile
    ) throws {
        try planted.plant(at: file)
        let error = #expect(throws: RequestError.self) { try HAR(contentsOf: file) }
        #expect(error?.code == .fileFailed && error?.message.contains("session.har") == true)
    }

    @Test(arguments: PlantedFile.possible.filter { $0 != .folder })
    func archiveReplacesPlantedFilesAsAWhole(_ planted: PlantedFile) async throws {
        try planted.plant(at: file)
        let recorder = try HARRecorder(writingTo: file)
        try await recorder.finish()
        #expect(try entries().isEmpty && planted.victimIsIntact(beside: file))
    }

    private func request(_ path: String, _ body: HTTPBody? = nil) -> TransportRequest {
        var request = TransportRequest(
            method: body == nil ? .get : .post,
            url: HTTPURL(scheme: "https", host: "api.example.com", path: path))
        request.body = body
        return request
    }

    /// Performs one request through a recorder, and returns its entry.
    private func record(
        _ request: TransportRequest, _ response: ScriptedResponse,
        _ options: HARRecorder.Options = HARRecorder.Options()
    ) async throws -> HAR.Entry {
        let recorder = try HARRecorder(writingTo: file, options: options)
        let transport = ScriptedTransport()
        transport.on(nil, nil, response)
        let receiver = RecordingReceiver()
        _ = recorder.transport(over: transport).start(request, receiver: receiver)
        let record = try await receiver.ended()
        #expect(record.violations.isEmpty)
        try await recorder.finish()
        return try #require(try entries().first)
    }

    // MARK: - Whole requests

    @Test func redirectsRetriesAndStoredResponsesAreEntries() async throws {
        let recorder = try HARRecorder(writingTo: file)
        let transport = ScriptedTransport()
        transport.on(
            .get, "/old", ScriptedResponse(status: .found, headers: [.location: "/new?token=t"]))
        transport.on(
            .get, "/new", ScriptedResponse(status: .serviceUnavailable), .json(#"{"id":7}"#))
        var configuration = Configuration(baseURL: "https://api.example.com")
        configuration.interceptors = [recorder]
        configuration.retryPolicy = .attempts(2)
        configuration.retryPolicy.baseDelay = .zero
        let agent = RequestAgent(
            configuration: configuration, transport: recorder.transport(over: transport),
            store: MemoryResponseStore())
        var description = RequestDescription(endpoint: "GetItem", url: "/old")
        description.cacheSeconds = 60
        _ = try await agent.start(description).response()
        await agent.flushCache()
        let second = try await agent.start(description).response()
        #expect(second.isFromCache)
        try await recorder.finish()

        let entries = try entries()
        #expect(entries.map(\.response.status) == [302, 503, 302, 200, 200])
        #expect(entries.first?.response.redirectURL == "/new?token=REDACTED")
        #expect(entries.map(\.fromCache) == [nil, nil, nil, nil, "disk"])
        #expect(entries.last?.cache.beforeRequest?.comment == "cacheFresh")
        #expect(entries.last?.response.content.text == #"{"id":7}"#)
    }

    @Test func fileIsCompleteAfterEachEntryAndPrivate() async throws {
        let recorder = try HARRecorder(writingTo: file)
        #expect(try entries().isEmpty)
        let transport = ScriptedTransport()
        transport.on(nil, nil, .json("1"))
        let recording = recorder.transport(over: transport)
        for count in 1...3 {
            let receiver = RecordingReceiver()
            _ = recording.start(request("/\(count)"), receiver: receiver)
            _ = try await receiver.ended()
            try await recorder.flush()
            #expect(try entries().map(\.request.url).last == "https://api.example.com/\(count)")
            #expect(try entries().count == count)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        try await recorder.finish()
        try await recorder.finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names == ["session.har"])
    }

    @Test func secretsAreNotInTheFile() async throws {
        var sent = request(
            "/login",
            .string("password=hunter2&user=a", contentType: "application/x-www-form-urlencoded"))
        sent.url.query = "api_key=hunter2&page=1"
        sent.headers = [.authorization: "Bearer hunter2", .cookie: "sid=hunter2"]
        let entry = try await record(
            sent,
            ScriptedResponse(
                status: .ok,
                headers: [
                    .contentType: "application/json", .setCookie: "sid=hunter2; Path=/; HttpOnly",
                ],
                body: Data(#"{"access_token":"hunter2","name":"a"}"#.utf8)))
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("hunter2"))
        #expect(entry.request.queryString.map(\.value) == ["REDACTED", "1"])
        #expect(entry.request.cookies == [HAR.Cookie(name: "sid", value: "REDACTED")])
        #expect(entry.request.postData?.params?.map(\.value) == ["REDACTED", "a"])
        #expect(entry.response.cookies.first?.name == "sid")
        #expect(entry.response.cookies.first?.httpOnly == true)
        #expect(entry.response.content.text == #"{"access_token":"REDACTED","name":"a"}"#)
        #expect(entry.response.content.mimeType == "application/json")
    }

    // MARK: - Bodies

    @Test func bytesAreWrittenAsBase64() async throws {
        let bytes = Data([0, 255, 1])
        let entry = try await record(
            request("/a", .data(bytes)), ScriptedResponse(status: .ok, body: bytes))
        #expect(entry.response.content.encoding == "base64")
        #expect(entry.response.content.text == bytes.base64EncodedString())
        #expect(entry.request.postData?.text == bytes.base64EncodedString())
        #expect(entry.request.postData?.encoding == "base64")
        #expect(entry.request.bodySize == 3)
    }

    @Test func largeBodiesAreWithheldAndCounted() async throws {
        var options = HARRecorder.Options()
        options.maximumBodyBytes = 10
        let long = Data(repeating: 65, count: 11)
        let entry = try await record(
            request("/a", .data(long)), ScriptedResponse(status: .ok, body: long), options)
        #expect(entry.response.content.text == nil)
        #expect(entry.response.content.size == 11)
        #expect(entry.response.content.comment?.contains("limit of 10 bytes") == true)
        #expect(entry.request.postData?.text == nil)
        #expect(entry.request.postData?.comment?.contains("11 bytes exceeds") == true)
        let short = try await record(
            request("/a"), ScriptedResponse(status: .ok, body: long.dropLast()), options)
        #expect(short.response.content.text == "AAAAAAAAAA")
    }

    @Test func streamsFormsAndFilesOfRequestsAreRecorded() async throws {
        let stream = HTTPBody.stream(contentType: "text/plain") {
            AsyncStream { continuation in
                continuation.yield(Data("one ".utf8))
                continuation.yield(Data("two".utf8))
                continuation.finish()
            }
        }
        let server = LoopbackServer()
        server.route("/") { _ in LoopbackResponse(body: "done") }
        try await server.start()
        let recorder = try HARRecorder(writingTo: file)
        let transport = recorder.transport(over: CurlTransport())
        let upload = try TemporaryFile(Data("content".utf8))
        let form = HTTPBody.multipart(
            MultipartBody([
                .text("title", "Sunset"), .text("password", "x"), .file("photo", upload.url),
            ]))
        for body in [stream, .file(upload.url), form] {
            let receiver = RecordingReceiver()
            _ = transport.start(
                TransportRequest(
                    method: .post, url: try HTTPURL(parsing: server.url("/")), body: body),
                receiver: receiver)
            #expect(try await receiver.ended().end?.error == nil)
        }
        #expect(try await server.nextRequest().body == Data("one two".utf8))
        try await recorder.finish()
        transport.shutDown()
        await server.stop()
        let posts = try entries().map(\.request.postData)
        #expect(posts.map(\.?.text) == ["one two", "content", nil])
        let params = posts.last??.params ?? []
        #expect(params.map(\.name) == ["title", "password", "photo"])
        #expect(params.map(\.value) == ["Sunset", "REDACTED", "content"])
        #expect(params.last?.fileName == upload.url.lastPathComponent)
        #expect(params.map(\.size) == [nil, nil, 7])
    }

    /// All parts of a form together have the limit of one body.
    @Test func partsOfFormsBeyondTheLimitAreLeftOut() throws {
        let bytes = Data([0, 255, 7])
        let form = MultipartBody([
            MultipartBody.Part(
                name: "a", filename: "a.bin",
                body: .data(bytes, contentType: "application/octet-stream")),
            .text("b", "0123456"), .text("c", "0"),
        ])
        let writer = MessageWriter(rules: .standard, maximumBodyBytes: 9)
        let params = writer.request(
            request("/", .multipart(form)), streamedBody: nil, httpVersion: nil
        ).postData?.params
        #expect(params?.map(\.value) == [bytes.base64EncodedString(), nil, "0"])
        #expect(params?.map(\.encoding) == ["base64", nil, nil])
        #expect(params?.map(\.contentType).first == "application/octet-stream")
        #expect(params?[1].comment?.contains("exceeds the limit") == true)
    }

    @Test func interimResponsesAndConnectionsAreRecorded() async throws {
        let scripted = ScriptedTransport()
        var fields = HTTPFields()
        fields[.setCookie] = "a=secret"
        let hints = ResponseHead(status: HTTPResponse.Status(code: 103), headers: fields)
        scripted.on(
            nil, nil,
            ScriptedResponse(steps: [
                .informational(hints), .head(ResponseHead(status: .ok)), .bytes(Data("x".utf8)),
            ]),
            ScriptedResponse(
                steps: (0..<300).map { _ in .informational(hints) } + [
                    .head(ResponseHead(status: .ok))
                ]))
        let recorder = try HARRecorder(writingTo: file)
        let transport = recorder.transport(over: scripted)
        for _ in 0..<2 {
            let receiver = RecordingReceiver()
            _ = transport.start(request("/"), receiver: receiver)
            #expect(try await receiver.ended().informational.isEmpty == false)
        }
        try await recorder.finish()
        let recorded = try entries().map(\.interimResponses)
        #expect(recorded.first??.map(\.status) == [103])
        #expect(recorded.first??.first?.headers.map(\.value) == ["a=REDACTED"])
        #expect(recorded.last??.count == 100)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("_interimResponses"))
    }

    /// The agent observes the connections of the recorded transport.
    @Test func reportsOfConnectionsAreThoseOfTheOtherTransport() throws {
        let curl = CurlTransport()
        let recorder = try HARRecorder(writingTo: file)
        let recording = recorder.transport(over: curl) as? any ConnectionReporting
        #expect(recording?.connectionReports === curl.connectionReports)
        let other = recorder.transport(over: ScriptedTransport()) as? any ConnectionReporting
        #expect(other?.connectionReports.openConnections == 0)
    }

    @Test func memoryOfWrittenBodiesIsReleased() async throws {
        let memory = RecordingMemory(limit: 8)
        let recorded = Mutex<[RecordedTransfer]>([])
        let transport = ScriptedTransport()
        transport.on(nil, nil, ScriptedResponse(status: .ok, body: Data("12345".utf8)))
        let recording = RecordingTransport(transport, limit: 6, memory: memory) { transfer in
            recorded.withLock { $0.append(transfer) }
        }
        for _ in 0..<2 {
            let receiver = RecordingReceiver()
            _ = recording.start(request("/"), receiver: receiver)
            #expect(try await receiver.ended().received == 5)
        }
        let bodies = recorded.withLock { $0.map(\.body) }
        #expect(bodies.map(\.bytes.count) == [5, 0])
        #expect(bodies[1].problem?.contains("waiting to be written") == true)
        #expect(memory.bytesInUse == 5)
        memory.release(5)
        let receiver = RecordingReceiver()
        transport.on(
            nil, nil,
            ScriptedResponse(steps: [
                .head(ResponseHead(status: .ok)), .bytes(Data("1234".utf8)),
                .bytes(Data("567".utf8)),
            ]))
        _ = recording.start(request("/"), receiver: receiver)
        _ = try await receiver.ended()
        #expect(memory.bytesInUse == 0)
    }

    // MARK: - Failures

    @Test func failedRequestIsAnEntryWithItsError() async throws {
        let entry = try await record(
            request("/"),
            .failure(RequestError(.cannotConnect, stage: .transport, "Connection refused.")))
        #expect(entry.response.status == 0)
        #expect(entry.error == "cannotConnect")
        #expect(entry.comment == "Connection refused.")
    }

    @Test func fileThatCannotBeCreatedIsAnError() {
        let missing = folder.url.appendingPathComponent("missing/session.har")
        let error = #expect(throws: RequestError.self) { try HARRecorder(writingTo: missing) }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains(missing.path) == true)
    }

    @Test func entryThatCannotBeWrittenIsAnErrorAndEarlierOnesRemain() async throws {
        var archive = try HARFile(file)
        let entry = try await recordedEntry()
        try archive.append(entry)
        try archive.close()
        #expect(throws: (any Error).self) { try archive.append(entry) }
        #expect(try entries().count == 1)
    }

    private func recordedEntry() async throws -> HAR.Entry {
        MessageWriter(rules: .standard, maximumBodyBytes: 100)
            .entry(RecordedTransfer(request: request("/"), started: Date()))
    }

    // MARK: - Format

    @Test func timingsAreThePhases() {
        var timings = AttemptTimings()
        timings.queued = .milliseconds(2)
        timings.nameLookedUp = .milliseconds(5)
        timings.connected = .milliseconds(10)
        timings.secured = .milliseconds(30)
        timings.firstByte = .milliseconds(70)
        timings.finished = .milliseconds(75)
        let phases = HAR.Timings(timings)
        #expect(phases.blocked == 2)
        #expect(phases.dns == 3)
        #expect(phases.connect == 25)
        #expect(phases.ssl == 20)
        #expect(phases.wait == 40)
        #expect(phases.receive == 5)
        #expect(phases.total == 75)
        timings.reusedConnection = true
        let reused = HAR.Timings(timings)
        #expect([reused.dns, reused.connect, reused.ssl] == [-1, -1, -1])
        #expect(reused.total == 75)
    }

    @Test func requiredMembersAreWritten() async throws {
        _ = try await record(request("/a?x=1"), .json("{}"))
        let json = try JSON(parsing: Data(contentsOf: file))
        let shape = try JSONShape(jsonSchema: JSON(parsing: HARSchema.text))
        #expect(shape.faults(in: json).isEmpty)
    }

    @Test func archivesOfOtherToolsAreRead() throws {
        let text = """
            {"log":{"version":"1.2","creator":{"name":"tool","version":"1"},"pages":[],"entries":[{
            "startedDateTime":"2024-05-01T10:00:00.000Z","time":12.5,"_priority":"High",
            "request":{"method":"GET","url":"https://a.example/","httpVersion":"h2","headers":[]},
            "response":{"status":204,"statusText":"","content":{"size":0,"mimeType":""}},
            "cache":{},"timings":{"send":1,"wait":2,"receive":3}}]}}
            """
        try Data(text.utf8).write(to: file)
        let entry = try #require(try entries().first)
        #expect(entry.time == 12.5)
        #expect(entry.request.cookies.isEmpty && entry.request.bodySize == -1)
        #expect(entry.response.status == 204)
    }

    @Test func otherFileIsRefused() throws {
        try Data("[]".utf8).write(to: file)
        let error = #expect(throws: RequestError.self) { try HAR(contentsOf: file) }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains("session.har") == true)
    }
}

/// A temporary folder, removed with this object.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-recording-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
