import Errand
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandInspector

/// Rules for streams, downloads and uploads over each transport.
@Suite("Inspector: rules of real transfers", .limited)
struct RuledRequestTests {
    enum Kind: String, CaseIterable, Codable, Sendable {
        case curl, urlSession
    }

    private final class Text: BaseRequest {
        override var url: EndpointURL { "/text" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    private final class File: BaseRequest, FileOutput {
        private let file: URL
        init(_ file: URL) { self.file = file }
        override var url: EndpointURL { "/file" }
        var download: DownloadPlan {
            .to(file) {
                ($0.segments, $0.minimumSegmentSize) = (4, 1000)
            }
        }
        override var retryPolicy: RetryPolicy? {
            RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
    }

    private final class Upload: BaseRequest {
        private let content: Data
        init(_ content: Data) { self.content = content }
        override var url: EndpointURL { "/upload" }
        override var method: HTTPMethod { .post }
        override var body: HTTPBody? { .data(content) }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    private static let content = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private let server = LoopbackServer()
    /// The clock of the rules only: timeouts use the real time.
    private let clock = ManualClock()
    private let recorder: InspectorRecorder

    init() async throws {
        recorder = InspectorRecorder(limits: InspectorRecorder.Limits(), clock: clock)
        server.serve(LoopbackResource(Self.content, etag: "\"v1\""), at: "/file")
        server.route("/text") { _ in
            LoopbackResponse(headers: ["Content-Type": "text/plain"], body: "one\ntwo\nthree")
        }
        server.route("/upload") { _ in LoopbackResponse(body: "{}") }
        try await server.start()
    }

    private func agent(_ kind: Kind) -> RequestAgent {
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = [recorder]
        let transport: any Transport =
            switch kind {
            case .curl: CurlTransport()
            case .urlSession: URLSessionTransport()
            }
        return RequestAgent(configuration: configuration, transport: transport, store: nil)
    }

    private func rule(
        _ action: TransferRule.Action, _ change: (inout TransferRule) -> Void
    ) -> TransferRule {
        var rule = TransferRule(id: "\(action)", pattern: "*", action: action)
        change(&rule)
        return rule
    }

    /// Ends the waits of rules one after the other.
    ///
    /// The clock does not advance while none waits.
    private func endingWaits<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        let driver = Task { [clock] in
            while true {
                try await clock.untilSleeping()
                clock.advance(by: .milliseconds(1))
            }
        }
        defer { driver.cancel() }
        return try await body()
    }

    private func temporaryFile() throws -> (folder: TemporaryFolder, file: URL) {
        let folder = try TemporaryFolder("rules")
        return (folder, folder.url.appendingPathComponent("f.bin"))
    }

    // MARK: - Throttle

    @Test(arguments: Kind.allCases)
    func downloadTakesItsTime(kind: Kind) async throws {
        let (folder, file) = try temporaryFile()
        recorder.rules.replace([rule(.throttle) { $0.bytesPerSecond = 8000 }])
        let agent = agent(kind)
        // In parallel ranges, which share the speed.
        _ = try await endingWaits { try await File(file).value(on: agent) }
        #expect(try Data(contentsOf: file) == Self.content)
        // 2.5 s, except that the last part of each of the four ranges, an eighth of a second, is not waited for.
        #expect(clock.uptime >= .seconds(2))
        let transfers = try #require(recorder.records.last?.request.transfers)
        #expect(transfers.allSatisfy { $0.rules == ["throttle *"] && !$0.isSimulated })
        #expect(recorder.rules.paceCount == 0)
        withExtendedLifetime(folder) {}
        await server.stop()
    }

    @Test(arguments: Kind.allCases)
    func streamArrivesInParts(kind: Kind) async throws {
        recorder.rules.replace([rule(.throttle) { $0.bytesPerSecond = 8 }])
        let agent = agent(kind)
        let stream = try await Text().stream(on: agent)
        var text = ""
        var chunks = 0
        for _ in 0..<13 {
            try await clock.untilSleeping()
            #expect(stream.task.progress.current.bytesReceived == Int64(chunks + 1))
            chunks += 1
            clock.advance(by: .milliseconds(125))
        }
        for try await line in stream.lines { text += line + "." }
        #expect(text == "one.two.three.")
        #expect(clock.uptime == .milliseconds(13 * 125))
        await server.stop()
    }

    @Test(arguments: Kind.allCases)
    func uploadTakesItsTime(kind: Kind) async throws {
        recorder.rules.replace([rule(.throttle) { $0.bytesPerSecond = 8000 }])
        let agent = agent(kind)
        let task = agent.start(Upload(Self.content).makeDescription())
        // 20 parts of 1000 bytes; the first one does not wait.
        for part in 1..<20 {
            try await clock.untilSleeping()
            let sent = task.progress.current.bytesSent
            #expect(sent <= Int64(part) * 1000, "\(kind)")
            clock.advance(by: .milliseconds(125))
        }
        // The two bytes of the response.
        try await clock.untilSleeping()
        #expect(task.progress.current.bytesSent == 20_000)
        clock.advance(by: .milliseconds(125))
        _ = try await task.response()
        #expect(server.requests.map(\.body) == [Self.content])
        await server.stop()
    }

    // MARK: - Mocks and faults

    @Test func mockIsStreamed() async throws {
        recorder.rules.replace([
            rule(.mock) {
                $0.headers = [.init(name: "Content-Type", value: "text/plain")]
                $0.body = "a\nb\n"
            }
        ])
        let stream = try await Text().stream(on: agent(.curl))
        #expect(stream.response.isStreamed)
        var lines: [String] = []
        for try await line in stream.lines { lines.append(line) }
        #expect(lines == ["a", "b"])
        #expect(server.requests.isEmpty)
        let transfer = try #require(recorder.records.last?.request.transfers.last)
        #expect(transfer.isSimulated && transfer.end != nil)
        await server.stop()
    }

    @Test func mockIsDownloaded() async throws {
        let (folder, file) = try temporaryFile()
        recorder.rules.replace([
            rule(.throttle) { $0.bytesPerSecond = 80 },
            rule(.mock) { $0.body = "content of a file" },
        ])
        let agent = agent(.curl)
        let downloaded = try await endingWaits { try await File(file).value(on: agent) }
        #expect(downloaded.bytes == 17)
        #expect(try Data(contentsOf: file) == Data("content of a file".utf8))
        #expect(clock.uptime >= .milliseconds(212))
        #expect(server.requests.isEmpty)
        withExtendedLifetime(folder) {}
        await server.stop()
    }

    @Test(arguments: Kind.allCases)
    func faultInterruptsAStream(kind: Kind) async throws {
        recorder.rules.replace([
            rule(.fault) { ($0.fault, $0.afterBytes) = (.connectionLost, 6) }
        ])
        let stream = try await Text().stream(on: agent(kind))
        var lines: [String] = []
        let error = await #expect(throws: RequestError.self) {
            for try await line in stream.lines { lines.append(line) }
        }
        #expect(lines == ["one"])
        #expect(error?.code == .connectionLost && error?.bytesReceived == 6)
        #expect(error?.message.contains("simulated") == true)
        await server.stop()
    }

    @Test(arguments: Kind.allCases)
    func downloadContinuesAfterAFault(kind: Kind) async throws {
        let (folder, file) = try temporaryFile()
        recorder.rules.replace([
            rule(.fault) { ($0.fault, $0.afterBytes, $0.limit) = (.connectionLost, 500, 1) }
        ])
        let downloaded = try await File(file).value(on: agent(kind))
        #expect(downloaded.bytes == 20_000)
        #expect(try Data(contentsOf: file) == Self.content)
        let later = server.requests.dropFirst().compactMap { $0.header("Range") }
        #expect(later.contains { $0.hasPrefix("bytes=500-") })
        let transfers = try #require(recorder.records.last?.request.transfers)
        #expect(transfers.first?.messages.end.error?.code == .connectionLost)
        withExtendedLifetime(folder) {}
        await server.stop()
    }

    /// The bytes before a fault count for the speed, and other ranges go on.
    @Test(arguments: Kind.allCases)
    func slowParallelRangesAreInterrupted(kind: Kind) async throws {
        let (folder, file) = try temporaryFile()
        recorder.rules.replace([
            rule(.throttle) { $0.bytesPerSecond = 8000 },
            rule(.fault) { ($0.fault, $0.afterBytes, $0.limit) = (.connectionLost, 1500, 2) },
        ])
        let agent = agent(kind)
        let downloaded = try await endingWaits { try await File(file).value(on: agent) }
        #expect(downloaded.bytes == 20_000)
        #expect(try Data(contentsOf: file) == Self.content)
        #expect(clock.uptime >= .seconds(2))
        let transfers = try #require(recorder.records.last?.request.transfers)
        #expect(transfers.allSatisfy { $0.rules.contains("throttle *") })
        let interrupted = transfers.filter { $0.messages.end.error?.code == .connectionLost }
        #expect(interrupted.count == 2)
        #expect(interrupted.allSatisfy { $0.rules.count == 2 })
        #expect(recorder.rules.paceCount == 0)
        withExtendedLifetime(folder) {}
        await server.stop()
    }

    @Test func faultOfADownloadNeedsNoNetwork() async throws {
        let (folder, file) = try temporaryFile()
        recorder.rules.replace([rule(.fault) { $0.fault = .cannotConnect }])
        let agent = agent(.curl)
        let error = await #expect(throws: RequestError.self) {
            _ = try await File(file).value(on: agent)
        }
        #expect(error?.code == .cannotConnect && error?.attempts == 3)
        #expect(server.requests.isEmpty)
        withExtendedLifetime(folder) {}
        await server.stop()
    }
}
