import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandObservability

#if canImport(Glibc)
    import Glibc
#endif

@Suite(.limited) struct RequestLogFileTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("errand-log-\(UUID().uuidString)/logs")

    private func remove() {
        try? FileManager.default.removeItem(at: folder.deletingLastPathComponent())
    }

    private func log(
        _ change: (inout RequestLogFile.Options) -> Void = { _ in }
    ) throws -> RequestLogFile {
        var options = RequestLogFile.Options()
        change(&options)
        return try RequestLogFile(
            folder: folder, options: options, now: { Date(timeIntervalSince1970: 1_700_000_000) })
    }

    /// Sends requests one after another, and waits until their events have been delivered.
    private func send(
        _ count: Int, _ log: RequestLogFile, url: String = "https://a.test/x?token=secret&page=2"
    ) async {
        let transport = ScriptedTransport()
        transport.on(nil, nil, .json("{}"))
        transport.on(nil, "/broken", ScriptedResponse(status: .badGateway))
        let agent = RequestAgent(
            configuration: {
                var configuration = Configuration()
                configuration.eventListeners = [log]
                return configuration
            }(), transport: transport)
        for number in 0..<count {
            var description = RequestDescription(
                endpoint: "Get\(number)", url: EndpointURL(raw: url))
            description.retryPolicy = RetryPolicy.none
            _ = await agent.start(description).outcome()
        }
        await agent.shutdown()
    }

    private func lines(_ file: URL) throws -> [[String: any Sendable]] {
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.utf8.last == 0x0A)
        return try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: any Sendable])
        }
    }

    @Test func eachRequestIsALineAfterTheHeader() async throws {
        defer { remove() }
        let log = try log {
            $0.header = ["app": "Mail", "log": "other"]
            $0.visibleQueryNames = ["page"]
            $0.members = { ["region": "eu", "level": "other", "note": "a\nb \($0.endpoint)"] }
        }
        #expect(try log.files() == [])
        await send(1, log)
        await send(1, log, url: "https://a.test:81/broken")
        #expect(log.problem == nil)
        let files = try log.files()
        try #require(files.count == 1)
        let lines = try lines(files[0])
        try #require(lines.count == 3)
        let time = "2023-11-14T22:13:20.000Z"
        #expect(lines[0] as? [String: String] == ["app": "Mail", "log": "errand", "time": time])
        #expect(lines[1]["level"] as? String == "info")
        #expect(lines[1]["time"] as? String == time)
        #expect(lines[1]["region"] as? String == "eu")
        #expect(lines[1]["note"] as? String == "a\nb Get0")
        #expect(lines[1]["http.response.status_code"] as? Int == 200)
        #expect(lines[1]["url.full"] as? String == "https://a.test/x?token=REDACTED&page=2")
        #expect((lines[1]["message"] as? String)?.hasPrefix("Get0 GET a.test/x → 200 in ") == true)
        #expect(lines[2]["level"] as? String == "warning")
        #expect(lines[2]["error.type"] as? String == "502")
        #expect(lines[2]["server.port"] as? Int == 81)
        let attributes = try FileManager.default.attributesOfItem(atPath: files[0].path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func filesAreBoundedInSizeAndNumber() async throws {
        defer { remove() }
        let log = try log {
            $0.maximumFileBytes = 4096
            $0.maximumFiles = 3
        }
        await send(80, log)
        let files = try log.files()
        #expect(files.count == 3)
        var endpoints: [String] = []
        for file in files {
            let lines = try lines(file)
            #expect(lines.first?["log"] as? String == "errand")
            endpoints += lines.dropFirst().compactMap { $0["errand.endpoint"] as? String }
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
            #expect((size ?? .max) < 4096 + 1024)
        }
        // The latest lines, in order.
        #expect(endpoints == (80 - endpoints.count..<80).map { "Get\($0)" })
        try log.removeFiles()
        #expect(try log.files() == [])
        await send(1, log)
        #expect(try log.files().count == 1)
    }

    @Test func longTextIsCut() async throws {
        defer { remove() }
        let log = try log { $0.members = { _ in ["a": String(repeating: "é", count: 5000)] } }
        await send(1, log)
        let text = try lines(try #require(try log.files().first))[1]["a"] as? String
        #expect(text == String(repeating: "é", count: 1000) + "…")
    }

    @Test func clockThatGoesBackDelaysNothing() throws {
        defer { remove() }
        var files = try RotatingFiles(folder: folder, maximumFiles: 10, maximumBytes: 1)
        for (number, time) in [2_000_000_000.0, 0, 1_000_000_000, -5, 2_000_000_000].enumerated() {
            files.append(
                Data("\(number)\n".utf8), header: Data(), Date(timeIntervalSince1970: time))
        }
        let texts = try files.list().map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(texts == ["0\n", "1\n", "2\n", "3\n", "4\n"])
        // A second name makes the log no longer the only owner of the file.
        let first = try #require(try files.list().first)
        try FileManager.default.linkItem(at: first, to: folder.appendingPathComponent("other"))
        #expect(try files.list().count == 4)
    }

    @Test func otherFilesOfTheFolderStay() async throws {
        defer { remove() }
        let log = try log { $0.maximumFiles = 1 }
        let target = folder.appendingPathComponent("notes.txt")
        let link = folder.appendingPathComponent("requests-000000000000001-1.jsonl")
        try Data("a".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("requests-000000000000002-1.jsonl"),
            withIntermediateDirectories: false)
        await send(1, log)
        #expect(try log.files().count == 1)
        try log.removeFiles()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.count == 3)
        #expect(try Data(contentsOf: target) == Data("a".utf8))
    }

    @Test func lostLineIsReportedAndTheNextIsWritten() async throws {
        defer { remove() }
        let log = try log()
        try FileManager.default.removeItem(at: folder)
        await send(1, log)
        #expect(log.problem?.code == .fileFailed)
        #expect(throws: RequestError.self) { try log.files() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        await send(1, log)
        #expect(log.problem == nil)
        // A file that another program has removed is replaced.
        for file in try log.files() { try FileManager.default.removeItem(at: file) }
        await send(1, log)
        #expect(try log.files().count == 1)
    }

    @Test func tooSmallLimitsAreRefused() {
        for change: (inout RequestLogFile.Options) -> Void in [
            { $0.maximumFileBytes = 100 }, { $0.maximumFiles = 0 },
        ] {
            let error = #expect(throws: RequestError.self) { try log(change) }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
