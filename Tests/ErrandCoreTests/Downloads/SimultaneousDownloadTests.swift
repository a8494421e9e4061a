import ErrandHTTP
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

/// Downloads at the same time to one destination, kept files, and resumption without a validator.
@Suite(.limited) struct SimultaneousDownloadTests {
    private let fixture: DownloadStepFixture
    private let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    // MARK: - At the same time

    /// Of different URLs, and of the same one.
    @Test(arguments: [true, false])
    func renamedDownloadsRunAtTheSameTime(isSameURL: Bool) async throws {
        fixture.plan { $0.existingFile = .rename }
        let all = Gate()
        fixture.server.change { state in
            // No body arrives before the last request.
            state.beforeBody = { number in
                if number == 3 { all.open() } else { try? await all.passed() }
            }
        }
        let fixture = fixture
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...3 {
                group.addTask {
                    try await fixture.run { if !isSameURL { $0.url.query = "\(number)" } }
                }
            }
            try await group.waitForAll()
        }
        #expect(fixture.names == ["f 2.bin", "f 3.bin", "f.bin"])
        for name in fixture.names { #expect(haveSameBytes(fixture.content(name), content)) }
    }

    @Test func renamedDownloadIsResumed() async throws {
        fixture.plan { $0.existingFile = .rename }
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        let file = try await fixture.run().downloadedFile
        #expect(file?.resumedOffset == 40_000 && fixture.names == ["f.bin"])
    }

    /// Two writers of one file would be a mistake.
    @Test func otherPoliciesRefuseTheSecondDownload() async throws {
        let (second, fixture) = (Gate(), fixture)
        fixture.server.change { $0.beforeBody = { _ in try? await second.passed() } }
        let first = Task { try await fixture.run() }
        try await second.reached()
        let error = await fixture.runToError()
        #expect(error?.code == .fileFailed && error?.isFileInUse == true)
        second.open()
        _ = try await first.value
    }

    // MARK: - Kept files

    @Test func keptFilesAreDistinguished() async throws {
        fixture.plan { $0.existingFile = .keep }
        let destination = fixture.destination
        // The file appears while the body is received.
        fixture.server.change {
            $0.onBody = { try? Data("mine".utf8).write(to: destination) }
        }
        let appeared = try await fixture.run().downloadedFile
        #expect(appeared?.wasKept == true && appeared?.bytes == 4)
        #expect(fixture.content() == Data("mine".utf8))
        // It exists before the start.
        #expect(try await fixture.run().downloadedFile?.wasKept == true)
        #expect(fixture.server.requests.count == 1)
        try FileManager.default.removeItem(at: destination)
        fixture.server.change { $0.onBody = nil }
        #expect(try await fixture.run().downloadedFile?.wasKept == false)
    }

    @Test func fileThatTheHeadNamesIsKept() async throws {
        let folder = fixture.directory
        fixture.plan { ($0.existingFile, $0.destination) = (.keep, folder) }
        try Data("mine".utf8).write(to: folder.appendingPathComponent("f.bin"))
        let file = try await fixture.run().downloadedFile
        #expect(file?.wasKept == true && file?.bytes == 4)
    }

    // MARK: - Without a validator

    @Test(arguments: [true, false], [0, 5000] as [Int64])
    func fileWithoutAValidatorIsResumedOnlyByOption(isAllowed: Bool, overlap: Int64) async throws {
        fixture.plan {
            $0.resumesWithoutValidator = isAllowed
            $0.weakValidatorOverlap = overlap
        }
        fixture.server.change { ($0.headers, $0.cuts) = ([:], [40_000]) }
        _ = await fixture.runToError()
        let file = try await fixture.run().downloadedFile
        #expect(file?.resumedOffset == (isAllowed ? 40_000 : 0))
        #expect(fixture.server.ranges == ["-", isAllowed ? "bytes=\(40_000 - overlap)-" : "-"])
        #expect(fixture.server.requests.allSatisfy { $0.headers[.ifRange] == nil })
        #expect(haveSameBytes(fixture.content(), content))
    }

    /// Each of them starts the download again.
    @Test(arguments: ["length", "tag", "date", "unknown length", "option"])
    func changedFileWithoutAValidatorStartsAgain(change: String) async throws {
        fixture.plan { $0.resumesWithoutValidator = true }
        fixture.server.change { ($0.headers, $0.cuts) = ([:], [40_000]) }
        if change == "unknown length" { fixture.server.change { $0.sendsContentLength = false } }
        _ = await fixture.runToError()
        var other = content
        switch change {
        case "length": other = DownloadStepFixture.bytes(100_001, seed: 5)
        case "tag": fixture.server.change { $0.headers = [.eTag: "\"v2\""] }
        case "date":
            fixture.server.change {
                $0.headers = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
            }
        case "option": fixture.plan { $0.resumesWithoutValidator = false }
        default: break
        }
        let expected = other
        fixture.server.change { $0.content = expected }
        let file = try await fixture.run().downloadedFile
        #expect(file?.resumedOffset == 0 && haveSameBytes(fixture.content(), expected))
    }

    @Test func retryContinuesWithoutAValidator() async throws {
        fixture.plan { $0.resumesWithoutValidator = true }
        fixture.describe { $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero) }
        fixture.server.change { ($0.headers, $0.cuts) = ([:], [40_000]) }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    /// A complete part is confirmed by the length of the 416.
    @Test func completePartWithoutAValidatorIsConfirmed() async throws {
        fixture.plan { $0.resumesWithoutValidator = true }
        fixture.server.change { ($0.headers, $0.cuts) = ([:], [100_000]) }
        _ = await fixture.runToError()
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=100000-"])
        #expect(haveSameBytes(fixture.content(), content))
    }
}
