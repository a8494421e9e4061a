import ErrandCore
import ErrandCurl
import ErrandSQLite
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// What a queue stores, and what it does with the files of its downloads.
@Suite(.limited) struct DownloadQueueFileTests {
    let fixture: DownloadQueueFixture

    init() throws { fixture = try DownloadQueueFixture() }

    // MARK: - Files that were finished immediately before a kill

    /// Downloads a file, and restores the row that the database had while the download was running.
    private func finishWithoutStoring(_ download: DownloadQueue.Download) async throws {
        let queue = try await fixture.queue()
        try await queue.add([download])
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        _ = await queue.shared.withLock { $0.write }?.value
        let rows = try await DownloadQueueDatabase(path: fixture.database).rows()
        #expect(queue.entries[0].part != nil)
        fixture.gate.open()
        try await queue.untilIdle()
        await queue.close()
        try await DownloadQueueDatabase(path: fixture.database).save(rows)
    }

    @Test(arguments: [true, false])
    func fileThatWasFinishedBeforeAKillIsNotDownloadedAgain(isFolder: Bool) async throws {
        try await fixture.server.start()
        var download = fixture.download()
        if isFolder {
            download.destination = fixture.folder.appendingPathComponent("files", isDirectory: true)
            try FileManager.default.createDirectory(
                at: download.destination, withIntermediateDirectories: true)
            for number in 0..<3 {
                try Data("other".utf8).write(
                    to: download.destination.appendingPathComponent("\(number)"))
            }
        }
        try await finishWithoutStoring(download)
        let expected = isFolder ? download.destination.appendingPathComponent("a") : fixture.file()
        let next = try await fixture.queue()
        #expect(next.entries.map(\.state) == [.finished(expected)])
        try await next.untilIdle()
        #expect(fixture.server.requests.count == 1)
        await next.close()
        // The next process reads the state from the database.
        let rows = try await DownloadQueueDatabase(path: fixture.database).rows()
        #expect(rows.compactMap(DownloadQueue.Entry.init).map(\.state) == [.finished(expected)])
        await fixture.server.stop()
    }

    @Test func fileThatWasFinishedUnderAnotherNameIsNotDownloadedAgain() async throws {
        try await fixture.server.start()
        try Data("other".utf8).write(to: fixture.file())
        var download = fixture.download()
        download.existingFile = .rename
        try await finishWithoutStoring(download)
        let next = try await fixture.queue()
        #expect(next.entries.map(\.state) == [.finished(fixture.file("a 2"))])
        #expect(fixture.server.requests.count == 1)
        await next.close()
        await fixture.server.stop()
    }

    /// The process was killed after linking the final name, before removing the part's name.
    @Test(arguments: [DownloadPlan.ExistingFile.rename, .fail, .keep])
    func finishedFileThatIsStillAPartIsNotDownloadedAgain(
        policy: DownloadPlan.ExistingFile
    ) async throws {
        try await fixture.server.start()
        var download = fixture.download()
        download.existingFile = policy
        try await finishWithoutStoring(download)
        let part = try #require(download.paths?.part)
        #expect(link(fixture.file().path, part.path) == 0)
        let next = try await fixture.queue()
        #expect(next.entries.map(\.state) == [.finished(fixture.file())])
        try await next.untilIdle()
        #expect(fixture.server.requests.count == 1)
        #expect(!FileManager.default.fileExists(atPath: part.path))
        await next.close()
        await fixture.server.stop()
    }

    @Test func anotherFileAtTheDestinationIsReplaced() async throws {
        try await fixture.server.start()
        try await finishWithoutStoring(fixture.download())
        // The same size, but not the file that was downloaded.
        try Data(count: DownloadQueueFixture.content.count).write(
            to: fixture.file(), options: .atomic)
        let next = try await fixture.queue()
        try await next.untilIdle()
        #expect(fixture.server.requests.count == 2)
        #expect(haveSameBytes(try Data(contentsOf: fixture.file()), DownloadQueueFixture.content))
        await next.close()
        await fixture.server.stop()
    }

    @Test func finishedFileThatWasCutIsDownloadedAgain() async throws {
        try await fixture.server.start()
        try await finishWithoutStoring(fixture.download())
        let handle = try FileHandle(forWritingTo: fixture.file())
        try handle.truncate(atOffset: 100)
        try handle.close()
        let next = try await fixture.queue()
        try await next.untilIdle()
        #expect(fixture.server.requests.count == 2)
        #expect(haveSameBytes(try Data(contentsOf: fixture.file()), DownloadQueueFixture.content))
        await next.close()
        await fixture.server.stop()
    }

    // MARK: - Existing files

