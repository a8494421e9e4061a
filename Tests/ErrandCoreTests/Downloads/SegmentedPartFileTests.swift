import ErrandCore
import ErrandHTTP
import Foundation
import Synchronization
import Testing

/// Part files with gaps, and the records from which the next process continues them.
@Suite final class SegmentedPartFileTests {
    private let folder: URL
    private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
    private let destination: DownloadDestination

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-segments-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        destination = try DownloadDestination(
            DownloadPlan(to: folder.appendingPathComponent("f.bin")), url: HTTPURL())
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private func begin(syncInterval: Int64 = 16 << 20) throws -> PartFile {
        let file = try PartFile(destination, syncInterval: syncInterval)
        let journal = DownloadJournal(
            url: "u", validator: "\"v\"", total: 100_000, session: BootSession.current)
        #expect(file.begin(journal)?.message == nil)
        return file
    }

    private func write(_ range: Range<Int>, to index: Int, of file: PartFile) {
        let error = content[range].withUnsafeBytes { file.write($0, to: index) }
        #expect(error?.message == nil)
    }

    /// Writes [0, 10000), [50000, 60000) and [90000, 95000).
    private func writeThreeRanges(_ file: PartFile) {
        write(0..<4000, to: 0, of: file)
        #expect(file.beginSegments()?.message == nil)
        let (second, third) = (file.open(at: 50_000), file.open(at: 90_000))
        write(50_000..<60_000, to: second, of: file)
        write(4000..<10_000, to: 0, of: file)
        write(90_000..<95_000, to: third, of: file)
    }

    private static let written: [Range<Int64>] = [0..<10_000, 50_000..<60_000, 90_000..<95_000]

    private func journal() throws -> DownloadJournal {
        try #require(DownloadJournal(decoding: Data(contentsOf: destination.journal)))
    }

    /// Opens a file, and leaves it without the writes that `close` makes, like a process that is killed.
    private func killed(_ open: () throws -> PartFile, _ write: (PartFile) -> Void) rethrows {
        write(try open())
    }

    @Test func bytesOfAKilledProcessAreKnownFromTheTable() throws {
        try killed({ try begin() }, writeThreeRanges)
        #expect(try journal().extents == [])
        let file = try PartFile(destination)
        #expect(file.isSegmented && file.written.ranges == Self.written && file.size == 25_000)
    }

    @Test func synchronizedBytesAreKnownAfterASystemCrash() async throws {
        let file = try begin()
        writeThreeRanges(file)
        await file.close(.kept)
        var record = try journal()
        #expect(record.extents == ByteRanges(Self.written).bounds && record.offset == 25_000)
        // The table of another boot session proves nothing.
        record.session = "another boot"
        record.extents = [0, 10_000, 50_000, 55_000]
        try record.encoded().write(to: destination.journal)
        let next = try PartFile(destination)
        #expect(next.written.ranges == [0..<10_000, 50_000..<55_000])
    }

    /// The name of the old table must not get the boot session of the new journal.
    @Test func resumptionAfterASystemCrashStartsAnotherTable() async throws {
        let file = try begin()
        writeThreeRanges(file)
        await file.close(.kept)
        var record = try journal()
        let table = record.table
        (record.session, record.extents) = ("another boot", [0, 10_000])
        try record.encoded().write(to: destination.journal)
        try killed({ try PartFile(destination) }) { next in
            #expect(next.resume(at: 10_000, total: 100_000)?.message == nil)
            write(10_000..<12_000, to: next.open(at: 10_000), of: next)
        }
        #expect(try journal().table != table)
        #expect(try PartFile(destination).written.ranges == [0..<12_000])
    }

