import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// Queues over a database and real connections.
@Suite(.limited) struct DownloadQueueTests {
    let fixture: DownloadQueueFixture

    init() throws { fixture = try DownloadQueueFixture() }

    @Test(arguments: TransportKind.allCases)
    func downloadsFinishAndAreKnownToTheNextQueue(kind: TransportKind) async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        let ids = try await queue.add(["a", "b", "missing"].map { fixture.download($0) })
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a", "b"]))
        #expect(queue.entries.map(\.id) == ids)
        #expect(queue.entries[0].state == .finished(fixture.file("a")))
        guard case .failed(let message) = queue.entries[2].state else {
            Issue.record("\(queue.entries[2].state)")
            return
        }
        #expect(message.contains("404"))
        #expect(queue.progress.bytesReceived >= 400_000)
        await queue.close()
        let next = try await fixture.queue(transport: kind.makeTransport())
        #expect(next.entries.map(\.id) == ids)
        #expect(next.entries.map(\.state) == queue.entries.map(\.state))
        #expect(fixture.server.requests.count == 3)
        await next.close()
        await fixture.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func pausedDownloadContinuesItsPart(kind: TransportKind) async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        let id = try await queue.add([fixture.download("a")])[0]
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.pause(id)
        #expect(queue.entries[0].state == .paused)
        try await queue.untilIdle()
        fixture.gate.open()
        try await queue.resume(id)
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a"]))
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil, "bytes=60000-"])
        await queue.close()
        await fixture.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func limitsAndPrioritiesDecideTheOrder(kind: TransportKind) async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(
            .init(total: 2, perHost: 1), transport: kind.makeTransport())
        let ids = try await queue.add(["a", "b", "c"].map { fixture.download($0) })
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        #expect(fixture.server.requests.count == 1)
        try await queue.setPriority(.high, of: ids[2])
        fixture.gate.open()
        try await queue.untilIdle()
        #expect(fixture.server.requests.map(\.path) == ["/a", "/c", "/b"])
        #expect(try fixture.haveContent(["a", "b", "c"]))
        await queue.close()
        await fixture.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func pausedQueueKeepsPartsAndContinues(kind: TransportKind) async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        try await queue.add(["a", "b"].map { fixture.download($0) })
        await fixture.until(queue) { $0.allSatisfy { $0.progress.bytesReceived == 60_000 } }
        queue.isPaused = true
        try await queue.untilIdle()
        #expect(queue.entries.allSatisfy { $0.state == .waiting })
        fixture.gate.open()
        queue.isPaused = false
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a", "b"]))
        #expect(
            fixture.server.requests.suffix(2).allSatisfy { $0.header("Range") == "bytes=60000-" })
        await queue.close()
        await fixture.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func removedDownloadLeavesNothing(kind: TransportKind) async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        let id = try await queue.add([fixture.download("a")])[0]
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        try await queue.remove(id)
        try await queue.untilIdle()
        #expect(queue.entries.isEmpty)
        await queue.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        #expect(names.allSatisfy { $0.hasPrefix("queue.sqlite") }, "\(names)")
        let next = try await fixture.queue(transport: kind.makeTransport())
        #expect(next.entries.isEmpty)
        fixture.gate.open()
        await fixture.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func failedDownloadIsRepeatedOnRequest(kind: TransportKind) async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        let id = try await queue.add([fixture.download("missing")])[0]
        try await queue.untilIdle()
        try await queue.retry(id)
        try await queue.untilIdle()
        #expect(fixture.server.requests.count == 2)
        await queue.close()
        await fixture.server.stop()
    }

    @Test func downloadStartsAtItsTime() async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let clock = ManualClock()
        let queue = try await fixture.queue(clock: clock)
        var later = fixture.download("a")
        later.notBefore = clock.now.addingTimeInterval(3600)
        try await queue.add([later])
        try await clock.untilSleeping()
        #expect(queue.entries[0].state == .waiting)
        clock.advance(by: .seconds(3600))
        await fixture.until(queue) { $0[0].state != .waiting }
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a"]))
        await queue.close()
        await fixture.server.stop()
    }

    @Test func downloadRunsOnAnUnmeteredNetworkOnly() async throws {
        try await fixture.server.start()
        let network = NetworkStatusHub(NetworkStatus(.cellular, isExpensive: true))
        let queue = try await fixture.queue(reachability: network)
        var download = fixture.download("a")
        download.requiresUnmeteredNetwork = true
        try await queue.add([download])
        #expect(queue.entries[0].state == .waiting)
        network.update(NetworkStatus(.wifi))
        await fixture.until(queue) { $0[0].progress.bytesReceived == 60_000 }
        network.update(NetworkStatus(.cellular, isExpensive: true))
        await fixture.until(queue) { $0[0].state == .waiting }
        fixture.gate.open()
        network.update(NetworkStatus(.wifi))
        await fixture.until(queue) { $0[0].state != .waiting }
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a"]))
        #expect(fixture.server.requests.last?.header("Range") == "bytes=60000-")
        await queue.close()
        await fixture.server.stop()
    }

    @Test func databaseOfAnotherApplicationIsRefused() async throws {
        try Data("no database".utf8).write(
            to: fixture.folder.appendingPathComponent("queue.sqlite"))
        let error = await #expect(throws: RequestError.self) { try await fixture.queue() }
        #expect(error?.code == .storeFailed)
    }

    // MARK: - One queue for each database

    @Test func databaseOfAnotherQueueIsRefusedUntilThatIsClosed() async throws {
        let queue = try await fixture.queue()
        let opening = await #expect(throws: RequestError.self) { try await fixture.queue() }
        #expect(opening?.code == .storeFailed)
        #expect(opening?.message.contains("another DownloadQueue") == true)
        let other = DownloadQueueFixture.queue(in: fixture.folder.path)
        let downloads = [fixture.download()]
        let adding = await #expect(throws: RequestError.self) { try await other.add(downloads) }
        #expect(adding?.code == .storeFailed && other.entries.isEmpty)
        await queue.close()
        try await other.open()
        #expect(other.entries.isEmpty)
        await other.close()
    }

    @Test func databaseOfAnotherProcessIsRefused() async throws {
        let queue = try await fixture.queue()
        await #expect(processExitsWith: .exitCode(42)) {
            [path = fixture.folder.path as String] in
            let queue = DownloadQueueFixture.queue(in: path)
            do throws(RequestError) {
                try await queue.open()
            } catch {
                exit(error.code == .storeFailed ? 42 : 2)
            }
        }
        await queue.close()
    }

    @Test func queueThatCannotBeOpenedDoesNotLockTheDatabase() async throws {
        let database = fixture.folder.appendingPathComponent("queue.sqlite")
        try Data("no database".utf8).write(to: database)
        let queue = DownloadQueueFixture.queue(in: fixture.folder.path)
        await #expect(throws: RequestError.self) { try await queue.open() }
        try FileManager.default.removeItem(at: database)
        let next = try await fixture.queue()
        await next.close()
        // The first one is not released before.
        #expect(queue.entries.isEmpty)
    }

    @Test func closedQueueStoresChanges() async throws {
        let queue = DownloadQueueFixture.queue(in: fixture.folder.path)
        queue.isPaused = true
        try await queue.open()
        let ids = try await queue.add(["a", "b"].map { fixture.download($0) })
        await queue.close()
        try await queue.pause(ids[0])
        let next = DownloadQueueFixture.queue(in: fixture.folder.path)
        next.isPaused = true
        try await next.open()
        #expect(next.entries.map(\.state) == [.paused, .waiting])
        let error = await #expect(throws: RequestError.self) { try await queue.pause(ids[1]) }
        #expect(error?.code == .storeFailed)
        await next.close()
    }

    @Test func downloadsThatAreAddedBeforeTheQueueIsOpenedComeAfterTheStoredOnes() async throws {
        let first = DownloadQueueFixture.queue(in: fixture.folder.path)
        first.isPaused = true
        try await first.open()
        var ids = try await first.add(["a", "b"].map { fixture.download($0) })
        await first.close()
        let next = DownloadQueueFixture.queue(in: fixture.folder.path)
        next.isPaused = true
        ids += try await next.add([fixture.download("c")])
        ids += try await next.add([fixture.download("a")])
        try await next.open()
        #expect(next.entries.map(\.id) == ids)
        #expect(next.entries.map(\.sequence) == [1, 2, 3, 4])
        await next.close()
    }

    /// The child is killed while both downloads are in progress.
    @Test(arguments: TransportKind.allCases)
    func queueOfAKilledProcessContinues(kind: TransportKind) async throws {
        try await fixture.server.start()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = fixture.folder.path as String,
                urls = [fixture.server.url("/a"), fixture.server.url("/b")] as [String],
                kind = kind as TransportKind,
            ] in
            let queue = DownloadQueueFixture.queue(
                in: path, transport: kind.makeTransport())
            try await queue.open()
            try await queue.add(
                zip(urls, ["a", "b"]).map { url, name in
                    .init(EndpointURL(raw: url), to: URL(fileURLWithPath: "\(path)/\(name).bin"))
                })
            for await entries in queue.updates
            where entries.allSatisfy({ $0.progress.bytesReceived == 60_000 }) {
                kill(getpid(), SIGKILL)
            }
        }
        fixture.gate.open()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        #expect(queue.entries.count == 2)
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a", "b"]))
        let ranges = fixture.server.requests.map { $0.header("Range") }
        #expect(ranges.suffix(2) == ["bytes=60000-", "bytes=60000-"])
        await queue.close()
        await fixture.server.stop()
    }

    /// All bytes arrive, not earlier than the limit allows.
    @Test(arguments: TransportKind.allCases)
    func downloadsFinishUnderABandwidthLimit(kind: TransportKind) async throws {
        try await fixture.server.start()
        fixture.gate.open()
        let clock = ManualClock()
        let queue = try await fixture.queue(
            .init(bytesPerSecond: 10_000), transport: kind.makeTransport(), clock: clock)
        try await queue.add(["a", "b"].map { fixture.download($0) })
        await fixture.untilIdle(queue, advancing: clock)
        #expect(try fixture.haveContent(["a", "b"]))
        #expect(clock.uptime >= .seconds(40 * 0.95))
        await queue.close()
        await fixture.server.stop()
    }

    /// The downloads continue.
    @Test func cancelledWaitEndsAtOnce() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        _ = try await queue.add([fixture.download("a")])
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        let waits = (0..<3).map { _ in
            Task {
                await #expect(throws: RequestError.self) { try await queue.untilIdle() }
            }
        }
        for wait in waits { wait.cancel() }
        for wait in waits { #expect(await wait.value?.code == .cancelled) }
        fixture.gate.open()
        try await queue.untilIdle()
        #expect(try fixture.haveContent(["a"]))
        // An idle queue needs no wait.
        let idle = Task {
            while !Task.isCancelled { await Task.yield() }
            try await queue.untilIdle()
        }
        idle.cancel()
        try await idle.value
        await queue.close()
        await fixture.server.stop()
    }
}
