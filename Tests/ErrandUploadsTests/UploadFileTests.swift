import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandUploads

/// The file of an upload, its journal, its checksums and its bandwidth limit.
struct UploadFileTests {
    // MARK: - Checksums

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ])
    func sha1HasThePublishedValues(text: String, expected: String) {
        #expect(digest("sha1", [Array(text.utf8)]) == expected)
    }

    @Test func sha1OfAMillionLetters() {
        let pieces = [[UInt8]](repeating: [UInt8](repeating: 0x61, count: 1000), count: 1000)
        #expect(digest("sha1", pieces) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    }

    @Test func digestDoesNotDependOnTheSizesOfUpdates() {
        let bytes = (0..<500).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for name in UploadChecksum.supported {
            let whole = digest(name, [bytes])
            for size in [1, 3, 55, 56, 63, 64, 65, 127, 128, 129] {
                let pieces = stride(from: 0, to: 500, by: size).map {
                    Array(bytes[$0..<min(500, $0 + size)])
                }
                #expect(digest(name, pieces) == whole, "\(name) by \(size)")
            }
        }
    }

    private func digest(_ name: String, _ pieces: [[UInt8]]) -> String? {
        var checksum = UploadChecksum(name)
        for piece in pieces { piece.withUnsafeBytes { checksum?.update($0) } }
        return checksum?.finalize().map { String(format: "%02x", $0) }.joined()
    }

    @Test func checksumOfARange() async throws {
        let file = try TemporaryFile(Data("0123456789".utf8))
        let source = try UploadSource(file.url)
        let piece = TusRequest.Piece(offset: 2, length: 5)
        let expected = Data(SHA256.hexBytes(Data("23456".utf8))).base64EncodedString()
        #expect(try await source.checksum("sha256", of: piece) == expected)
    }

    // MARK: - Source

    @Test func sliceContainsItsRangeOnly() async throws {
        let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = try TemporaryFile(bytes)
        let source = try UploadSource(file.url)
        var read = Data()
        for try await chunk in source.slice(
            of: .init(offset: 1000, length: 600_000), rate: nil)
        {
            #expect(chunk.count <= UploadSource.Slice.chunkSize)
            read += chunk
        }
        #expect(haveSameBytes(read, bytes[1000..<601_000]))
    }

    @Test func changedFileFailsBeforeItsLastBytes() async throws {
        let file = try TemporaryFile(Data(repeating: 1, count: 600_000))
        let source = try UploadSource(file.url)
        var iterator = source.slice(
            of: .init(offset: 0, length: 600_000), rate: nil
        ).makeAsyncIterator()
        #expect(try await iterator.next()?.count == UploadSource.Slice.chunkSize)
        #expect(try await iterator.next()?.count == UploadSource.Slice.chunkSize)
        let handle = try FileHandle(forWritingTo: file.url)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([1]))
        try handle.close()
        let error = await #expect(throws: RequestError.self) { try await iterator.next() }
        #expect(error?.code == .bodyReadFailed)
    }

    @Test func shortenedFileFails() throws {
        let file = try TemporaryFile(Data(repeating: 1, count: 100))
        let source = try UploadSource(file.url)
        #expect(truncate(file.url.path, 10) == 0)
        #expect(throws: RequestError.self) { try source.read(at: 50, count: 10) }
        #expect(throws: RequestError.self) { try source.check() }
    }

    @Test func onlyReadableRegularFilesAreOpened() throws {
        let folder = FileManager.default.temporaryDirectory
        let missing = folder.appendingPathComponent(UUID().uuidString)
        let web = try #require(URL(string: "https://a.test/"))
        for url in [folder, missing, web] {
            let error = #expect(throws: RequestError.self) { try UploadSource(url) }
            #expect(error?.code == .invalidBody)
        }
    }

    // MARK: - Journal

    private let journal = UploadJournal(
        endpoint: HTTPURL(scheme: "https", host: "a.test", path: "/files"),
        file: .init(size: 10, modified: 5), metadata: "m",
        remote: .init(url: "https://a.test/1", offset: 4, sent: 8, algorithm: "sha1"))

    @Test func journalIsReadAsItWasWritten() throws {
        let file = try TemporaryFile(name: "journal")
        do {
            let storage = try UploadJournalFile(file.url)
            #expect(storage.read() == nil)
            try storage.write(journal)
            #expect(storage.read() == journal)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect(mode[.posixPermissions] as? Int == 0o600)
        let storage = try UploadJournalFile(file.url)
        #expect(storage.read() == journal)
        storage.remove()
        #expect(storage.read() == nil)
    }

    @Test func secondRunOfTheSameUploadIsRefused() throws {
        let file = try TemporaryFile(name: "journal")
        let first = try UploadJournalFile(file.url)
        let error = #expect(throws: RequestError.self) { try UploadJournalFile(file.url) }
        #expect(error?.code == .fileFailed)
        withExtendedLifetime(first) {}
    }

    @Test func lockIsRemovedWithTheRun() throws {
        let file = try TemporaryFile(name: "journal")
        do { _ = try UploadJournalFile(file.url) }
        _ = try UploadJournalFile(file.url)
        let folder = file.url.deletingLastPathComponent()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["journal"])
    }

    @Test(arguments: [
        #"{"format":2}"#, "", "[]", "{", #"{"format":1,"remote":{"url":"x"}}"#,
    ])
    func invalidJournalIsNone(text: String) {
        #expect(UploadJournal(decoding: Data(text.utf8)) == nil)
    }

    @Test func contradictoryJournalIsNone() {
        func decodes(_ change: (inout UploadJournal) -> Void) -> Bool {
            var copy = journal
            change(&copy)
            return UploadJournal(decoding: copy.encoded()) != nil
        }
        #expect(decodes { _ in })
        #expect(!decodes { $0.remote.offset = -1 })
        #expect(!decodes { $0.remote.offset = 9 })
        #expect(!decodes { $0.remote.sent = 11 })
        #expect(!decodes { $0.remote.offset = 11 })
        #expect(!decodes { $0.remote.url = "file:///etc/passwd" })
        // The server cannot have named it: the upload was created over https.
        #expect(!decodes { $0.remote.url = "http://a.test/1" })
        #expect(!decodes { $0.format = 2 })
    }

    // MARK: - Bandwidth

    @Test func limitedSliceWaitsOnTheClock() async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 100))
        let source = try UploadSource(file.url)
        let clock = ManualClock()
        let rate = UploadRate(bytesPerSecond: 400, clock: clock)
        let reader = Task {
            var sizes: [Int] = []
            for try await chunk in source.slice(of: .init(offset: 0, length: 100), rate: rate) {
                sizes.append(chunk.count)
            }
            return sizes
        }
        // Each chunk, also the last one, is read when its time has come.
        for _ in 0..<2 {
            try await clock.untilSleeping()
            clock.advance(by: .milliseconds(125))
        }
        #expect(try await reader.value == [50, 50])
        #expect(clock.uptime >= .milliseconds(250))
    }
}

extension SHA256 {
    fileprivate static func hexBytes(_ data: Data) -> [UInt8] {
        var hash = SHA256()
        hash.update(data)
        return hash.finalize()
    }
}
