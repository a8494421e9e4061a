import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Settings beside a download: applied, refused, or documented as without effect.
@Suite(.limited) struct DownloadCombinationTests {
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder("combination") }

    private func download(
        _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> RequestDescription {
        var description = RequestDescription(endpoint: "Download", url: "file")
        description.download = DownloadPlan(to: folder.appendingPathComponent("file"))
        change(&description)
        return description
    }

    @Test func cacheOnlyIsRefusedBeforeSending() async throws {
        for isShared in [false, true] {
            let fixture = AgentFixture { if isShared { $0.cachePolicy = .cacheOnly } }
            fixture.transport.on(.get, "/file", ScriptedResponse(body: Data("x".utf8)))
            let task = fixture.agent.start(
                download { if !isShared { $0.cache.policy = .cacheOnly } })
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .invalidCombination && error?.stage == .build)
            #expect(error?.message.contains(".cacheOnly") == true)
            #expect(fixture.transport.requests.isEmpty)
            // A policy of its own, which does not contradict a download, takes precedence.
            _ = try await fixture.agent.start(download { $0.cache.policy = .reload }).response()
        }
    }

    /// The settings of a service's base class, whose doc comments say that they do not affect downloads.
    private class Service: BaseRequest {
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .custom { _ in
                throw RequestError(.rejected, stage: .validate, "parsed")
            }
            request.json.removesNulls = true
            request.json.path = ["data"]
            request.cache.identity = "user"
            request.cache.writesAsynchronously = false
            request.cache.arguments = nil
        }
        override var cacheSeconds: Int { 60 }
        override var cacheVersion: Int { 3 }
    }

    private final class Report: Service, FileOutput {
        let destination: URL
        let policy: CachePolicy?

        init(at destination: URL, _ policy: CachePolicy?) {
            self.destination = destination
            self.policy = policy
        }

        override var url: EndpointURL { "file" }
        var download: DownloadPlan { .to(destination) }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.cache.policy = policy
        }
    }

    @Test(arguments: [nil, CachePolicy.cacheElseLoad, .loadElseCache, .reload, .http])
    func settingsOfABaseClassDoNotAffectADownload(policy: CachePolicy?) async throws {
        let fixture = AgentFixture()
        let body = Data(#"{"data": null}"#.utf8)
        fixture.transport.on(
            .get, "/file",
            ScriptedResponse(headers: [.cacheControl: "max-age=60"], body: body))
        for ignoresCache in [false, false, true] {
            let report = Report(at: folder.appendingPathComponent("file"), policy)
            report.ignoresCache = ignoresCache
            let file = try await report.value(on: fixture.agent)
            #expect(try Data(contentsOf: file.file) == body)
            #expect(report.response?.source == .network)
            await fixture.agent.flushCache()
        }
        #expect(fixture.transport.requests.count == 3)
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
    }

    @Test func downloadsWithEqualPlansShareATransfer() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/file", ScriptedResponse(body: Data("x".utf8)).held(by: gate))
        let tasks = ["ab", "AB"].map { digits in
            fixture.agent.start(
                download {
                    $0.sending.duplicates = .join
                    $0.download?.sha256 = String(repeating: digits, count: 32)
                })
        }
        try await fixture.untilJoined(1)
        gate.open()
        for task in tasks {
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .digestMismatch)
        }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func joinedDownloadsShareTheirResult() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/file", ScriptedResponse(body: Data("x".utf8)).held(by: gate))
        let tasks = (0..<2).map { _ in
            fixture.agent.start(
                download {
                    $0.sending.duplicates = .join
                    $0.download?.computedDigests = [.md5]
                })
        }
        try await fixture.untilJoined(1)
        gate.open()
        for task in tasks {
            let file = try await task.response().downloadedFile
            #expect(file?.bytes == 1 && file?.file == folder.appendingPathComponent("file"))
            #expect(file?.digests == [.md5("9dd4e461268c8034f5c8564e155c67a6")])
        }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5])
    func downloadsWithOtherRulesDoNotShareATransfer(rule: Int) async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/file", ScriptedResponse(body: Data("x".utf8)).held(by: gate))
        let first = fixture.agent.start(download { $0.sending.duplicates = .join })
        try await gate.reached()
        let second = fixture.agent.start(
            download {
                $0.sending.duplicates = .join
                switch rule {
                case 0: $0.download?.sha256 = String(repeating: "ab", count: 32)
                case 1: $0.download?.existingFile = .fail
                case 2:
                    $0.download?.expectedDigests = [
                        .md5(String(repeating: "ab", count: 16))
                    ]
                case 3: $0.download?.computedDigests = [.sha1]
                case 4: $0.download?.verifiesServerDigests = false
                default: $0.download?.resumes = false
                }
            })
        // The part file belongs to the first download; the second cannot write it and fails.
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .fileFailed)
        gate.open()
        #expect(try await first.response().file != nil)
        #expect(!fixture.events.names.contains("joined"))
    }
}
