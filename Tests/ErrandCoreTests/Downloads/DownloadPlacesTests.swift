import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// Names and places of downloads: folders, existing files, part folders, attributes and free space.
@Suite(.limited)
struct DownloadPlacesTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private func useFolder(_ policy: DownloadPlan.ExistingFile = .overwrite) {
        fixture.plan {
            ($0.destination, $0.existingFile) = (fixture.directory, policy)
        }
    }

    private func propose(_ name: String) {
        fixture.server.change {
            $0.headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        }
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: fixture.directory.appendingPathComponent(name))
    }

    private func interrupt(at offset: Int) async {
        fixture.server.change { $0.cuts = [offset] }
        _ = await fixture.runToError()
    }

    // MARK: - Names in a folder

    @Test(arguments: [
        ("map.zip", "map.zip"), ("../../map.zip", "map.zip"), (".bashrc", "bashrc"),
        ("CON.txt", "_CON.txt"), ("a\\\\b\\\\c.txt", "c.txt"), ("..", "f.bin"),
    ])
    func theResponseNamesTheFile(proposed: String, name: String) async throws {
        useFolder()
        propose(proposed)
        let file = try await fixture.run().downloadedFile
        #expect(file?.url.lastPathComponent == name && file?.suggestedName == name)
        #expect(fixture.names == [name])
        #expect(haveSameBytes(fixture.content(name), content))
    }

    /// The name has 234 bytes in 31 characters; that of the part file needs room for its suffix.
    @Test func longNameOfWideCharactersIsResumed() async throws {
        let name = String(repeating: "🇪🇺", count: 29) + ".a"
        fixture.plan { $0.destination = fixture.directory.appendingPathComponent(name) }
        await interrupt(at: 40_000)
        #expect(try await fixture.run().downloadedFile?.resumedOffset == 40_000)
        #expect(haveSameBytes(fixture.content(name), content))
    }

    @Test func theNameOfAFileDoesNotDependOnTheResponse() async throws {
        propose("map.zip")
        #expect(try await fixture.run().downloadedFile?.suggestedName == "map.zip")
        #expect(fixture.names == ["f.bin"])
    }

    /// The 416 of a complete part names no file, and that of another part may be another one.
    @Test(arguments: [40_000, 100_000])
    func theFirstResponseNamesAResumedFile(offset: Int) async throws {
        useFolder()
        propose("map.zip")
        fixture.server.change { $0.sendsContentLength = false }
        await interrupt(at: offset)
        #expect(fixture.names.count == 2 && fixture.names.allSatisfy { $0.hasPrefix(".f.bin-") })
        propose("other.zip")
        try await fixture.run()
        #expect(fixture.server.ranges.last == "bytes=\(offset)-")
        #expect(fixture.names == ["map.zip"])
    }

    @Test func aRestartedFileHasTheNameOfItsResponse() async throws {
        useFolder()
        propose("map.zip")
        await interrupt(at: 40_000)
        propose("other.zip")
        fixture.server.change { $0.headers[.eTag] = "\"v2\"" }
        try await fixture.run()
        #expect(fixture.names == ["other.zip"])
    }

    @Test func aProposedNameThatIsAFolderIsRefusedBeforeTheBody() async throws {
        useFolder()
        try FileManager.default.createDirectory(
            at: fixture.directory.appendingPathComponent("map.zip"),
            withIntermediateDirectories: false)
        propose("map.zip")
        let error = await fixture.runToError()
        #expect(error?.code == .fileFailed && error?.message.contains("is a directory") == true)
        #expect(fixture.names == ["map.zip"])
    }

    // MARK: - Existing files

    @Test func existingFileOfAProposedNameFailsBeforeTheBody() async throws {
        try write("old", "map.zip")
        useFolder(.fail)
        propose("map.zip")
        let chunks = Counter()
        fixture.server.change { $0.onChunk = { _ in chunks.add() } }
        #expect(await fixture.runToError()?.code == .fileFailed)
        #expect(chunks.count == 0 && fixture.names == ["map.zip"])
        #expect(fixture.content("map.zip") == Data("old".utf8))
    }

    @Test func existingFileOfAProposedNameGetsANumber() async throws {
        try write("old", "map.zip")
        useFolder(.rename)
        propose("map.zip")
        #expect(try await fixture.run().file?.lastPathComponent == "map 2.zip")
        #expect(fixture.names == ["map 2.zip", "map.zip"])
    }

    @Test func existingFileIsKeptWithoutARequest() async throws {
        try write("old", "f.bin")
        fixture.plan { $0.existingFile = .keep }
        let response = try await fixture.run()
        #expect(fixture.server.requests.isEmpty)
        #expect(response.isFromCache && response.attempts == 0 && response.status == .ok)
        #expect(
            response.downloadedFile?.bytes == 3
                && response.downloadedFile?.url == fixture.destination)
        #expect(fixture.content() == Data("old".utf8))
    }

    @Test func missingFileIsDownloadedByThePolicyToKeep() async throws {
        fixture.plan { $0.existingFile = .keep }
        #expect(try await fixture.run().downloadedFile?.bytes == 100_000)
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func keptFileMustHaveTheExpectedDigest() async throws {
        try write("old", "f.bin")
        fixture.plan {
            $0.existingFile = .keep
            $0.expectedDigests = [.md5(MD5.hex("old".utf8))]
        }
        #expect(try await fixture.run().downloadedFile?.digests == [.md5(MD5.hex("old".utf8))])
        fixture.plan { $0.expectedDigests = [.md5(MD5.hex(content))] }
        let error = await fixture.runToError()
        #expect(error?.code == .digestMismatch && error?.message.contains("was kept") == true)
        #expect(error?.underlying is DownloadedFile.DigestMismatch)
        #expect(fixture.content() == Data("old".utf8) && fixture.server.requests.isEmpty)
    }

    @Test func existingFileOfAProposedNameIsKeptWithoutItsBody() async throws {
        try write("old", "map.zip")
        useFolder(.keep)
        propose("map.zip")
        let chunks = Counter()
        fixture.server.change { $0.onChunk = { _ in chunks.add() } }
        let file = try await fixture.run().downloadedFile
        #expect(file?.url.lastPathComponent == "map.zip" && file?.bytes == 3)
        #expect(chunks.count == 0 && fixture.names == ["map.zip"])
    }

    @Test func fileCreatedDuringTheDownloadIsKept() async throws {
        fixture.plan { $0.existingFile = .keep }
        fixture.server.change { state in
            state.onBody = { [url = fixture.destination] in try? Data("new".utf8).write(to: url) }
        }
        #expect(try await fixture.run().downloadedFile?.bytes == 3)
        #expect(fixture.content() == Data("new".utf8) && fixture.names == ["f.bin"])
    }

    // MARK: - Part folders

    /// A folder on another file system, if the machine has one.
    private func partFolder() -> URL {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let base =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        return base.appendingPathComponent("errand-parts-\(UUID().uuidString)", isDirectory: true)
    }

    @Test(arguments: [DownloadPlan.ExistingFile.overwrite, .fail, .rename, .keep])
    func partsInAnotherFolderAreResumedAndCopied(policy: DownloadPlan.ExistingFile) async throws {
        let folder = partFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        fixture.plan {
            $0.existingFile = policy
            $0.partFolder = folder
            $0.expectedDigests = [.md5(MD5.hex(content))]
            $0.fileMode = 0o640
        }
        await interrupt(at: 40_000)
        #expect(fixture.names.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        #expect(try await fixture.run().downloadedFile?.resumedOffset == 40_000)
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.destination.path)
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    }

    @Test func partsOfOneFolderDoNotCollide() async throws {
        let folder = partFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        fixture.plan { $0.partFolder = folder }
        await interrupt(at: 10)
        fixture.plan { $0.destination = fixture.directory.appendingPathComponent("x/f.bin") }
        await interrupt(at: 10)
        #expect(try PartFolder.parts(in: folder).count == 2)
    }

    // MARK: - Attributes, cancellation, free space

    @Test func modificationTimeIsThatOfTheResponse() async throws {
        fixture.server.change { $0.headers[.lastModified] = "Sun, 06 Nov 1994 08:49:37 GMT" }
        func modified() throws -> Date? {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: fixture.destination.path)
            return attributes[.modificationDate] as? Date
        }
        try await fixture.run()
        #expect(try modified()?.timeIntervalSince1970 != 784_111_777)
        fixture.plan { $0.setsModificationTime = true }
        try await fixture.run()
        #expect(try modified()?.timeIntervalSince1970 == 784_111_777)
    }

    @Test func invalidOptionsAreRefused() {
        for (code, plan) in [
            (
                RequestError.Code.invalidConfiguration,
                DownloadPlan.to(fixture.destination) { $0.fileMode = 0o1000 }
            ),
            (
                .fileFailed,
                .to(fixture.destination) { $0.partFolder = URL(string: "https://a.example/") }
            ),
        ] {
            let error = #expect(throws: RequestError.self) { try plan.check() }
            #expect(error?.code == code && error?.stage == .build)
        }
    }

    @Test func cancellationCanDiscardThePart() async throws {
        await interrupt(at: 40_000)
        fixture.plan { $0.keepsPartWhenCancelled = false }
        #expect(await fixture.runToError(isCancelled: true)?.code == .cancelled)
        #expect(fixture.names.isEmpty)
        // A failure keeps it.
        await interrupt(at: 40_000)
        #expect(fixture.names.count == 2)
    }

    @Test func tooLittleSpaceFailsBeforeTheBody() async throws {
        let chunks = Counter()
        fixture.server.change {
            ($0.wrongLength, $0.onChunk) = (1 << 60, { _ in chunks.add() })
        }
        let error = await fixture.runToError()
        #expect(error?.code == .insufficientSpace)
        #expect(error?.message.contains("\(1 << 60) more bytes") == true)
        #expect(chunks.count == 0 && fixture.names.isEmpty)
    }

    @Test func resumedBytesNeedNoSpace() async throws {
        let file = try PartFile(
            try DownloadDestination(DownloadPlan(to: fixture.destination), url: HTTPURL()))
        #expect(file.shortage(total: nil, keeping: 0) == nil)
        #expect(file.shortage(total: 100, keeping: 0) == nil)
        #expect(file.shortage(total: 1 << 60, keeping: 0)?.code == .insufficientSpace)
        #expect(file.shortage(total: 1 << 60, keeping: (1 << 60) - 100) == nil)
        await file.close(.discarded)
    }

    @Test func freeSpaceIsComparedWithTheMissingBytes() {
        #expect(FreeSpace.shortage(needed: 10, available: 10, at: "/") == nil)
        #expect(FreeSpace.shortage(needed: 10, available: nil, at: "/") == nil)
        let error = FreeSpace.shortage(needed: 11, available: 10, at: "/x")
        #expect(error?.code == .insufficientSpace && error?.stage == .transport)
        #expect(error?.message.contains("11 more bytes") == true)
    }

    // MARK: - Listing and sweeping

    @Test func partsAreListedAndSwept() async throws {
        await interrupt(at: 40_000)
        try write("not a part", ".f.errand-parts")
        try write("orphan", ".g.errand-part")
        try write("old copy", ".g.errand-copy")
        try FileManager.default.createSymbolicLink(
            at: fixture.directory.appendingPathComponent(".link.errand-part"),
            withDestinationURL: fixture.part)
        let parts = try PartFolder.parts(in: fixture.directory)
        #expect(parts.map(\.file.lastPathComponent) == [".f.bin.errand-part", ".g.errand-part"])
        #expect(parts.map(\.bytes) == [40_000, 6])
        #expect(parts.map(\.total) == [100_000, nil])
        #expect(parts.map(\.url) == ["http://a/f.bin", nil])

        let date = try #require(parts.map(\.modified).max())
        let early = date.addingTimeInterval(-3600)
        #expect(try PartFolder.removeParts(in: fixture.directory, unchangedSince: early).isEmpty)
        // A running download holds the lock of its part file.
        let lock = try FileLock.openLocked(fixture.part)
        let removed = try PartFolder.removeParts(
            in: fixture.directory, unchangedSince: .distantFuture)
        #expect(removed.map(\.file.lastPathComponent) == [".g.errand-part"])
        FileLock.close(lock, fixture.part)
        #expect(
            try PartFolder.removeParts(in: fixture.directory, unchangedSince: .distantFuture).count
                == 1)
        #expect(fixture.names == [".f.errand-parts", ".link.errand-part"])
    }

    @Test func missingFolderCannotBeListed() {
        let missing = fixture.directory.appendingPathComponent("missing")
        let error = #expect(throws: RequestError.self) { try PartFolder.parts(in: missing) }
        #expect(error?.code == .fileFailed)
    }
}

/// Counts calls from any thread.
private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}
