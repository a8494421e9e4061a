import ErrandCore
import ErrandHTTP
import ErrandSQLite
import Foundation
import Testing

@testable import ErrandDownloadQueue

/// Which downloads of a queue run.
@Suite struct QueueStateTests {
    private typealias Download = DownloadQueue.Download

    private let now = Date(timeIntervalSince1970: 1_893_456_000)

    /// A queue with these downloads, and their identifiers.
    private func queue(
        _ downloads: [Download], total: Int = 4, perHost: Int = 4
    ) -> (QueueState, [UUID]) {
        var state = QueueState(limits: .init(total: total, perHost: perHost))
        let entries = state.reserve(downloads)
        for entry in entries { state.restore(entry) }
        return (state, entries.map(\.id))
    }

    private func download(
        _ url: EndpointURL = "http://a/f", _ priority: RequestPriority = .normal,
        notBefore: Date? = nil, isUnmetered: Bool = false
    ) -> Download {
        Download(
            url, to: URL(fileURLWithPath: "/tmp/" + UUID().uuidString), priority: priority,
            notBefore: notBefore,
            requiresUnmeteredNetwork: isUnmetered)
    }

    private func start(_ state: inout QueueState, isUnmetered: Bool = false) -> [UUID] {
        state.start(now: now, isUnmetered: isUnmetered).map(\.id)
    }

    @Test func higherPrioritiesStartFirstThenEarlierDownloads() {
        var (state, ids) = queue(
            [download(), download("http://a/f", .low), download("http://a/f", .high), download()],
            total: 3)
        let started = start(&state)
        #expect(started == [ids[2], ids[0], ids[3]])
        #expect(state.ordered.map(\.id) == ids)
        #expect(state.ordered.map(\.state) == [.running, .waiting, .running, .running])
    }

    @Test func anyIntegerIsAPriority() {
        let levels = [3, -4, 5, 0, 4, 3]
        let downloads = levels.map { level in
            var download = download()
            download.priorityLevel = level
            return download
        }
        #expect(downloads.map(\.priority) == [.high, .low, .high, .normal, .high, .high])
        var (state, ids) = queue(downloads, total: 1)
        var order: [Int] = []
        while let id = start(&state).first {
            order.append(ids.firstIndex(of: id) ?? -1)
            _ = state.ended(id, .failure(.cancelled))
        }
        #expect(order == [2, 4, 0, 5, 3, 1])
        let hasChanged = state.set(priorityLevel: 7, of: ids[1])
        #expect(hasChanged && state.ordered[1].download.priorityLevel == 7)
    }

    /// Two requests cannot write one part file.
    @Test func downloadsOfOneURLToOneDestinationFollowEachOther() {
        let first = download()
        var other = first
        other.url = "http://a/g"
        var (state, ids) = queue([first, first, other])
        let started = start(&state)
        #expect(started == [ids[0], ids[2]])
        _ = state.ended(ids[0], .failure(.cancelled))
        let next = start(&state)
        #expect(next == [ids[1]])
    }

    @Test func settingsOfADownloadSurviveTheirStoredForm() {
        var changed = download()
        changed.priorityLevel = 17
        changed.retryPolicy = RetryPolicy(
            maximumAttempts: 9, baseDelay: .milliseconds(3), retryableStatusCodes: [418],
            attemptTimeout: .seconds(2))
        changed.timeouts = Timeouts(connect: .seconds(1), idle: nil, total: .seconds(99))
        changed.metadata = ["id": "é"]
        var (state, ids) = queue([changed])
        #expect(DownloadQueue.Entry(state.ordered[0].row)?.download == changed)
        _ = start(&state)
        let file = DownloadedFile(
            file: URL(fileURLWithPath: "/f"), bytes: 5, resumedOffset: 2, digests: [.md5("ab")],
            contentType: "text/plain", suggestedName: "n", duration: .seconds(3), wasKept: true)
        _ = state.ended(ids[0], .success(file))
        #expect(DownloadQueue.Entry(state.ordered[0].row)?.file == file)
    }

    @Test func limitOfAHostLeavesPlacesToOthers() {
        var (state, ids) = queue(
            [download(), download(), download("http://b/f"), download("http://A/g")],
            total: 3, perHost: 1)
        let started = start(&state)
        #expect(started == [ids[0], ids[2]])
        let changed = state.ended(
            ids[0], .success(DownloadedFile(file: URL(fileURLWithPath: "/tmp/f"), bytes: 1)))
        #expect(changed)
        let next = start(&state)
        #expect(next == [ids[1]])
    }

    @Test func limitsBelowOneCountAsOne() {
        var (state, ids) = queue([download(), download("http://b/f")], total: 0, perHost: -1)
        let started = start(&state)
        #expect(started == [ids[0]])
    }

    @Test func pausedDownloadStartsAfterItIsResumedAndItsRequestHasEnded() {
        var (state, ids) = queue([download()])
        _ = start(&state)
        let isPaused = state.pause(ids[0])
        #expect(isPaused && state.ordered[0].state == .paused)
        let isResumed = state.resume(ids[0])
        #expect(isResumed)
        let early = start(&state)
        #expect(early.isEmpty)
        let changed = state.ended(ids[0], .failure(.cancelled))
        #expect(!changed && state.ordered[0].state == .waiting)
        let later = start(&state)
        #expect(later == ids)
    }

    @Test func onlyWaitingAndRunningDownloadsArePaused() {
        var (state, ids) = queue([download(), download()])
        _ = start(&state)
        _ = state.ended(
            ids[0], .success(DownloadedFile(file: URL(fileURLWithPath: "/f"), bytes: 0)))
        let pausesFinished = state.pause(ids[0])
        let resumesRunning = state.resume(ids[1])
        let retriesRunning = state.retry(ids[1])
        let pausesUnknown = state.pause(UUID())
        #expect(!pausesFinished && !resumesRunning && !retriesRunning && !pausesUnknown)
    }

