import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// One file in parallel ranges, from an in-process server.
@Suite(.limited)
struct SegmentedDownloadTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws {
        fixture = try DownloadStepFixture()
        fixture.plan {
            ($0.segments, $0.minimumSegmentSize) = (4, 5000)
            $0.sha256 = SHA256.hex(DownloadStepFixture.bytes(100_000))
        }
    }

    /// Each byte is received once, except one chunk for each request that was cut.
    private func expectNoMoreBytes(than extra: Int) {
        let sent = fixture.server.sent
        #expect(sent <= content.count + extra, "sent \(sent)")
    }

    @Test func responseIsThatOfTheWholeFile() async throws {
        let response = try await fixture.run()
        #expect(response.statusCode == 200 && response.headers[.contentRange] == nil)
        #expect(response.downloadedFile?.bytes == 100_000)
        #expect(response.downloadedFile?.resumedOffset == 0)
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
        #expect(fixture.server.ranges.first == "-")
        let others = fixture.server.requests.dropFirst()
        #expect(others.allSatisfy { $0.headers[.ifRange] == "\"v1\"" })
        expectNoMoreBytes(than: 7000 * fixture.server.requests.count)
    }

    @Test func progressReachesTheLengthOnce() async throws {
        let task = fixture.task()
        let request = TransportRequest(url: HTTPURL(scheme: "http", host: "a", path: "/f.bin"))
        _ = try await fixture.steps(PipelineRequest(task: task, request: request))
        #expect(task.hub.current.bytesReceived == 100_000)
        #expect(task.hub.current.totalBytesToReceive == 100_000)
    }

    @Test func smallFileComesInOneRequest() async throws {
        fixture.plan { ($0.minimumSegmentSize, $0.sha256) = (50_001, nil) }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-"])
    }

    static let unsplittable: [HTTPFields] = [
        [:], [.eTag: "W/\"v1\""], [.eTag: "\"v1\"", .acceptRanges: "none"],
        [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test(arguments: unsplittable)
    func responseWithoutStrongValidatorOrRangesIsNotDivided(headers: HTTPFields) async throws {
        fixture.server.change { $0.headers = headers }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func unknownLengthIsNotDivided() async throws {
        fixture.server.change { $0.sendsContentLength = false }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-"])
    }

    /// The first response is held until another request has had its response.
    private func holdFirstResponse() {
        fixture.server.change { $0.firstWaits = true }
    }

    @Test func serverThatIgnoresRangesSendsTheFileOnce() async throws {
        fixture.server.change { $0.supportsRanges = false }
        holdFirstResponse()
        try await fixture.run()
        // No request follows the first one that is ignored; others may have been sent with it.
        #expect((2...4).contains(fixture.server.requests.count))
        #expect(haveSameBytes(fixture.content(), content))
        expectNoMoreBytes(than: 0)
    }

    @Test(arguments: [429, 503])
    func refusedRequestsLeaveTheFirstOne(status: Int) async throws {
        fixture.server.change { $0.status = { number, _ in number > 1 ? status : nil } }
        holdFirstResponse()
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
        // After the refusals no request replaces them.
        #expect(fixture.server.requests.count <= 4)
        expectNoMoreBytes(than: 0)
    }

    /// A range after a gap is requested again after the pause that the server has asked for.
    @Test func refusedRangeIsRequestedAfterThePause() async throws {
        fixture.server.change { $0.cut = { _ in 3000 } }
        holdFirstResponse()
        _ = await fixture.runToError()
        let first = fixture.server.requests.count
        let times = Mutex<[Duration]>([])
        let refusal = Gate()
        fixture.plan { $0.segments = 2 }
        fixture.server.change { [clock = fixture.clock] state in
            (state.cut, state.statusHeaders) = (nil, [.retryAfter: "30"])
            state.status = { number, _ in number == first + 2 ? 429 : nil }
            state.onRequest = { _, _ in times.withLock { $0.append(clock.uptime) } }
            // The other request is active when this one is refused.
            state.beforeBody = { if $0 == first + 1 { try? await refusal.passed() } }
        }
        let run = Task { try await fixture.run() }
        try await fixture.clock.untilSleeping()
        refusal.open()
        fixture.clock.advance(by: .seconds(30))
        _ = try await run.value
        #expect(haveSameBytes(fixture.content(), content))
        let early = times.withLock { $0.prefix { $0 < .seconds(30) } }
        #expect(early.count == 2 && times.withLock { $0.count } > 2)
    }

    /// The clock stands still: the first request receives all bytes, and the download does not wait for the pause.
    @Test func completeFileDoesNotWaitForAPause() async throws {
        fixture.server.change {
            $0.status = { number, _ in number > 1 ? 429 : nil }
            $0.statusHeaders = [.retryAfter: "30"]
        }
        holdFirstResponse()
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.clock.sleepers == 0)
    }

    @Test func anotherVersionDuringTheDownloadStartsItAgain() async throws {
        let changed = DownloadStepFixture.bytes(90_000, seed: 9)
        fixture.plan { $0.sha256 = nil }
        fixture.server.change { state in
            state.onRequest = { number, state in
                guard number == 2 else { return }
                (state.content, state.headers) = (changed, [.eTag: "\"v2\""])
            }
        }
        holdFirstResponse()
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), changed))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func otherErrorEndsAllRequests() async throws {
        fixture.server.change { $0.status = { number, _ in number > 1 ? 404 : nil } }
        holdFirstResponse()
        #expect(await fixture.runToError()?.response?.statusCode == 404)
        #expect(fixture.content() == nil)
        fixture.server.change { $0.status = nil }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func gapsAreFilledByOneRequestAtATimeWithoutTheOption() async throws {
        fixture.server.change { $0.cut = { _ in 3000 } }
        _ = await fixture.runToError()
        let parts = try DownloadPlan.parts(of: fixture)
        #expect(parts.bytes > 0 && parts.bytes < 100_000)
        fixture.server.change { ($0.cut, $0.sentBytes) = (nil, 0) }
        fixture.plan { $0.segments = 1 }
        let file = try #require(try await fixture.run().downloadedFile)
        #expect(file.resumedOffset == parts.bytes)
        #expect(fixture.server.sent == 100_000 - Int(parts.bytes))
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func journalOfGapsWithAnotherVersionIsReplaced() async throws {
        fixture.server.change { $0.cut = { _ in 3000 } }
        _ = await fixture.runToError()
        let changed = DownloadStepFixture.bytes(80_000, seed: 3)
        fixture.plan { $0.sha256 = nil }
        fixture.server.change {
            ($0.cut, $0.content, $0.headers) = (nil, changed, [.eTag: "\"v2\""])
        }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), changed))
        #expect(fixture.names == ["f.bin"])
    }

    // MARK: - Validators × behaviours × interruptions × segments

    struct Row: Sendable, CustomTestStringConvertible {
        var validator: Int
        var behaviour: Behaviour
        var cut: Int?
        var segments: Int
        var testDescription: String {
            "validator \(validator), \(behaviour), cut \(cut ?? -1), \(segments) segments"
        }
    }

    enum Behaviour: CaseIterable { case ranges, noRanges, shortRanges, busy, noLength }

    static let validators: [HTTPFields] = [
        [.eTag: "\"v1\""], [.eTag: "W/\"v1\""], [:],
        [
            .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            .date: "Sun, 13 Nov 1994 08:49:37 GMT",
        ],
    ]

    static let rows: [Row] = validators.indices.flatMap { validator in
        Behaviour.allCases.flatMap { behaviour in
            [nil, 0, 1, 7000, 50_000, 99_999].flatMap { cut in
                [1, 2, 4, 16].map {
                    Row(validator: validator, behaviour: behaviour, cut: cut, segments: $0)
                }
            }
        }
    }

    @Test func eachCombinationCompletesTheFile() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for rows in Self.rows.chunked(by: 60) {
                group.addTask { for row in rows { try await Self.check(row) } }
            }
            try await group.waitForAll()
        }
    }

    private static func check(_ row: Row) async throws {
        let fixture = try DownloadStepFixture()
        fixture.plan {
            ($0.segments, $0.minimumSegmentSize) = (row.segments, 5000)
            $0.sha256 = SHA256.hex(DownloadStepFixture.bytes(100_000))
        }
        fixture.server.change { state in
            state.headers = validators[row.validator]
            // The first four responses break.
            state.cut = { [cut = row.cut] in $0 <= 4 ? cut : nil }
            switch row.behaviour {
            case .ranges: break
            case .noRanges: state.supportsRanges = false
            case .shortRanges: state.longestRange = 9000
            case .busy: state.status = { number, _ in number.isMultiple(of: 3) ? 503 : nil }
            case .noLength: state.sendsContentLength = false
            }
        }
        var starts = 0
        while await fixture.runToError() != nil, starts < 20 { starts += 1 }
        #expect(
            haveSameBytes(fixture.content(), DownloadStepFixture.bytes(100_000)),
            "\(row.testDescription)")
        #expect(fixture.names == ["f.bin"], "\(row.testDescription)")
        let isResumable = row.validator == 0 || row.validator == 3
        if isResumable, row.behaviour != .noRanges {
            let extra = 7000 * fixture.server.requests.count
            #expect(fixture.server.sent <= 100_000 + extra, "\(row.testDescription)")
        }
    }

    /// Any sequence of interruptions, refusals, sizes and numbers of segments.
    @Test func anySequenceOfInterruptionsCompletesTheFile() async throws {
        await withTaskGroup(of: String?.self) { group in
            for seed in 0..<120 as Range<UInt64> { group.addTask { await Self.run(seed: seed) } }
            for await failure in group {
                if let failure { Issue.record("\(failure)") }
            }
        }
    }

    private static func run(seed: UInt64) async -> String? {
        var random = SeededGenerator(seed: seed)
        let size = Int.random(in: 1...200_000, using: &random)
        let content = DownloadStepFixture.bytes(size, seed: Int(seed))
        guard let fixture = try? DownloadStepFixture(content: content) else { return "no fixture" }
        let chunk = Int.random(in: 1000...20_000, using: &random)
        let cuts = (0..<40).map { _ in
            Bool.random(using: &random) ? Int.random(in: 0...size, using: &random) : nil
        }
        let refusals = Set((0..<40).filter { _ in Int.random(in: 0..<5, using: &random) == 0 })
        fixture.server.change { state in
            state.chunkSize = chunk
            state.cut = { $0 < cuts.count ? cuts[$0] : nil }
            state.status = { number, _ in refusals.contains(number) ? 429 : nil }
        }
        var starts = 0
        repeat {
            starts += 1
            let segments = Int.random(in: 1...8, using: &random)
            let minimum = Int64.random(in: 1...30_000, using: &random)
            fixture.plan {
                ($0.segments, $0.minimumSegmentSize) = (segments, minimum)
                $0.computedDigests = segments > 4 ? [.sha256] : []
            }
        } while await fixture.runToError() != nil && starts < 100
        guard fixture.content() == content else { return "seed \(seed): other bytes" }
        guard fixture.names == ["f.bin"] else { return "seed \(seed): \(fixture.names)" }
        let allowed = size + chunk * fixture.server.requests.count
        return fixture.server.sent <= allowed
            ? nil : "seed \(seed): sent \(fixture.server.sent) of \(size), allowed \(allowed)"
    }
}

extension DownloadPlan {
    fileprivate static func parts(of fixture: DownloadStepFixture) throws -> Part {
        try #require(try PartFolder.parts(in: fixture.directory).first)
    }
}

extension Array {
    fileprivate func chunked(by size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
