import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// Files that another user has put under the names of a download's own files.
@Suite(.limited) struct PlantedFileTests {
    private let fixture: DownloadStepFixture
    private let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private func file(_ name: String) -> URL {
        fixture.directory.appendingPathComponent(".f.bin.errand-" + name)
    }

    private func use(segments: Int) {
        fixture.plan { ($0.segments, $0.minimumSegmentSize) = (segments, 5000) }
    }

    @Test(arguments: PlantedFile.possible, ["part", "journal", "journal-table"])
    func plantedFilesAreRefusedBeforeAnythingIsSent(
        _ planted: PlantedFile, _ name: String
    ) async throws {
        try planted.plant(at: file(name))
        let error = await fixture.runToError()
        if planted == .hardLink, name == "part" {
            // Also the state after a process was killed between two steps of a rename; the name is removed.
            #expect(error == nil && haveSameBytes(fixture.content(), content))
        } else {
            #expect(error?.code == .fileFailed && fixture.server.requests.isEmpty)
            #expect(error?.message.contains(file(name).path) == true)
            #expect(fixture.content() == nil)
        }
        #expect(planted.victimIsIntact(beside: file(name)))
    }

    @Test(
        arguments: PlantedFile.possible,
        ["journal-new", "journal-sync-new", "journal-table-new", "copy"])
    func plantedTemporaryFilesAreNotUsed(_ planted: PlantedFile, _ name: String) async throws {
        for segments in [1, 4] {
            try planted.plant(at: file(name))
            use(segments: segments)
            try await fixture.run()
            #expect(haveSameBytes(fixture.content(), content))
            #expect(planted.victimIsIntact(beside: file(name)))
            for file in [file(name), file(name).appendingPathExtension("victim")] {
                try? FileManager.default.removeItem(at: file)
            }
        }
    }

    /// Another user's part file, and the journal that belongs to it.
    @Test(arguments: [PlantedFile.ofAnotherUser, .writableByAll, .writableByGroup])
    func plantedPartIsNotResumed(_ planted: PlantedFile) async throws {
        guard PlantedFile.possible.contains(planted) else { return }
        let journal = DownloadJournal(
            url: "http://a/f.bin", validator: "\"v1\"", total: 100_000, offset: 10_000,
            session: BootSession.current)
        try planted.plant(at: fixture.journal, journal.encoded())
        try planted.plant(at: fixture.part, Data(count: 10_000))
        #expect(await fixture.runToError()?.code == .fileFailed)
        #expect(fixture.content() == nil && fixture.server.requests.isEmpty)
    }

    @Test func partThatIsReplacedDuringTheDownloadIsNotTheResult() async throws {
        let part = fixture.part
        fixture.server.change {
            $0.onChunk = { _ in
                unlink(part.path)
                try? Data("planted".utf8).write(to: part)
            }
        }
        let error = await fixture.runToError()
        #expect(error?.code == .fileFailed && error?.message.contains(part.path) == true)
        #expect(fixture.content() == nil)
    }

    @Test(arguments: [1, 4]) func onlyTheOwnerCanUseThePart(segments: Int) async throws {
        use(segments: segments)
        let modes = Mutex<[mode_t]>([])
        let files = [fixture.part, fixture.journal]
        fixture.server.change {
            $0.onChunk = { _ in
                for file in files {
                    var status = stat()
                    if stat(file.path, &status) == 0 {
                        modes.withLock { $0.append(status.st_mode) }
                    }
                }
            }
        }
        try await fixture.run()
        #expect(modes.withLock { $0.count > 1 && $0.allSatisfy { $0 & 0o077 == 0 } })
        var status = stat()
        #expect(stat(fixture.destination.path, &status) == 0)
        // As other files of the process.
        #expect(status.st_mode & 0o777 == FileAccess.defaultMode(in: fixture.directory.path))
    }

    @Test func keptFileMustBeRegular() async throws {
        try PlantedFile.pipe.plant(at: fixture.destination)
        fixture.plan {
            $0.existingFile = .keep
            $0.computedDigests = [.md5]
        }
        #expect(await fixture.runToError()?.code == .fileFailed)
    }

    /// Part files of earlier versions could be read by others, who could lock them.
    @Test func partOfAnEarlierVersionIsOpenToItsOwnerOnly() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        try #require(chmod(fixture.part.path, 0o644) == 0)
        fixture.server.change { $0.cuts = [10_000] }
        _ = await fixture.runToError()
        var status = stat()
        #expect(stat(fixture.part.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try await fixture.run()
        #expect(stat(fixture.destination.path, &status) == 0)
        #expect(status.st_mode & 0o777 == FileAccess.defaultMode(in: fixture.directory.path))
    }
}
