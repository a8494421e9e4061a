import Errand
import ErrandTesting
import Foundation
import Testing

/// Settings beside a download: applied, refused, or documented as without effect.
@Suite(.timeLimit(.minutes(5))) struct DownloadCombinationTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-combination-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func download(
        _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> RequestDescription {
        var description = RequestDescription(endpoint: "Download", url: "file")
        description.download = DownloadPlan(destination: folder.appendingPathComponent("file"))
        change(&description)
        return description
    }

    @Test func cacheOnlyIsRefusedBeforeSending() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for isShared in [false, true] {
            let fixture = AgentFixture { if isShared { $0.cachePolicy = .cacheOnly } }
            fixture.transport.on(.get, "/file", ScriptedResponse(body: Data("x".utf8)))
            let task = fixture.agent.start(
                download { if !isShared { $0.cachePolicy = .cacheOnly } })
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .invalidCombination && error?.stage == .build)
            #expect(error?.message.contains(".cacheOnly") == true)
            #expect(fixture.transport.requests.isEmpty)
            // A policy of its own, which does not contradict a download, takes precedence.
            _ = try await fixture.agent.start(download { $0.cachePolicy = .reload }).response()
        }
    }

    @Test func settingsOfABaseClassDoNotPreventADownload() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/file", ScriptedResponse(body: Data("x".utf8)))
        for _ in 0..<2 {
            let response = try await fixture.agent.start(
                download {
                    $0.cacheSeconds = 60
                    $0.removesNulls = true
                    $0.responseSerializer = .json
                }
            ).response()
            #expect(response.source == .network && response.file != nil)
            await fixture.agent.flushCache()
        }
    }

    @Test func downloadsWithEqualPlansShareATransfer() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/file", ScriptedResponse(body: Data("x".utf8)).held(by: gate))
        let tasks = ["ab", "AB"].map { digits in
            fixture.agent.start(
                download {
                    $0.duplicatePolicy = .join
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

    @Test(arguments: [0, 1, 2])
    func downloadsWithOtherRulesDoNotShareATransfer(rule: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/file", ScriptedResponse(body: Data("x".utf8)).held(by: gate))
        let first = fixture.agent.start(download { $0.duplicatePolicy = .join })
        try await gate.reached()
        let second = fixture.agent.start(
            download {
                $0.duplicatePolicy = .join
                switch rule {
                case 0: $0.download?.sha256 = String(repeating: "ab", count: 32)
                case 1: $0.download?.existingFile = .fail
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