    /// Downloads two files, one after the other, into a folder in which their responses give them the same name.
    ///
    /// - Returns: The names of the finished files, and `nil` for a download that failed.
    private func downloadSameNames(_ policy: DownloadPlan.ExistingFile?) async throws -> [String?] {
        let folder = fixture.folder.appendingPathComponent("files", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let transport = ScriptedTransport()
        for name in ["1", "2"] {
            transport.on(
                .get, "/" + name,
                ScriptedResponse(
                    headers: [.contentDisposition: #"attachment; filename="same.bin""#],
                    body: Data(name.utf8)))
        }
        let queue = try await fixture.queue(.init(total: 1), transport: transport)
        try await queue.add(
            ["1", "2"].map {
                DownloadQueue.Download(
                    "https://cdn.example.com/\($0)", to: folder, existingFile: policy)
            })
        try await queue.untilIdle()
        await queue.close()
        return queue.entries.map { entry -> String? in
            guard case .finished(let file) = entry.state else { return nil }
            return file.lastPathComponent
        }
    }

    private func content(_ name: String) throws -> String {
        String(
            decoding: try Data(contentsOf: fixture.folder.appendingPathComponent("files/" + name)),
            as: UTF8.self)
    }

    @Test func filesWithTheSameNameInAFolderAreKept() async throws {
        let names = try await downloadSameNames(nil)
        #expect(names == ["same.bin", "same 2.bin"])
        #expect(try content("same.bin") == "1")
        #expect(try content("same 2.bin") == "2")
    }

    @Test func fileInAFolderIsReplacedOnRequest() async throws {
        let names = try await downloadSameNames(.overwrite)
        #expect(names == ["same.bin", "same.bin"])
        #expect(try content("same.bin") == "2")
    }

    @Test func downloadFailsIfItsNameIsTakenAndThatIsDemanded() async throws {
        let names = try await downloadSameNames(.fail)
        #expect(names == ["same.bin", nil])
        #expect(try content("same.bin") == "1")
    }

    // MARK: - Removal

    @Test(arguments: [true, false])
    func removedDownloadThatDoesNotRunLeavesItsPartOnlyIfDemanded(discards: Bool) async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        let id = try await queue.add([fixture.download()])[0]
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.pause(id)
        try await queue.untilIdle()
        #expect(try fixture.names() == [".a.bin.errand-journal", ".a.bin.errand-part"])
        try await queue.remove(id, discardingPart: discards)
        #expect(try fixture.names().isEmpty == discards)
        fixture.gate.open()
        await queue.close()
        await fixture.server.stop()
    }

    @Test func partThatAnotherEntryNeedsStays() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(.init(total: 1))
        let ids = try await queue.add([fixture.download(), fixture.download()])
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.pause(ids[1])
        try await queue.pause(ids[0])
        try await queue.untilIdle()
        try await queue.remove(ids[0])
        fixture.gate.open()
        try await queue.resume(ids[1])
        try await queue.untilIdle()
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil, "bytes=60000-"])
        #expect(haveSameBytes(try Data(contentsOf: fixture.file()), DownloadQueueFixture.content))
        await queue.close()
        await fixture.server.stop()
    }

    // MARK: - Headers and digests

    @Test func headersAreStoredWithTheDownload() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        var download = fixture.download()
        download.headers = [.acceptLanguage: "de", HTTPField.Name("X-Channel")!: "beta"]
        try await queue.add([download])
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        await queue.close()
        fixture.gate.open()
        let next = try await fixture.queue()
        try await next.untilIdle()
        #expect(fixture.server.requests.map { $0.header("X-Channel") } == ["beta", "beta"])
        #expect(fixture.server.requests.map { $0.header("Accept-Language") } == ["de", "de"])
        await next.close()
        await fixture.server.stop()
    }

    @Test(arguments: ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key"])
    func headersWithCredentialsAreRefused(name: String) async throws {
        let queue = try await fixture.queue()
        var refused = fixture.download()
        refused.headers[HTTPField.Name(name)!] = "s3cret"
        let downloads = [fixture.download(), refused]
        let error = await #expect(throws: RequestError.self) { try await queue.add(downloads) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains(name) == true)
        #expect(error?.message.contains("s3cret") == false)
        #expect(queue.entries.isEmpty)
        await queue.close()
        #expect(try await DownloadQueueDatabase(path: fixture.database).rows().isEmpty)
    }

    @Test func digestsOfAllKindsAreCompared() async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let queue = try await fixture.queue(.init(total: 1))
        let digests: [DownloadedFile.Digest] = [
            .sha256(SHA256.hex(DownloadQueueFixture.content)),
            .sha512(String(repeating: "0", count: 128)),
            .sha1(String(repeating: "0", count: 40)), .md5(String(repeating: "0", count: 32)),
        ]
        for digest in digests {
            var download = fixture.download()
            download.expectedDigests = [digest]
            try await queue.add([download])
        }
        try await queue.untilIdle()
        #expect(queue.entries[0].state == .finished(fixture.file()))
        for (entry, digest) in zip(queue.entries, digests).dropFirst() {
            guard case .failed(let message) = entry.state else {
                Issue.record("\(entry.state)")
                continue
            }
            #expect(message.contains(digest.algorithm.rawValue), "\(message)")
        }
        await queue.close()
        await fixture.server.stop()
    }

    @Test func digestThatNoFileCanHaveIsRefused() async throws {
        let queue = try await fixture.queue()
        var download = fixture.download()
        download.expectedDigests = [.sha512("ab")]
        let downloads = [download]
        let error = await #expect(throws: RequestError.self) { try await queue.add(downloads) }
        #expect(error?.code == .invalidConfiguration && queue.entries.isEmpty)
        await queue.close()
    }

    // MARK: - Start times

    @Test(arguments: ["inf", "-inf", "nan"])
    func dateThatIsNotFiniteIsRefused(text: String) async throws {
        let interval = try #require(Double(text))
        let queue = try await fixture.queue()
        var refused = fixture.download()
        refused.notBefore = Date(timeIntervalSinceReferenceDate: interval)
        let downloads = [fixture.download(), refused]
        let error = await #expect(throws: RequestError.self) { try await queue.add(downloads) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("notBefore") == true)
        #expect(queue.entries.isEmpty)
        await queue.close()
        #expect(try await DownloadQueueDatabase(path: fixture.database).rows().isEmpty)
    }

    @Test(arguments: [
        Date.distantFuture.timeIntervalSinceReferenceDate, .greatestFiniteMagnitude,
    ])
    func distantDateIsWaitedFor(interval: Double) async throws {
        let clock = ManualClock()
        let queue = try await fixture.queue(clock: clock)
        var later = fixture.download()
        later.notBefore = Date(timeIntervalSinceReferenceDate: interval)
        try await queue.add([later])
        try await clock.untilSleeping()
        clock.advance(by: DownloadQueue.longestWait)
        // The queue has read the date again, and waits for the rest.
        try await clock.untilSleeping()
        #expect(queue.entries.map(\.state) == [.waiting])
        await queue.close()
        let next = try await fixture.queue(clock: clock)
        let dates = next.entries.map(\.download.notBefore?.timeIntervalSinceReferenceDate)
        #expect(dates == [interval])
        #expect(next.entries.map(\.state) == [.waiting])
        await next.close()
    }

    // MARK: - Changes of the system date

    @Test func dateThatJumpsAheadStartsTheDownload() async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let clock = ManualClock()
        let queue = try await fixture.queue(clock: clock)
        var later = fixture.download()
        later.notBefore = clock.now.addingTimeInterval(3600)
        try await queue.add([later])
        try await clock.untilSleeping()
        clock.setNow(clock.now.addingTimeInterval(3600))
        clock.advance(by: DownloadQueue.longestWait)
        await fixture.until(queue) { $0[0].state != .waiting }
        try await queue.untilIdle()
        #expect(queue.entries[0].state == .finished(fixture.file()))
        await queue.close()
        await fixture.server.stop()
    }

    @Test func dateThatJumpsBackDelaysTheDownload() async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let clock = ManualClock()
        let queue = try await fixture.queue(clock: clock)
        let date = clock.now
        var later = fixture.download()
        later.notBefore = date.addingTimeInterval(3600)
        try await queue.add([later])
        try await clock.untilSleeping()
        clock.setNow(date.addingTimeInterval(-7200))
        clock.advance(by: .seconds(3600))
        // The queue has read the date again, and waits for the rest.
        try await clock.untilSleeping()
        #expect(queue.entries[0].state == .waiting && fixture.server.requests.isEmpty)
        clock.advance(by: .seconds(7200))
        await fixture.until(queue) { $0[0].state != .waiting }
        try await queue.untilIdle()
        #expect(queue.entries[0].state == .finished(fixture.file()))
        await queue.close()
        await fixture.server.stop()
    }

    // MARK: - Two limits of the bandwidth

    /// Neither the limit of the queue nor that of the agent is exceeded, and neither prevents the other's continuation.
    ///
    /// How long both take together depends on when the bytes arrive; LimitedTransferTests has the rule.
    @Test(arguments: [(10_000, 20_000), (20_000, 10_000)] as [(Int64, Int64)])
    func queueAndAgentLimitTheBandwidth(queueLimit: Int64, agentLimit: Int64) async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let clock = ManualClock()
        let limit = BandwidthLimit(bytesPerSecond: agentLimit, clock: clock)
        let queue = try await fixture.queue(
            .init(bytesPerSecond: queueLimit), transport: limit.transport(over: CurlTransport()),
            clock: clock)
        try await queue.add(["a", "b"].map { fixture.download($0) })
        await fixture.untilIdle(queue, advancing: clock)
        for name in ["a", "b"] {
            let data = try Data(contentsOf: fixture.folder.appendingPathComponent(name + ".bin"))
            #expect(haveSameBytes(data, DownloadQueueFixture.content), "\(name)")
        }
        let seconds = Double(2 * DownloadQueueFixture.content.count) / 10_000
        #expect(clock.uptime >= .seconds(seconds * 0.95))
        await queue.close()
        await fixture.server.stop()
    }
}