    @Test func resumptionInTheSameSessionKeepsTheRanges() async throws {
        let file = try begin()
        writeThreeRanges(file)
        await file.close(.kept)
        for start in [60_000, 61_000] {
            try killed({ try PartFile(destination) }) { next in
                #expect(next.resume(at: Int64(start), total: 100_000)?.message == nil)
                write(start..<start + 1000, to: next.open(at: Int64(start)), of: next)
            }
        }
        #expect(
            try PartFile(destination).written.ranges
                == [0..<10_000, 50_000..<62_000, 90_000..<95_000])
    }

    @Test func tableOfAnotherJournalIsIgnored() throws {
        try killed({ try begin() }, writeThreeRanges)
        var record = try journal()
        record.table = "0123456789abcdef"
        record.extents = [0, 3000]
        try record.encoded().write(to: destination.journal)
        #expect(try PartFile(destination).written.ranges == [0..<3000])
    }

    @Test func fileThatIsShorterThanItsRecordIsNotResumed() async throws {
        let file = try begin()
        writeThreeRanges(file)
        await file.close(.kept)
        #expect(truncate(destination.part.path, 94_999) == 0)
        let next = try PartFile(destination)
        #expect(next.journal == nil && !next.isSegmented)
    }

    @Test func fileWithoutGapsHasTheFormatOfEarlierVersions() async throws {
        let file = try begin()
        write(0..<4000, to: 0, of: file)
        await file.close(.kept)
        #expect(try journal().format == 1 && journal().extents == nil)
        let text = String(decoding: try Data(contentsOf: destination.journal), as: UTF8.self)
        #expect(text.contains("\"format\":1") && !text.contains("isWeak"))
    }

    @Test func fileWithGapsHasANewFormat() throws {
        let file = try begin()
        writeThreeRanges(file)
        let text = String(decoding: try Data(contentsOf: destination.journal), as: UTF8.self)
        #expect(text.contains("\"format\":2"))
    }

    @Test func newDownloadRemovesTheTable() async throws {
        let file = try begin()
        writeThreeRanges(file)
        #expect(names.contains(".f.bin.errand-journal-table"))
        let journal = DownloadJournal(
            url: "u", validator: "\"v2\"", total: 5, session: BootSession.current)
        #expect(file.begin(journal)?.message == nil)
        #expect(!file.isSegmented && file.size == 0)
        #expect(names == [".f.bin.errand-journal", ".f.bin.errand-part"])
        await file.close(.discarded)
        #expect(names.isEmpty)
    }

    @Test func finishedFileLeavesNoTable() async throws {
        let file = try begin()
        write(0..<50_000, to: 0, of: file)
        #expect(file.beginSegments()?.message == nil)
        let second = file.open(at: 70_000)
        write(70_000..<100_000, to: second, of: file)
        write(50_000..<70_000, to: 0, of: file)
        let digests = try await file.digests([.sha256])
        #expect(digests[.sha256]?.hex == SHA256.hex(content))
        _ = try await file.finish(.overwrite)
        #expect(names == ["f.bin"])
        #expect(try Data(contentsOf: folder.appendingPathComponent("f.bin")) == content)
    }

    @Test func listOfPartsCountsThePresentBytes() async throws {
        let file = try begin()
        writeThreeRanges(file)
        let parts = try PartFolder.parts(in: folder)
        #expect(parts.map(\.bytes) == [25_000] && parts.map(\.total) == [100_000])
        await file.close(.kept)
        #expect(try PartFolder.removeParts(in: folder, unchangedSince: .distantFuture).count == 1)
        #expect(names.isEmpty)
    }

    /// A running download changes file, journal and table one after the other.
    @Test(arguments: 0..<20)
    func listOfPartsNeverCountsAbsentBytes(round: Int) async throws {
        let file = try begin()
        let content = content
        let begun = Atomic<Int64>(0)
        let hasEnded = Atomic(false)
        let writer = Task.detached {
            defer { hasEnded.store(true, ordering: .releasing) }
            for start in stride(from: 0, to: content.count, by: 500) {
                if start == 500 { #expect(file.beginSegments()?.message == nil) }
                begun.add(100, ordering: .sequentiallyConsistent)
                let index = start == 0 ? 0 : file.open(at: Int64(start))
                let error = content[start..<start + 100].withUnsafeBytes {
                    file.write($0, to: index)
                }
                #expect(error?.message == nil)
            }
        }
        var isLast = false
        repeat {
            isLast = hasEnded.load(ordering: .acquiring)
            let listed = try PartFolder.parts(in: folder).first?.bytes ?? 0
            let most = begun.load(ordering: .sequentiallyConsistent)
            try #require(listed <= most)
            if isLast { #expect(listed == 20_000) }
            // The writer may need this thread.
            await Task.yield()
        } while !isLast
        await writer.value
        await file.close(.discarded)
    }
}
