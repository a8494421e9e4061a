import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// The progress of all downloads of a queue together.
@Suite(.limited) struct QueueProgressTests {
    let fixture: DownloadQueueFixture

    init() throws { fixture = try DownloadQueueFixture() }

    @Test func sequenceHasTheSumOfAllDownloads() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        try await queue.add(["a", "b"].map { fixture.download($0) })
        for await progress in queue.progressUpdates where progress.bytesReceived == 120_000 {
            #expect(progress.totalBytesToReceive == 400_000)
            break
        }
        fixture.gate.open()
        for await progress in queue.progressUpdates where progress.bytesReceived == 400_000 {
            #expect(progress.fractionReceived == 1)
            break
        }
        try await queue.untilIdle()
        #expect(queue.progress.bytesReceived == 400_000)
        #expect(queue.progress.bytesReceivedPerSecond == nil)
        await queue.close()
        await fixture.server.stop()
    }

    @Test func sequenceEndsWithTheQueue() async throws {
        var queue: DownloadQueue? = DownloadQueueFixture.queue(in: fixture.folder.path)
        let updates = queue?.progressUpdates
        queue = nil
        var count = 0
        for await _ in try #require(updates) { count += 1 }
        #expect(count == 1 && queue == nil)
    }

    /// The time of the clock does not advance, so that the interval leaves out all other values.
    @Test func handlerHasTheFirstAndTheLastValue() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(clock: ManualClock())
        let (values, value) = AsyncStream.makeStream(of: TransferProgress.self)
        queue.onProgress { value.yield($0) }
        try await queue.add([fixture.download()])
        var progress = values.makeAsyncIterator()
        // The handler is called elsewhere: with the gate open, its first value could be the last one.
        let first = await progress.next()
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        fixture.gate.open()
        let last = await progress.next()
        #expect(first.map { $0.bytesReceived <= 60_000 } == true)
        #expect(last?.bytesReceived == 200_000 && last?.totalBytesToReceive == 200_000)
        await queue.close()
        await fixture.server.stop()
    }

    @Test func handlerOfRunningDownloadsBeginsWithTheirBytes() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        try await queue.add([fixture.download()])
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        let (values, value) = AsyncStream.makeStream(of: TransferProgress.self)
        queue.onProgress { value.yield($0) }
        #expect(await values.first { _ in true }?.bytesReceived == 60_000)
        fixture.gate.open()
        try await queue.untilIdle()
        await queue.close()
        await fixture.server.stop()
    }

    @Test func handlerIsCalledEarlierAfterANumberOfBytes() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue(clock: ManualClock())
        let (values, value) = AsyncStream.makeStream(of: TransferProgress.self)
        queue.onProgress(every: .seconds(3600), bytes: 1) { value.yield($0) }
        try await queue.add([fixture.download()])
        // The response waits after these bytes, so that this is not the last value.
        let progress = await values.first { $0.bytesReceived == 60_000 }
        #expect(progress?.totalBytesToReceive == 200_000)
        fixture.gate.open()
        try await queue.untilIdle()
        await queue.close()
        await fixture.server.stop()
    }

    @Test func handlerMayChangeTheQueue() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        queue.onProgress(every: .zero) { [weak queue] progress in
            if progress.bytesReceived == 60_000 { queue?.isPaused = true }
        }
        try await queue.add([fixture.download()])
        try await queue.untilIdle()
        #expect(queue.isPaused && queue.entries.map(\.state) == [.waiting])
        fixture.gate.open()
        await queue.close()
        await fixture.server.stop()
    }

    @Test func foundationProgressReportsAndPausesTheQueue() async throws {
        try await fixture.server.start()
        let queue = try await fixture.queue()
        let progress = queue.foundationProgress()
        #expect(queue.progress.totalBytesToReceive == nil && progress.isIndeterminate)
        #expect(!progress.isFinished && !progress.isCancellable)
        try await queue.add([fixture.download()])
        await fixture.until(queue) { $0.first?.progress.bytesReceived == 60_000 }
        let later = queue.foundationProgress()
        #expect(later.completedUnitCount == 60_000 && later.totalUnitCount == 200_000)
        // Foundation calls the pausing and resuming handlers on its own queue.
        progress.pause()
        while !queue.isPaused { await Task.yield() }
        progress.resume()
        while queue.isPaused { await Task.yield() }
        fixture.gate.open()
        while !progress.isFinished { await Task.yield() }
        #expect(progress.completedUnitCount == 200_000 && progress.totalUnitCount == 200_000)
        await queue.close()
        await fixture.server.stop()
    }
}
