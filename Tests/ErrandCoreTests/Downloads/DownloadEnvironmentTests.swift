import ErrandHTTP
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// Symbolic links in the folder of a download, and a system date that changes during it.
@Suite(.limited)
struct DownloadEnvironmentTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private func file(_ name: String) -> URL { fixture.directory.appendingPathComponent(name) }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: file(name))
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            at: file(name), withDestinationURL: file(target))
    }

    private func isLink(_ name: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: file(name).path)) != nil
    }

    private func use(segments: Int) {
        fixture.plan { ($0.segments, $0.minimumSegmentSize) = (segments, 5000) }
    }

    // MARK: - Symbolic links

    @Test(arguments: [1, 4], [true, false])
    func linkAtTheDestinationIsReplacedNotFollowed(segments: Int, exists: Bool) async throws {
        if exists { try write("precious", "other") }
        try link("f.bin", to: "other")
        use(segments: segments)
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content) && !isLink("f.bin"))
        #expect(fixture.content("other") == (exists ? Data("precious".utf8) : nil))
    }

    /// A link counts as an existing file, also if its target does not exist.
    @Test(arguments: [DownloadPlan.ExistingFile.fail, .keep, .rename], [true, false])
    func linkAtTheDestinationIsAnExistingFile(
        policy: DownloadPlan.ExistingFile, exists: Bool
    ) async throws {
        if exists { try write("precious", "other") }
        try link("f.bin", to: "other")
        fixture.plan { $0.existingFile = policy }
        let error = await fixture.runToError()
        switch policy {
        case .rename:
            #expect(error == nil && haveSameBytes(fixture.content("f 2.bin"), content))
        case .keep where exists:
            #expect(error == nil && fixture.server.requests.isEmpty)
        case .keep, .fail, .overwrite:
            #expect(error?.code == .fileFailed && fixture.server.requests.isEmpty)
        }
        #expect(isLink("f.bin"))
        #expect(fixture.content("other") == (exists ? Data("precious".utf8) : nil))
    }

    @Test(arguments: [1, 4])
    func folderThatIsALinkReceivesTheFile(segments: Int) async throws {
        try FileManager.default.createDirectory(
            at: file("target"), withIntermediateDirectories: true)
        try write("precious", "target/other")
        try link("target/f.bin", to: "target/other")
        try link("folder", to: "target")
        use(segments: segments)
        fixture.plan { $0.destination = file("folder") }
        try await fixture.run()
        #expect(isLink("folder") && !isLink("target/f.bin"))
        #expect(haveSameBytes(fixture.content("target/f.bin"), content))
        #expect(fixture.content("target/other") == Data("precious".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: file("target").path)
        #expect(names.sorted() == ["f.bin", "other"])
    }

    /// Links with the names of the download's own files, as another user of the folder can create them.
    @Test(
        arguments: ["part", "journal", "journal-new", "journal-sync-new"]
            + ["journal-table", "journal-table-new"], [1, 4])
    func linksInPlaceOfTheFilesOfADownloadAreNotFollowed(
        name: String, segments: Int
    ) async throws {
        try write("precious", "other")
        try link(".f.bin.errand-" + name, to: "other")
        use(segments: segments)
        fixture.server.change { $0.cut = { $0 < 3 ? 30_000 : nil } }
        for _ in 0..<4 { _ = await fixture.runToError() }
        #expect(fixture.content("other") == Data("precious".utf8) && !isLink("other"))
        #expect(fixture.content().map { $0 == content } != false)
    }

    // MARK: - The system date

    /// Offsets, validators and durations do not depend on the date of this system.
    @Test(arguments: [1, 4], [true, false])
    func dateThatChangesDuringADownloadHasNoEffect(segments: Int, hasTag: Bool) async throws {
        use(segments: segments)
        fixture.server.change { [clock = fixture.clock] state in
            if !hasTag {
                state.headers = [
                    .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
                    .date: "Sun, 06 Nov 1994 09:49:37 GMT",
                ]
            }
            state.cut = { $0 == 1 ? 20_000 : nil }
            state.onChunk = { count in
                let isAhead = (count / 7000).isMultiple(of: 2)
                clock.setNow(Date(timeIntervalSince1970: isAhead ? 5_000_000_000 : 0))
                clock.advance(by: .milliseconds(10))
            }
        }
        if segments == 1 { #expect(await fixture.runToError()?.code == .connectionLost) }
        let start = fixture.clock.uptime
        let file = try await fixture.run().downloadedFile
        #expect(haveSameBytes(fixture.content(), content))
        #expect(file?.resumedOffset == (segments == 1 ? 20_000 : 0))
        #expect(file?.duration == fixture.clock.uptime - start)
        #expect(fixture.server.sent <= content.count + 7000 * fixture.server.requests.count)
    }
}

