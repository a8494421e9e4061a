import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

@Suite(.limited)
struct DownloadStepTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    @Test func completeDownloadLeavesOnlyTheFile() async throws {
        let response = try await fixture.run()
        #expect(response.file?.path == fixture.destination.path)
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
        #expect(fixture.server.requests.first?.headers[.acceptEncoding] == "identity")
        #expect(fixture.server.ranges == ["-"])
        #expect(fixture.events.summaries.isEmpty)
    }

    @Test func emptyBodyCreatesAnEmptyFile() async throws {
        fixture.server.change { $0.content = Data() }
        try await fixture.run()
        #expect(fixture.content() == Data())
    }

    @Test func missingDirectoriesAreCreated() async throws {
        fixture.plan { $0.destination = fixture.directory.appendingPathComponent("x/y/g.bin") }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content("x/y/g.bin"), content))
    }

    @Test func directoryDestinationUsesTheNameOfTheURL() async throws {
        fixture.plan { $0.destination = fixture.directory }
        #expect(try await fixture.run().file?.lastPathComponent == "f.bin")
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func interruptedDownloadIsResumed() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        let error = await fixture.runToError()
        #expect(error?.code == .connectionLost)
        #expect(error?.response?.file == nil)
        #expect(fixture.names == [".f.bin.errand-journal", ".f.bin.errand-part"])
        let response = try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-"])
        #expect(fixture.server.requests.last?.headers[.ifRange] == "\"v1\"")
        #expect(fixture.events.summaries == ["resumed 40000"])
        #expect(response.statusCode == 200)
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func repeatedInterruptionsAreResumed() async throws {
        fixture.server.change { $0.cuts = [1, 0, 7001, 50_000, 3] }
        while await fixture.runToError() != nil {}
        #expect(haveSameBytes(fixture.content(), content))
        #expect(
            fixture.server.ranges
                == ["-", "bytes=1-", "bytes=1-", "bytes=7002-", "bytes=57002-", "bytes=57005-"])
    }

    @Test func changedValidatorRestartsTheDownload() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        let newer = DownloadStepFixture.bytes(60_000, seed: 5)
        fixture.server.change { ($0.content, $0.headers) = (newer, [.eTag: "\"v2\""]) }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), newer))
        #expect(fixture.server.ranges == ["-", "bytes=40000-"])
    }

    @Test func serverWithoutRangesRestartsTheDownload() async throws {
        fixture.server.change { ($0.cuts, $0.supportsRanges) = ([40_000], false) }
        _ = await fixture.runToError()
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    private static let headersWithoutStrongValidator: [HTTPFields] = [
        [:], [.eTag: "W/\"v1\""], [.eTag: "\"v1\"", .contentEncoding: "gzip"],
        [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test(
        "A download without a strong validator is not resumed",
        arguments: headersWithoutStrongValidator)
    func missingStrongValidator(headers: HTTPFields) async throws {
        fixture.server.change { ($0.cuts, $0.headers) = ([40_000], headers) }
        _ = await fixture.runToError()
        #expect(fixture.names.isEmpty)
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func oldLastModifiedIsAStrongValidator() async throws {
        fixture.server.change {
            $0.cuts = [40_000]
            $0.headers = [
                .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
                .date: "Sun, 13 Nov 1994 08:49:37 GMT",
            ]
        }
        _ = await fixture.runToError()
        try await fixture.run()
        #expect(
            fixture.server.requests.last?.headers[.ifRange] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func mismatchedRangeRestartsTheDownloadOnce() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        let wrong = (206, [.contentRange: "bytes 0-9/10"] as HTTPFields, Data(count: 10))
        fixture.server.change { $0.scripted = [wrong] }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func unrequestedPartialContentIsAnError() async {
        let wrong = (206, [.contentRange: "bytes 0-9/10"] as HTTPFields, Data(count: 10))
        fixture.server.change { $0.scripted = [wrong] }
        #expect(await fixture.runToError()?.code == .badServerResponse)
        #expect(fixture.names.isEmpty)
    }

    @Test func completePartIsFinishedByA416() async throws {
        fixture.server.change { ($0.sendsContentLength, $0.cuts) = (false, [100_000]) }
        _ = await fixture.runToError()
        let response = try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=100000-"])
        #expect(response.status == .ok)
        #expect(response.file?.path == fixture.destination.path)
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func a416ForAShorterFileRestartsTheDownload() async throws {
        fixture.server.change { ($0.sendsContentLength, $0.cuts) = (false, [100_000]) }
        _ = await fixture.runToError()
        fixture.server.change { $0.content = DownloadStepFixture.bytes(50) }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=100000-", "-"])
        #expect(haveSameBytes(fixture.content(), DownloadStepFixture.bytes(50)))
    }

    @Test func shortRangesAreRequestedUntilComplete() async throws {
        fixture.server.change { ($0.cuts, $0.longestRange) = ([10], 30_000) }
        _ = await fixture.runToError()
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.server.ranges.count == 5)
    }

    @Test func cancellationKeepsThePart() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        fixture.server.change { $0.scripted = [] }
        #expect(await fixture.runToError(isCancelled: true)?.code == .cancelled)
        #expect(fixture.content() == nil)
        #expect(fixture.names == [".f.bin.errand-journal", ".f.bin.errand-part"])
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func disabledResumptionRestartsTheDownload() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        fixture.plan { $0.resumes = false }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func onlyGETIsResumed() async throws {
        fixture.describe { $0.method = .post }
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "-"])
    }

    @Test func progressIncludesResumedBytes() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        let task = fixture.task()
        let request = TransportRequest(url: HTTPURL(scheme: "http", host: "a", path: "/f.bin"))
        _ = try await fixture.steps(PipelineRequest(task: task, request: request))
        #expect(task.hub.current.bytesReceived == 100_000)
        #expect(task.hub.current.resumedBytes == 40_000)
        #expect(task.hub.current.totalBytesToReceive == 100_000)
    }

    @Test func otherRequestsPassThrough() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: "one")
        let response = try await Next([DownloadStep(), DownloadAttemptStep(), fixture.network])(
            fixture.pipelineRequest())
        #expect(response.data == Data("one".utf8))
        #expect(fixture.network.requests.first?.sink == nil)
    }
}
