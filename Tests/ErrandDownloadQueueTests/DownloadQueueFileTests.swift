import ErrandCore
import ErrandCurl
import ErrandHTTP
import ErrandSQLite
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandDownloadQueue

/// What a queue stores, and what it does with the files of its downloads.
@Suite(.timeLimit(.minutes(15))) final class DownloadQueueFileTests: Sendable {
    private static let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    private static let piece = 60_000

    private let folder: URL
    private let server = LoopbackServer()
    /// While it is closed, each response stops after one piece.
    private let gate = Gate()

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-queue-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let resource = LoopbackResource(Self.content, etag: "\"v1\"")
        for name in ["a", "b"] {
            server.route("/" + name) { [gate] request in
                var response = resource.response(to: request)
                response.steps = response.steps.flatMap { step -> [LoopbackResponse.Step] in
                    guard case .body(let bytes) = step else { return [step] }
                    return [
                        .body(bytes.prefix(Self.piece)), .hold(gate),
                        .body(Data(bytes.dropFirst(Self.piece))),
                    ]
                }
                return response
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var database: String { folder.path + "/queue.sqlite" }
    private var file: URL { folder.appendingPathComponent("a.bin") }

    private func queue(
        _ limits: DownloadQueue.Limits = .init(), transport: any Transport = CurlTransport(),
        clock: any RequestClock = SystemClock()
    ) async throws -> DownloadQueue {
        var configuration = Configuration()
        configuration.timeouts = Timeouts(connect: nil, idle: nil)
        let agent = RequestAgent(
            configuration: configuration, transport: transport, store: nil, clock: clock)
        let queue = DownloadQueue(path: database, agent: agent, limits: limits)
        try await queue.open()
        return queue
    }

    private func download(_ name: String = "a") -> DownloadQueue.Download {
        .init(server.url("/" + name), to: folder.appendingPathComponent(name + ".bin"))
    }

    private func until(
        _ queue: DownloadQueue, _ condition: ([DownloadQueue.Entry]) -> Bool
    ) async {
        for await entries in queue.updates where condition(entries) { return }
    }

    /// The names of the files in the folder, without those of the database.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix("queue.sqlite") }.sorted()
    }

    // MARK: - Files that were finished immediately before a kill

    /// Downloads a file, and restores the row that the database had while the download was running.
    private func finishWithoutStoring(_ download: DownloadQueue.Download) async throws {
        let queue = try await queue()
        try await queue.add([download])
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        _ = await queue.shared.withLock { $0.write }?.value
        let rows = try await DownloadQueueDatabase(path: database).rows()
        #expect(queue.entries[0].part != nil)
        gate.open()
        await queue.untilIdle()
        await queue.close()
        try await DownloadQueueDatabase(path: database).save(rows)
    }

    @Test(arguments: [true, false])
    func fileThatWasFinishedBeforeAKillIsNotDownloadedAgain(isFolder: Bool) async throws {
        try await server.start()
        var download = download()
        if isFolder {
            download.destination = folder.appendingPathComponent("files", isDirectory: true)
            try FileManager.default.createDirectory(
                at: download.destination, withIntermediateDirectories: true)
            for number in 0..<3 {
                try Data("other".utf8).write(
                    to: download.destination.appendingPathComponent("\(number)"))
            }
        }
        try await finishWithoutStoring(download)
        let expected = isFolder ? download.destination.appendingPathComponent("a") : file
        let next = try await queue()
        #expect(next.entries.map(\.state) == [.finished(expected)])
        await next.untilIdle()
        #expect(server.requests.count == 1)
        await next.close()
        // The next process reads the state from the database.
        let rows = try await DownloadQueueDatabase(path: database).rows()
        #expect(rows.compactMap(DownloadQueue.Entry.init).map(\.state) == [.finished(expected)])
        await server.stop()
    }

    @Test func anotherFileAtTheDestinationIsReplaced() async throws {
        try await server.start()
        try await finishWithoutStoring(download())
        // The same size, but not the file that was downloaded.
        try Data(count: Self.content.count).write(to: file, options: .atomic)
        let next = try await queue()
        await next.untilIdle()
        #expect(server.requests.count == 2)
        #expect(haveSameBytes(try Data(contentsOf: file), Self.content))
        await next.close()
        await server.stop()
    }

    @Test func finishedFileThatWasCutIsDownloadedAgain() async throws {
        try await server.start()
        try await finishWithoutStoring(download())
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 100)
        try handle.close()
        let next = try await queue()
        await next.untilIdle()
        #expect(server.requests.count == 2)
        #expect(haveSameBytes(try Data(contentsOf: file), Self.content))
        await next.close()
        await server.stop()
    }

    // MARK: - Removal

    @Test(arguments: [true, false])
    func removedDownloadThatDoesNotRunLeavesItsPartOnlyIfDemanded(discards: Bool) async throws {
        try await server.start()
        let queue = try await queue()
        let id = try await queue.add([download()])[0]
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.pause(id)
        await queue.untilIdle()
        #expect(try names() == [".a.bin.errand-journal", ".a.bin.errand-part"])
        try await queue.remove(id, discardingPart: discards)
        #expect(try names().isEmpty == discards)
        gate.open()
        await queue.close()
        await server.stop()
    }

    @Test func partThatAnotherEntryNeedsStays() async throws {
        try await server.start()
        let queue = try await queue(.init(total: 1))
        let ids = try await queue.add([download(), download()])
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.pause(ids[1])
        try await queue.pause(ids[0])
        await queue.untilIdle()
        try await queue.remove(ids[0])
        gate.open()
        try await queue.resume(ids[1])
        await queue.untilIdle()
        #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=60000-"])
        #expect(haveSameBytes(try Data(contentsOf: file), Self.content))
        await queue.close()
        await server.stop()
    }

    // MARK: - Headers and digests

    @Test func headersAreStoredWithTheDownload() async throws {
        try await server.start()
        let queue = try await queue()
        var download = download()
        download.headers = [.acceptLanguage: "de", HTTPField.Name("X-Channel")!: "beta"]
        try await queue.add([download])
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        await queue.close()
        gate.open()
        let next = try await self.queue()
        await next.untilIdle()
        #expect(server.requests.map { $0.header("X-Channel") } == ["beta", "beta"])
        #expect(server.requests.map { $0.header("Accept-Language") } == ["de", "de"])
        await next.close()
        await server.stop()
    }

    @Test(arguments: ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key"])
    func headersWithCredentialsAreRefused(name: String) async throws {
        let queue = try await queue()
        var refused = download()
        refused.headers[HTTPField.Name(name)!] = "s3cret"
        let downloads = [download(), refused]
        let error = await #expect(throws: RequestError.self) { try await queue.add(downloads) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains(name) == true)
        #expect(error?.message.contains("s3cret") == false)
        #expect(queue.entries.isEmpty)
        await queue.close()
        #expect(try await DownloadQueueDatabase(path: database).rows().isEmpty)
    }

    @Test func digestsOfAllKindsAreCompared() async throws {
        try await server.start()
        gate.open()
        let queue = try await queue(.init(total: 1))
        let digests: [DownloadedFile.Digest] = [
            .sha256(SHA256.hex(Self.content)), .sha512(String(repeating: "0", count: 128)),
            .sha1(String(repeating: "0", count: 40)), .md5(String(repeating: "0", count: 32)),
        ]
        for digest in digests {
            var download = download()
            download.expectedDigests = [digest]
            try await queue.add([download])
        }
        await queue.untilIdle()
        #expect(queue.entries[0].state == .finished(file))
        for (entry, digest) in zip(queue.entries, digests).dropFirst() {
            guard case .failed(let message) = entry.state else {
                Issue.record("\(entry.state)")
                continue
            }
            #expect(message.contains(digest.algorithm.rawValue), "\(message)")
        }
        await queue.close()
        await server.stop()
    }

    @Test func digestThatNoFileCanHaveIsRefused() async throws {
        let queue = try await queue()
        var download = download()
        download.expectedDigests = [.sha512("ab")]
        let downloads = [download]
        let error = await #expect(throws: RequestError.self) { try await queue.add(downloads) }
        #expect(error?.code == .invalidConfiguration && queue.entries.isEmpty)
        await queue.close()
    }

    // MARK: - Changes of the system date

    @Test func dateThatJumpsAheadStartsTheDownload() async throws {
        try await server.start()
        gate.open()
        let clock = ManualClock()
        let queue = try await queue(clock: clock)
        var later = download()
        later.notBefore = clock.now.addingTimeInterval(3600)
        try await queue.add([later])
        try await clock.untilSleeping()
        clock.setNow(clock.now.addingTimeInterval(3600))
        clock.advance(by: DownloadQueue.longestWait)
        await until(queue) { $0[0].state != .waiting }
        await queue.untilIdle()
        #expect(queue.entries[0].state == .finished(file))
        await queue.close()
        await server.stop()
    }

    @Test func dateThatJumpsBackDelaysTheDownload() async throws {
        try await server.start()
        gate.open()
        let clock = ManualClock()
        let queue = try await queue(clock: clock)
        let date = clock.now
        var later = download()
        later.notBefore = date.addingTimeInterval(3600)
        try await queue.add([later])
        try await clock.untilSleeping()
        clock.setNow(date.addingTimeInterval(-7200))
        clock.advance(by: .seconds(3600))
        // The queue has read the date again, and waits for the rest.
        try await clock.untilSleeping()
        #expect(queue.entries[0].state == .waiting && server.requests.isEmpty)
        clock.advance(by: .seconds(7200))
        await until(queue) { $0[0].state != .waiting }
        await queue.untilIdle()
        #expect(queue.entries[0].state == .finished(file))
        await queue.close()
        await server.stop()
    }

    // MARK: - Two limits of the bandwidth

    /// The lower one of the limits of queue and agent decides, and neither prevents the other's continuation.
    @Test(arguments: [(10_000, 20_000), (20_000, 10_000)] as [(Int64, Int64)])
    func queueAndAgentLimitTheBandwidth(queueLimit: Int64, agentLimit: Int64) async throws {
        try await server.start()
        gate.open()
        let clock = ManualClock()
        let limit = BandwidthLimit(bytesPerSecond: agentLimit, clock: clock)
        let queue = try await queue(
            .init(bytesPerSecond: queueLimit), transport: limit.transport(over: CurlTransport()),
            clock: clock)
        try await queue.add(["a", "b"].map(download))
        let advancing = Task {
            while !Task.isCancelled {
                try await clock.untilSleeping()
                clock.advance(by: .milliseconds(500))
                await Task.yield()
            }
        }
        await queue.untilIdle()
        advancing.cancel()
        for name in ["a", "b"] {
            let data = try Data(contentsOf: folder.appendingPathComponent(name + ".bin"))
            #expect(haveSameBytes(data, Self.content), "\(name)")
        }
        // The last bytes of each file are not waited for; a buffer of a transport has at most 64 KiB.
        let seconds = Double(2 * Self.content.count - 2 * (64 << 10)) / 10_000
        #expect(clock.uptime >= .seconds(seconds * 0.95))
        // Both limits one after the other would take 60 seconds.
        #expect(clock.uptime <= .seconds(60))
        await queue.close()
        await server.stop()
    }
}