#if os(Linux)
    /// Downloads to a small file system, which is full for some time.
    @Suite(.limited) struct FullDiskTests {
        /// Runs in another process in a mount namespace of its own.
        @Test func downloadsContinueAfterTheDiskWasFull() async throws {
            if TestProcess.role != nil {
                let disk = FileManager.default.temporaryDirectory.appendingPathComponent("disk")
                for segments in [1, 4] {
                    for chunks in 1...8 { try await fillAndContinue(disk, segments, chunks) }
                }
                return
            }
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<4 { root.deleteLastPathComponent() }
            let process = try TestProcess(
                running: "FullDiskTests", as: [:],
                through: root.appendingPathComponent("Scripts/peers/small-disk"))
            let end = await process.ended()
            #expect(end == .exit(0), "\(process.output)")
        }

        /// The disk is full after a number of chunks; the next start receives only what is missing.
        private func fillAndContinue(_ disk: URL, _ segments: Int, _ chunks: Int) async throws {
            let folder = disk.appendingPathComponent("\(segments)-\(chunks)")
            let fixture = try DownloadStepFixture(in: folder.path)
            let content = DownloadStepFixture.bytes(100_000)
            fixture.plan {
                ($0.segments, $0.minimumSegmentSize) = (segments, 5000)
                $0.sha256 = SHA256.hex(content)
            }
            let filler = disk.appendingPathComponent("filler")
            let count = Mutex(0)
            fixture.server.change {
                // Within the lock: other requests send no further chunk until the disk is full.
                $0.onChunk = { _ in
                    count.withLock { count in
                        count += 1
                        if count == chunks { Self.fill(filler) }
                    }
                }
            }
            let error = await fixture.runToError()
            #expect(
                error?.code == .fileFailed,
                "\(segments), \(chunks): \(error?.message ?? "no error")")
            #expect(error?.message.contains("Free some space") == true, "\(error?.message ?? "")")
            #expect(fixture.content() == nil)
            let kept = try PartFolder.parts(in: folder).first?.bytes ?? 0
            #expect(kept >= 7000, "\(segments), \(chunks)")
            let sent = fixture.server.sent
            // While the disk is full, nothing is lost either.
            _ = await fixture.runToError()
            #expect(try PartFolder.parts(in: folder).first?.bytes ?? 0 >= kept)
            try FileManager.default.removeItem(at: filler)
            let before = try PartFolder.parts(in: folder).first?.bytes ?? 0
            let again = fixture.server.sent
            let file = try await fixture.run().downloadedFile
            #expect(file?.resumedOffset == before && sent > 0)
            #expect(haveSameBytes(fixture.content(), content))
            #expect(fixture.names == ["f.bin"])
            let allowed = content.count - Int(before) + 7000 * segments
            #expect(fixture.server.sent - again <= allowed, "\(segments), \(chunks)")
        }

        /// Writes a file until the file system has no space.
        private static func fill(_ url: URL) {
            let file = open(url.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            let page = [UInt8](repeating: 1, count: 4096)
            while Foundation.write(file, page, page.count) > 0 {}
            close(file)
        }
    }
#endif
