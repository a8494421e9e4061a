import Dispatch
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// The files of downloads: errors, existing files, digests, locks and invalid files.
@Suite(.limited)
struct DownloadFileTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private func writeFile(_ text: String, _ name: String = "f.bin") throws {
        try Data(text.utf8).write(to: fixture.directory.appendingPathComponent(name))
    }

    private func interruptDownload(at offset: Int) async {
        fixture.server.change { $0.cuts = [offset] }
        _ = await fixture.runToError()
    }

    // MARK: - Errors

    @Test(arguments: [400, 404, 500, 503])
    func errorBodyIsNotWrittenToTheFile(status: Int) async throws {
        try writeFile("old")
        let page = (status, [:] as HTTPFields, Data("<html>sorry</html>".utf8))
        fixture.server.change { $0.scripted = [page] }
        let error = await fixture.runToError()
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data("<html>sorry</html>".utf8))
        #expect(fixture.content() == Data("old".utf8))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func runWithoutWritesKeepsTheJournal() async throws {
        await interruptDownload(at: 40_000)
        // The state after a system crash: bytes after the offset were never synced.
        var journal = try #require(DownloadJournal(decoding: Data(contentsOf: fixture.journal)))
        journal.session = "another boot"
        journal.offset = 16_000
        try journal.encoded().write(to: fixture.journal)
        fixture.server.change { $0.scripted = [(503, [:], Data("busy".utf8))] }
        #expect(await fixture.runToError()?.code == .unacceptableStatus)
        let kept = try DownloadJournal(decoding: Data(contentsOf: fixture.journal))
        #expect(kept == journal)
        try await fixture.run()
        #expect(fixture.server.ranges.last == "bytes=16000-")
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func errorResponseKeepsThePart() async throws {
        await interruptDownload(at: 40_000)
        fixture.server.change { $0.scripted = [(503, [:], Data("busy".utf8))] }
        #expect(await fixture.runToError()?.code == .unacceptableStatus)
        try await fixture.run()
        #expect(fixture.server.ranges.last == "bytes=40000-")
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func unacceptableStatusKeepsThePart() async throws {
        await interruptDownload(at: 40_000)
        fixture.describe { $0.acceptance.statuses = [206] }
        fixture.server.change { $0.headers = [.eTag: "\"v2\""] }
        #expect(await fixture.runToError()?.code == .unacceptableStatus)
        #expect(try Data(contentsOf: fixture.part).count == 40_000)
    }

    @Test func bodyShorterThanContentLengthFails() async {
        fixture.server.change { $0.wrongLength = 200_000 }
        #expect(await fixture.runToError()?.code == .truncatedBody)
        #expect(fixture.content() == nil)
    }

    @Test func unwritableDestinationFailsBeforeSending() async {
        fixture.plan { $0.destination = URL(fileURLWithPath: "/proc/errand/f.bin") }
        let error = await fixture.runToError()
        #expect(error?.code == .fileFailed)
        #expect(fixture.server.requests.isEmpty)
    }

    /// The thread that restarts a download also serves other transfers: it does not wait for a sync.
    ///
    /// A sync that ends later does not write the old journal.
    @Test func restartDoesNotWaitForASync() async throws {
        let destination = try DownloadDestination(
            DownloadPlan(to: fixture.destination), url: HTTPURL())
        let entered = DispatchSemaphore(value: 0)
        let proceed = DispatchSemaphore(value: 0)
        let descriptor = try FileLock.openLocked(destination.part)
        let isFirst = Mutex(true)
        let file = PartFile(destination, descriptor: descriptor, syncInterval: 1000) { _ in
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if waits {
                entered.signal()
                // A caller that waits for this sync fails the test after the timeout.
                _ = proceed.wait(timeout: .now() + 20)
            }
            return true
        }
        func journal(_ validator: String) -> DownloadJournal {
            DownloadJournal(
                url: "u", validator: validator, total: nil, session: BootSession.current)
        }
        #expect(file.begin(journal("\"old\""))?.message == nil)
        let failure = content.prefix(5000).withUnsafeBytes { file.append($0) }
        #expect(failure?.message == nil)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                entered.wait()
                continuation.resume()
            }
        }
        let start = ContinuousClock.now
        #expect(file.begin(journal("\"new\""))?.message == nil)
        #expect(file.resume(at: 0, total: nil)?.message == nil)
        let isPrompt = start.duration(to: .now) < .seconds(15)
        #expect(isPrompt)
        proceed.signal()
        #expect(content.prefix(100).withUnsafeBytes { file.append($0) }?.message == nil)
        await file.close(.kept)
        let written = DownloadJournal(decoding: try Data(contentsOf: fixture.journal))
        #expect(written?.validator == "\"new\"")
        #expect(written?.offset == 100)
        #expect(fixture.names.sorted() == [".f.bin.errand-journal", ".f.bin.errand-part"])
    }

    @Test func fullDiskIsReported() async throws {
        try #require(FileManager.default.fileExists(atPath: "/dev/full"))
        let destination = try DownloadDestination(
            DownloadPlan(to: fixture.destination), url: HTTPURL())
        let file = PartFile(destination, descriptor: open("/dev/full", O_RDWR))
        let error = Data("x".utf8).withUnsafeBytes { file.append($0) }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains("Free some space") == true)
        await file.close(.discarded)
    }

    @Test func rangeHeaderOfTheRequestIsRejected() async {
        do throws(RequestError) {
            try await fixture.run { $0.headers[.range] = "bytes=0-5" }
            Issue.record("The request was not rejected.")
        } catch {
            #expect(error.code == .invalidCombination)
        }
        #expect(fixture.server.requests.isEmpty)
    }

    // MARK: - Existing files

    @Test func overwriteReplacesOnlyWithACompleteFile() async throws {
        try writeFile("old")
        await interruptDownload(at: 40_000)
        #expect(fixture.content() == Data("old".utf8))
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func existingFileFailsBeforeSending() async throws {
        try writeFile("old")
        fixture.plan { $0.existingFile = .fail }
        #expect(await fixture.runToError()?.code == .fileFailed)
        #expect(fixture.server.requests.isEmpty)
        #expect(fixture.content() == Data("old".utf8))
    }

    @Test func fileCreatedDuringTheDownloadFails() async throws {
        fixture.plan { $0.existingFile = .fail }
        fixture.server.change { state in
            state.onBody = { [url = fixture.destination] in try? Data("new".utf8).write(to: url) }
        }
        #expect(await fixture.runToError()?.code == .fileFailed)
        #expect(fixture.content() == Data("new".utf8))
    }

    @Test func renameUsesTheNextFreeName() async throws {
        try writeFile("1")
        try writeFile("2", "f 2.bin")
        fixture.plan { $0.existingFile = .rename }
        #expect(try await fixture.run().file?.lastPathComponent == "f 3.bin")
        #expect(haveSameBytes(fixture.content("f 3.bin"), content))
        #expect(fixture.content() == Data("1".utf8))
        #expect(fixture.names == ["f 2.bin", "f 3.bin", "f.bin"])
    }

    // MARK: - Digest

    @Test func matchingDigestIsAccepted() async throws {
        fixture.plan { $0.sha256 = SHA256.hex(content).uppercased() }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func digestMismatchRemovesThePart() async throws {
        try writeFile("old")
        fixture.plan { $0.sha256 = SHA256.hex(Data()) }
        #expect(await fixture.runToError()?.code == .digestMismatch)
        #expect(fixture.content() == Data("old".utf8))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func digestOfAResumedFileCoversTheWholeFile() async throws {
        await interruptDownload(at: 40_000)
        fixture.plan { $0.sha256 = SHA256.hex(content) }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test(arguments: ["", "abc", String(repeating: "g", count: 64)])
    func invalidDigestIsRefused(text: String) {
        let plan = DownloadPlan(to: fixture.destination) { $0.sha256 = text }
        let error = #expect(throws: RequestError.self) { try plan.check() }
        #expect(error?.code == .invalidConfiguration && error?.stage == .build)
    }

    // MARK: - Concurrent downloads

    @Test func secondDownloadToTheSameFileFails() async throws {
        let second = Mutex<RequestError?>(nil)
        let destination = try DownloadDestination(
            DownloadPlan(to: fixture.destination), url: HTTPURL())
        fixture.server.change { state in
            state.onBody = {
                do throws(RequestError) { _ = try PartFile(destination) } catch {
                    second.withLock { $0 = error }
                }
            }
        }
        try await fixture.run()
        #expect(second.withLock { $0 }?.code == .fileFailed)
        #expect(second.withLock { $0 }?.message.contains("Another download") == true)
        try await fixture.run()
    }

    // MARK: - Invalid files

    // `KilledDownloadTests` has the files of killed processes.

    @Test(arguments: ["", "{", "garbage", "{\"format\":99}"])
    func invalidJournalRestartsTheDownload(text: String) async throws {
        await interruptDownload(at: 40_000)
        try Data(text.utf8).write(to: fixture.journal)
        try await fixture.run()
        #expect(fixture.server.ranges.last == "-")
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func journalOfAnotherURLIsNotUsed() async throws {
        await interruptDownload(at: 40_000)
        try await fixture.run { $0.url.query = "other" }
        #expect(fixture.server.ranges.last == "-")
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func partWithoutAJournalIsNotUsed() async throws {
        try writeFile("foreign bytes", ".f.bin.errand-part")
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func symbolicLinkInPlaceOfThePartIsNotFollowed() async throws {
        try writeFile("precious", "other")
        try FileManager.default.createSymbolicLink(
            at: fixture.part, withDestinationURL: fixture.directory.appendingPathComponent("other"))
        #expect(await fixture.runToError()?.code == .fileFailed)
        #expect(fixture.content("other") == Data("precious".utf8))
    }

    @Test func symbolicLinkToAMissingFileDoesNotCreateIt() async throws {
        try FileManager.default.createSymbolicLink(
            at: fixture.part, withDestinationURL: fixture.directory.appendingPathComponent("other"))
        #expect(await fixture.runToError()?.code == .fileFailed)
        #expect(fixture.content("other") == nil)
    }

    @Test func finishedFileLinkedToThePartIsKept() async throws {
        // The process was killed after linking the final name, before removing the part's name.
        try writeFile("finished")
        fixture.plan { $0.existingFile = .rename }
        var plan = DownloadPlan(to: fixture.destination)
        plan.existingFile = .rename
        let part = try DownloadDestination(
            plan, url: HTTPURL(scheme: "http", host: "a", path: "/f.bin")
        ).part
        #expect(link(fixture.destination.path, part.path) == 0)
        try await fixture.run()
        #expect(fixture.content() == Data("finished".utf8))
        #expect(haveSameBytes(fixture.content("f 2.bin"), content))
    }

    @Test func onlySyncedBytesAreUsedAfterASystemCrash() async throws {
        let journal = DownloadJournal(
            url: "http://a/f.bin", validator: "\"v1\"", total: 100_000, offset: 10_000,
            session: "another")
        try journal.encoded().write(to: fixture.journal)
        // After the offset the file holds zeros.
        try (content.prefix(10_000) + Data(count: 5000)).write(to: fixture.part)
        try await fixture.run()
        #expect(fixture.server.ranges == ["bytes=10000-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func journalOffsetMatchesTheSyncedSize() async throws {
        let destination = try DownloadDestination(
            DownloadPlan(to: fixture.destination), url: HTTPURL())
        let file = try PartFile(destination, syncInterval: 1000)
        let journal = DownloadJournal(
            url: "u", validator: "\"v\"", total: nil, session: BootSession.current)
        #expect(file.begin(journal)?.message == nil)
        for _ in 0..<5 {
            let error = content.prefix(700).withUnsafeBytes { file.append($0) }
            #expect(error?.message == nil)
        }
        await file.close(.kept)
        let written = DownloadJournal(decoding: try Data(contentsOf: fixture.journal))
        #expect(written?.offset == 3500)
        #expect(!fixture.names.contains { $0.hasSuffix("-new") })
    }
}