    @Test func failedDownloadWaitsForARetry() {
        var (state, ids) = queue([download()])
        _ = start(&state)
        let error = RequestError(.connectionLost, stage: .transport, "cut")
        let changed = state.ended(ids[0], .failure(error))
        #expect(changed && state.ordered[0].state == .failed(error.description))
        #expect(state.ordered[0].failure?.code == .connectionLost)
        #expect(DownloadQueue.Entry(state.ordered[0].row)?.failure == state.ordered[0].failure)
        let none = start(&state)
        #expect(none.isEmpty && state.isIdle)
        let isRetried = state.retry(ids[0])
        #expect(isRetried && !state.isIdle && state.ordered[0].failure == nil)
    }

    @Test func fileThatIsCompleteDespiteAPauseIsFinished() {
        var (state, ids) = queue([download()])
        _ = start(&state)
        _ = state.pause(ids[0])
        let file = URL(fileURLWithPath: "/f")
        let changed = state.ended(ids[0], .success(DownloadedFile(file: file, bytes: 7)))
        #expect(changed && state.ordered[0].state == .finished(file))
        #expect(state.ordered[0].file?.bytes == 7)
    }

    @Test func downloadThatIsCancelledByOthersIsPaused() {
        var (state, ids) = queue([download()])
        _ = start(&state)
        let changed = state.ended(ids[0], .failure(.cancelled))
        #expect(changed && state.ordered[0].state == .paused)
    }

    @Test func pausedQueueStartsNothing() {
        var (state, ids) = queue([download(), download()], total: 1)
        _ = start(&state)
        let stopped = state.pauseAll()
        #expect(stopped == [ids[0]] && !state.isIdle)
        _ = state.ended(ids[0], .failure(.cancelled))
        let none = start(&state)
        #expect(none.isEmpty && state.isIdle)
        state.isPaused = false
        let again = start(&state)
        #expect(again == [ids[0]])
    }

    @Test func downloadWaitsForItsTime() {
        let later = now.addingTimeInterval(60)
        var (state, ids) = queue([
            download(notBefore: later.addingTimeInterval(1)), download(notBefore: later),
            download(notBefore: now),
        ])
        let started = start(&state)
        #expect(started == [ids[2]])
        #expect(state.nextTime(after: now) == later)
        #expect(state.nextTime(after: later) == later.addingTimeInterval(1))
        let due = state.start(now: later, isUnmetered: false).map(\.id)
        #expect(due == [ids[1]])
    }

    @Test func downloadWaitsForAnUnmeteredNetwork() {
        var (state, ids) = queue([download(isUnmetered: true), download()])
        let metered = start(&state)
        #expect(metered == [ids[1]])
        let unmetered = start(&state, isUnmetered: true)
        #expect(unmetered == [ids[0]])
        let left = state.leaveUnmeteredNetwork()
        #expect(left == [ids[0]] && state.ordered[0].state == .waiting)
    }

    @Test func runningDownloadOfAnEarlierProcessWaits() {
        var (state, ids) = queue([download()])
        _ = start(&state)
        var next = QueueState(limits: .init())
        for entry in state.ordered { next.restore(entry) }
        #expect(next.ordered.map(\.state) == [.waiting])
        let added = next.reserve([download()])
        #expect(added[0].sequence > next.ordered[0].sequence && added[0].id != ids[0])
    }

    @Test func entrySurvivesItsStoredForm() throws {
        let (state, _) = queue([
            Download(
                "http://a/f?x=1", to: URL(fileURLWithPath: "/tmp/ü"), existingFile: .keep,
                headers: [.accept: "text/plain"],
                expectedDigests: [.sha256("ab"), .md5("cd")], segments: 3, priority: .high,
                notBefore: now, requiresUnmeteredNetwork: true)
        ])
        let entry = state.ordered[0]
        #expect(DownloadQueue.Entry(entry.row) == entry)
        #expect(entry.download.priority == .high)
        #expect(entry.download.expectedDigests == [.sha256("ab"), .md5("cd")])
        #expect(entry.download.existingFile == .keep)
    }

    @Test(arguments: [.overwrite, .fail, .rename, .keep, nil] as [DownloadPlan.ExistingFile?])
    func policyForExistingFilesSurvivesItsStoredForm(policy: DownloadPlan.ExistingFile?) {
        var changed = download()
        changed.existingFile = policy
        let (state, _) = queue([changed])
        #expect(DownloadQueue.Entry(state.ordered[0].row)?.download.existingFile == policy)
    }

    /// Earlier versions stored no policy for existing files.
    @Test func entryOfAnEarlierVersionIsRead() throws {
        var old = download(notBefore: now)
        old.existingFile = .keep
        let (state, _) = queue([old])
        var row = state.ordered[0].row
        let object = try JSONSerialization.jsonObject(with: row.entry)
        var stored = try #require(object as? [String: Any])
        var fields = try #require(stored["download"] as? [String: Any])
        let removed = fields.removeValue(forKey: "policy")
        #expect(removed != nil)
        stored["download"] = fields
        row.entry = try JSONSerialization.data(withJSONObject: stored)
        old.existingFile = nil
        #expect(DownloadQueue.Entry(row)?.download == old)
    }

    @Test func newDownloadsAreNumberedAfterTheStoredOnes() {
        var state = QueueState(limits: .init())
        state.number(after: 7)
        let entries = state.reserve([download(), download()])
        #expect(entries.map(\.sequence) == [8, 9])
        state.number(after: 3)
        let more = state.reserve([download()])
        #expect(more.map(\.sequence) == [10])
    }
}
