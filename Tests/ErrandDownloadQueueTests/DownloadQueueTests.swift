import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandDownloadQueue

/// Queues over a database and real connections.
@Suite(.timeLimit(.minutes(15))) final class DownloadQueueTests: Sendable {
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
        for name in ["a", "b", "c"] {
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
        server.route("/missing") { _ in LoopbackResponse(status: 404) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func queue(
        _ folder: String, _ limits: DownloadQueue.Limits = .init(),
        reachability: (any Reachability)? = nil, clock: any RequestClock = SystemClock()
    ) -> DownloadQueue {
        var configuration = Configuration()
        configuration.timeouts = Timeouts(connect: nil, idle: nil)
        configuration.reachability = reachability
        let agent = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil, clock: clock)
        return DownloadQueue(path: folder + "/queue.sqlite", agent: agent, limits: limits)
    }

    private func queue(
        _ limits: DownloadQueue.Limits = .init(), reachability: (any Reachability)? = nil,
        clock: any RequestClock = SystemClock()
    ) async throws -> DownloadQueue {
        let queue = Self.queue(folder.path, limits, reachability: reachability, clock: clock)
        try await queue.open()
        return queue
    }

    private func download(_ name: String) -> DownloadQueue.Download {
        .init(server.url("/" + name), to: folder.appendingPathComponent(name + ".bin"))
    }

    private func expectFiles(_ names: [String]) throws {
        for name in names {
            let data = try Data(contentsOf: folder.appendingPathComponent(name + ".bin"))
            #expect(haveSameBytes(data, Self.content), "\(name)")
        }
    }

    private func until(
        _ queue: DownloadQueue, _ condition: ([DownloadQueue.Entry]) -> Bool
    ) async {
        for await entries in queue.updates where condition(entries) { return }
    }

    @Test func downloadsFinishAndAreKnownToTheNextQueue() async throws {
        try await server.start()
        gate.open()
        let queue = try await queue()
        let ids = try await queue.add(["a", "b", "missing"].map(download))
        await queue.untilIdle()
        try expectFiles(["a", "b"])
        #expect(queue.entries.map(\.id) == ids)
        #expect(queue.entries[0].state == .finished(folder.appendingPathComponent("a.bin")))
        guard case .failed(let message) = queue.entries[2].state else {
            Issue.record("\(queue.entries[2].state)")
            return
        }
        #expect(message.contains("404"))
        #expect(queue.progress.bytesReceived >= 400_000)
        await queue.close()
        let next = try await self.queue()
        #expect(next.entries.map(\.id) == ids)
        #expect(next.entries.map(\.state) == queue.entries.map(\.state))
        #expect(server.requests.count == 3)
        await next.close()
        await server.stop()
    }

    @Test func pausedDownloadContinuesItsPart() async throws {
        try await server.start()
        let queue = try await queue()
        let id = try await queue.add([download("a")])[0]
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.pause(id)
        #expect(queue.entries[0].state == .paused)
        await queue.untilIdle()
        gate.open()
        try await queue.resume(id)
        await queue.untilIdle()
        try expectFiles(["a"])
        #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=60000-"])
        await queue.close()
        await server.stop()
    }

    @Test func limitsAndPrioritiesDecideTheOrder() async throws {
        try await server.start()
        let queue = try await queue(.init(total: 2, perHost: 1))
        let ids = try await queue.add(["a", "b", "c"].map(download))
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        #expect(server.requests.count == 1)
        try await queue.setPriority(.high, of: ids[2])
        gate.open()
        await queue.untilIdle()
        #expect(server.requests.map(\.path) == ["/a", "/c", "/b"])
        try expectFiles(["a", "b", "c"])
        await queue.close()
        await server.stop()
    }

    @Test func pausedQueueKeepsPartsAndContinues() async throws {
        try await server.start()
        let queue = try await queue()
        try await queue.add(["a", "b"].map(download))
        await until(queue) { $0.allSatisfy { $0.progress.bytesReceived == 60_000 } }
        queue.isPaused = true
        await queue.untilIdle()
        #expect(queue.entries.allSatisfy { $0.state == .waiting })
        gate.open()
        queue.isPaused = false
        await queue.untilIdle()
        try expectFiles(["a", "b"])
        #expect(server.requests.suffix(2).allSatisfy { $0.header("Range") == "bytes=60000-" })
        await queue.close()
        await server.stop()
    }

    @Test func removedDownloadLeavesNothing() async throws {
        try await server.start()
        let queue = try await queue()
        let id = try await queue.add([download("a")])[0]
        await until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.remove(id)
        await queue.untilIdle()
        #expect(queue.entries.isEmpty)
        await queue.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.allSatisfy { $0.hasPrefix("queue.sqlite") }, "\(names)")
        let next = try await self.queue()
        #expect(next.entries.isEmpty)
        gate.open()
        await server.stop()
    }

    @Test func failedDownloadIsRepeatedOnRequest() async throws {
        try await server.start()
        gate.open()
        let queue = try await queue()
        let id = try await queue.add([download("missing")])[0]
        await queue.untilIdle()
        try await queue.retry(id)
        await queue.untilIdle()
        #expect(server.requests.count == 2)
        await queue.close()
        await server.stop()
    }

    @Test func downloadStartsAtItsTime() async throws {
        try await server.start()
        gate.open()
        let clock = ManualClock()
        let queue = try await queue(clock: clock)
        var later = download("a")
        later.notBefore = clock.now.addingTimeInterval(3600)
        try await queue.add([later])
        try await clock.untilSleeping()
        #expect(queue.entries[0].state == .waiting)
        clock.advance(by: .seconds(3600))
        await until(queue) { $0[0].state != .waiting }
        await queue.untilIdle()
        try expectFiles(["a"])
        await queue.close()
        await server.stop()
    }

    @Test func downloadRunsOnAnUnmeteredNetworkOnly() async throws {
        try await server.start()
        let network = NetworkStatusHub(NetworkStatus(.cellular, isExpensive: true))
        let queue = try await queue(reachability: network)
        var download = download("a")
        download.requiresUnmeteredNetwork = true
        try await queue.add([download])
        #expect(queue.entries[0].state == .waiting)
        network.update(NetworkStatus(.wifi))
        await until(queue) { $0[0].progress.bytesReceived == 60_000 }
        network.update(NetworkStatus(.cellular, isExpensive: true))
        await until(queue) { $0[0].state == .waiting }
        gate.open()
        network.update(NetworkStatus(.wifi))
        await until(queue) { $0[0].state != .waiting }
        await queue.untilIdle()
        try expectFiles(["a"])
        #expect(server.requests.last?.header("Range") == "bytes=60000-")
        await queue.close()
        await server.stop()
    }

    @Test func databaseOfAnotherApplicationIsRefused() async throws {
        try Data("no database".utf8).write(to: folder.appendingPathComponent("queue.sqlite"))
        let error = await #expect(throws: RequestError.self) { try await self.queue() }
        #expect(error?.code == .storeFailed)
    }

    /// The child is killed while both downloads are in progress.
    @Test func queueOfAKilledProcessContinues() async throws {
        try await server.start()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = folder.path as String,
                urls = [server.url("/a"), server.url("/b")] as [String],
            ] in
            let queue = DownloadQueueTests.queue(path)
            try await queue.open()
            try await queue.add(
                zip(urls, ["a", "b"]).map { url, name in
                    .init(url, to: URL(fileURLWithPath: "\(path)/\(name).bin"))
                })
            for await entries in queue.updates
            where entries.allSatisfy({ $0.progress.bytesReceived == 60_000 }) {
                kill(getpid(), SIGKILL)
            }
        }
        gate.open()
        let queue = try await queue()
        #expect(queue.entries.count == 2)
        await queue.untilIdle()
        try expectFiles(["a", "b"])
        let ranges = server.requests.map { $0.header("Range") }
        #expect(ranges.suffix(2) == ["bytes=60000-", "bytes=60000-"])
        await queue.close()
        await server.stop()
    }

    /// All bytes arrive, and downloads are not held longer than the limit requires.
    @Test func downloadsFinishUnderABandwidthLimit() async throws {
        try await server.start()
        gate.open()
        let clock = ManualClock()
        let queue = try await queue(.init(bytesPerSecond: 10_000), clock: clock)
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
        try expectFiles(["a", "b"])
        #expect(clock.uptime <= .seconds(40 * 1.05))
        await queue.close()
        await server.stop()
    }
}
