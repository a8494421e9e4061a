import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ErrandCore

/// What happens to files: errors, policies, locks, digests, sudden death.
@Suite(.timeLimit(.minutes(5)))
struct DownloadFileTests {
    let world: DownloadWorld
    let content = DownloadWorld.bytes(100_000)

    init() throws { world = try DownloadWorld() }

    private func put(_ text: String, _ name: String = "f.bin") throws {
        try Data(text.utf8).write(to: world.directory.appendingPathComponent(name))
    }

    private func breakOff(at offset: Int) async {
        world.server.change { $0.cuts = [offset] }
        _ = await world.runToError()
    }

    // MARK: - Errors

    @Test(arguments: [400, 404, 500, 503])
    func anErrorsBodyReachesNoFile(status: Int) async throws {
        try put("old")
        let page = (status, [:] as HTTPFields, Data("<html>sorry</html>".utf8))
        world.server.change { $0.scripted = [page] }
        let error = await world.runToError()
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data("<html>sorry</html>".utf8))
        #expect(world.content() == Data("old".utf8))
        #expect(world.names == ["f.bin"])
    }

    @Test func aRunThatWritesNothingVouchesForNothing() async throws {
        await breakOff(at: 40_000)
        // As a crash of the machine leaves it: bytes behind the offset were never synced.
        var journal = try #require(DownloadJournal(decoding: Data(contentsOf: world.journal)))
        journal.session = "another boot"
        journal.offset = 16_000
        try journal.encoded().write(to: world.journal)
        world.server.change { $0.scripted = [(503, [:], Data("busy".utf8))] }
        #expect(await world.runToError()?.code == .unacceptableStatus)
        let kept = try DownloadJournal(decoding: Data(contentsOf: world.journal))
        #expect(kept == journal)
        try await world.run()
        #expect(world.server.ranges.last == "bytes=16000-")
        #expect(world.content() == content)
    }

    @Test func anErrorBetweenTwoRunsLosesNothing() async throws {
        await breakOff(at: 40_000)
        world.server.change { $0.scripted = [(503, [:], Data("busy".utf8))] }
        #expect(await world.runToError()?.code == .unacceptableStatus)
        try await world.run()
        #expect(world.server.ranges.last == "bytes=40000-")
        #expect(world.content() == content)
    }

    @Test func aStatusNobodyWantsReplacesNothing() async throws {
        await breakOff(at: 40_000)
        world.describe { $0.acceptableStatusCodes = 206..<207 }
        world.server.change { $0.headers = [.eTag: "\"v2\""] }
        #expect(await world.runToError()?.code == .unacceptableStatus)
        #expect(try Data(contentsOf: world.part).count == 40_000)
    }

    @Test func aBodyOfAnotherLengthThanAnnouncedIsNoFile() async {
        world.server.change { $0.wrongLength = 200_000 }
        #expect(await world.runToError()?.code == .truncatedBody)
        #expect(world.content() == nil)
    }

    @Test func aPlaceThatCannotBeWrittenIsToldBeforeAnythingIsSent() async {
        world.plan { $0.destination = URL(fileURLWithPath: "/proc/errand/f.bin") }
        let error = await world.runToError()
        #expect(error?.code == .fileFailed)
        #expect(world.server.requests.isEmpty)
    }

    /// Whoever begins anew serves other transfers, too: the disk is not waited for, and comes too late to vouch for
    /// what is gone.
    @Test func beginningAnewWaitsForNoSync() async throws {
        let destination = try DownloadDestination(
            DownloadPlan(destination: world.destination), url: URI())
        let entered = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let descriptor = try FileLock.openLocked(destination.part)
        let isFirst = Mutex(true)
        let file = PartFile(destination, descriptor: descriptor, syncInterval: 1000) { _ in
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if waits {
                entered.signal()
                // Who waits for this one gives up here, and the test has failed.
                _ = goOn.wait(timeout: .now() + 20)
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
        goOn.signal()
        #expect(content.prefix(100).withUnsafeBytes { file.append($0) }?.message == nil)
        await file.close(.kept)
        let written = DownloadJournal(decoding: try Data(contentsOf: world.journal))
        #expect(written?.validator == "\"new\"")
        #expect(written?.offset == 100)
        #expect(world.names.sorted() == [".f.bin.errand-journal", ".f.bin.errand-part"])
    }

    @Test func aFullDiskIsTold() async throws {
        try #require(FileManager.default.fileExists(atPath: "/dev/full"))
        let destination = try DownloadDestination(
            DownloadPlan(destination: world.destination), url: URI())
        let file = PartFile(destination, descriptor: open("/dev/full", O_RDWR))
        let error = Data("x".utf8).withUnsafeBytes { file.append($0) }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains("Free some space") == true)
        await file.close(.discarded)
    }

    @Test func rangesOfTheUsersOwnAreRefused() async {
        do throws(RequestError) {
            try await world.run { $0.headers[.range] = "bytes=0-5" }
            Issue.record("It went through.")
        } catch {
            #expect(error.code == .invalidCombination)
        }
        #expect(world.server.requests.isEmpty)
    }

    // MARK: - Files that are there

    @Test func overwritingReplacesOnlyByAWholeFile() async throws {
        try put("old")
        await breakOff(at: 40_000)
        #expect(world.content() == Data("old".utf8))
        try await world.run()
        #expect(world.content() == content)
    }

    @Test func failingSendsNothing() async throws {
        try put("old")
        world.plan { $0.existingFile = .fail }
        #expect(await world.runToError()?.code == .fileFailed)
        #expect(world.server.requests.isEmpty)
        #expect(world.content() == Data("old".utf8))
    }

    @Test func failingHoldsForAFileThatCameMeanwhile() async throws {
        world.plan { $0.existingFile = .fail }
        world.server.change { state in
            state.onBody = { [url = world.destination] in try? Data("new".utf8).write(to: url) }
        }
        #expect(await world.runToError()?.code == .fileFailed)
        #expect(world.content() == Data("new".utf8))
    }

    @Test func renamingFindsAFreeName() async throws {
        try put("1")
        try put("2", "f 2.bin")
        world.plan { $0.existingFile = .rename }
        #expect(try await world.run().file?.lastPathComponent == "f 3.bin")
        #expect(world.content("f 3.bin") == content)
        #expect(world.content() == Data("1".utf8))
        #expect(world.names == ["f 2.bin", "f 3.bin", "f.bin"])
    }

    // MARK: - Digest

    @Test func theRightDigestPasses() async throws {
        world.plan { $0.sha256 = SHA256.hex(content).uppercased() }
        try await world.run()
        #expect(world.content() == content)
    }

    @Test func aWrongDigestLeavesNothing() async throws {
        try put("old")
        world.plan { $0.sha256 = SHA256.hex(Data()) }
        #expect(await world.runToError()?.code == .digestMismatch)
        #expect(world.content() == Data("old".utf8))
        #expect(world.names == ["f.bin"])
    }

    @Test func aResumedFileIsCheckedAsAWhole() async throws {
        await breakOff(at: 40_000)
        world.plan { $0.sha256 = SHA256.hex(content) }
        try await world.run()
        #expect(world.content() == content)
    }

    @Test(arguments: ["", "abc", String(repeating: "g", count: 64)])
    func whatIsNoDigestIsToldBeforeAnythingIsSent(text: String) async {
        world.plan { $0.sha256 = text }
        #expect(await world.runToError()?.code == .invalidConfiguration)
        #expect(world.server.requests.isEmpty)
    }

    // MARK: - Two at once

    @Test func twoDownloadsToOnePlaceAreRefused() async throws {
        let second = Mutex<RequestError?>(nil)
        let destination = try DownloadDestination(
            DownloadPlan(destination: world.destination), url: URI())
        world.server.change { state in
            state.onBody = {
                do throws(RequestError) { _ = try PartFile(destination) } catch {
                    second.withLock { $0 = error }
                }
            }
        }
        try await world.run()
        #expect(second.withLock { $0 }?.code == .fileFailed)
        #expect(second.withLock { $0 }?.message.contains("Another download") == true)
        try await world.run()
    }

    @Test func anotherProcessHoldsTheFile() async throws {
        let other = open(world.part.path, O_RDWR | O_CREAT, 0o600)
        try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect(await world.runToError()?.code == .fileFailed)
        #expect(world.server.requests.isEmpty)
        close(other)
        try await world.run()
        #expect(world.content() == content)
    }

    // MARK: - Strange files and sudden death

    @Test(arguments: ["", "{", "garbage", "{\"format\":99}"])
    func aJournalThatIsNoneMeansStartingAgain(text: String) async throws {
        await breakOff(at: 40_000)
        try Data(text.utf8).write(to: world.journal)
        try await world.run()
        #expect(world.server.ranges.last == "-")
        #expect(world.content() == content)
    }

    @Test func aJournalOfAnotherAddressIsNotUsed() async throws {
        await breakOff(at: 40_000)
        try await world.run { $0.url.query = "other" }
        #expect(world.server.ranges.last == "-")
        #expect(world.content() == content)
    }

    @Test func aPartWithoutJournalIsNotUsed() async throws {
        try put("foreign bytes", ".f.bin.errand-part")
        try await world.run()
        #expect(world.content() == content)
    }

    @Test func aLinkInPlaceOfThePartIsNotFollowed() async throws {
        try put("precious", "other")
        try FileManager.default.createSymbolicLink(
            at: world.part, withDestinationURL: world.directory.appendingPathComponent("other"))
        #expect(await world.runToError()?.code == .fileFailed)
        #expect(world.content("other") == Data("precious".utf8))
    }

    @Test func aFinishedFileThatStillHasThePartsNameIsNotTouched() async throws {
        // Killed between giving the file its name and taking the old one from it.
        try put("finished")
        #expect(link(world.destination.path, world.part.path) == 0)
        world.plan { $0.existingFile = .rename }
        try await world.run()
        #expect(world.content() == Data("finished".utf8))
        #expect(world.content("f 2.bin") == content)
    }

    @Test func whatAKilledProcessLeftIsContinued() async throws {
        // The bytes are in the file, the journal has seen no sync: as after a kill.
        let session = BootSession.current
        try #require(session != nil)
        let journal = DownloadJournal(
            url: "http://a/f.bin", validator: "\"v1\"", total: 100_000, session: session)
        try journal.encoded().write(to: world.journal)
        try content.prefix(12_345).write(to: world.part)
        try await world.run()
        #expect(world.server.ranges == ["bytes=12345-"])
        #expect(world.content() == content)
    }

    @Test func afterACrashOfTheMachineOnlySyncedBytesCount() async throws {
        let journal = DownloadJournal(
            url: "http://a/f.bin", validator: "\"v1\"", total: 100_000, offset: 10_000,
            session: "another")
        try journal.encoded().write(to: world.journal)
        // Behind the offset the disk holds zeros.
        try (content.prefix(10_000) + Data(count: 5000)).write(to: world.part)
        try await world.run()
        #expect(world.server.ranges == ["bytes=10000-"])
        #expect(world.content() == content)
    }

    @Test func theJournalsOffsetFollowsTheDisk() async throws {
        let destination = try DownloadDestination(
            DownloadPlan(destination: world.destination), url: URI())
        let file = try PartFile(destination, syncInterval: 1000)
        let journal = DownloadJournal(
            url: "u", validator: "\"v\"", total: nil, session: BootSession.current)
        #expect(file.begin(journal)?.message == nil)
        for _ in 0..<5 {
            let error = content.prefix(700).withUnsafeBytes { file.append($0) }
            #expect(error?.message == nil)
        }
        await file.close(.kept)
        let written = DownloadJournal(decoding: try Data(contentsOf: world.journal))
        #expect(written?.offset == 3500)
        #expect(!world.names.contains { $0.hasSuffix("-new") })
    }
}
