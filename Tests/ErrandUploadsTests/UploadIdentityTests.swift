import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandUploads

/// The upload that a journal belongs to, and the name of its file.
@Suite(.limited)
struct UploadIdentityTests {
    private static let file = URL(fileURLWithPath: "/tmp/film.mov")

    private func journal(_ endpoint: String) throws -> UploadJournal {
        UploadJournal(
            endpoint: try HTTPURL(parsing: endpoint), file: .init(size: 10, modified: 5),
            metadata: "m", remote: .init(url: "https://a.test/1", offset: 4, sent: 8))
    }

    private func name(_ file: URL, _ endpoint: String) throws -> String {
        UploadJournal.location(of: file, endpoint: try HTTPURL(parsing: endpoint)).lastPathComponent
    }

    // MARK: - Journals

    @Test func journalBelongsToItsUploadWhateverTheServerHas() throws {
        let upload = try journal("https://a.test/files?bucket=a")
        var later = upload
        later.remote.offset = 8
        #expect(later.belongs(to: upload))
        let read = try #require(UploadJournal(decoding: later.encoded()))
        #expect(read == later && read.belongs(to: upload))
        var changed = upload
        changed.file.modified = 6
        #expect(!changed.belongs(to: upload))
        changed = upload
        changed.metadata = nil
        #expect(!changed.belongs(to: upload))
    }

    @Test(arguments: [
        "https://a.test/files?bucket=b", "https://a.test/files", "https://a.test/files?",
        "https://b.test/files?bucket=a", "https://a.test/other?bucket=a",
    ])
    func journalDoesNotBelongToAnotherURL(endpoint: String) throws {
        let one = try journal("https://a.test/files?bucket=a")
        let other = try journal(endpoint)
        #expect(!one.belongs(to: other) && !other.belongs(to: one))
        let names = try [
            name(Self.file, "https://a.test/files?bucket=a"), name(Self.file, endpoint),
        ]
        #expect(names[0] != names[1])
    }

    @Test func partsThatAreNotSentDoNotDistinguishUploads() throws {
        let plain = try journal("https://a.test/files?bucket=a")
        let full = try journal("https://user:password@a.test/files?bucket=a#part")
        #expect(full.belongs(to: plain))
        #expect(
            try name(Self.file, "https://user:password@a.test/files?bucket=a#part")
                == name(Self.file, "https://a.test/files?bucket=a"))
    }

    /// An earlier version recorded no digest.
    @Test(arguments: [("https://a.test/files", true), ("https://a.test/files?bucket=a", false)])
    func journalOfAnEarlierVersionIsUsedWithoutAQuery(endpoint: String, isUsed: Bool) throws {
        let upload = try journal(endpoint)
        var earlier = upload
        earlier.endpointDigest = nil
        #expect(!String(decoding: earlier.encoded(), as: UTF8.self).contains("Digest"))
        let read = try #require(UploadJournal(decoding: earlier.encoded()))
        #expect(read.belongs(to: upload) == isUsed)
        #expect(try !read.belongs(to: journal("https://a.test/other")))
    }

    @Test func journalHasNoReadableQuery() throws {
        let upload = try journal("https://user:password@a.test/files?token=sesame#part")
        let text = String(decoding: upload.encoded(), as: UTF8.self)
        #expect(text.contains("files") && upload.endpointDigest?.count == 64)
        for secret in ["sesame", "token", "user", "password", "part"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        #expect(try !name(Self.file, "https://a.test/files?token=sesame").contains("sesame"))
    }

    // MARK: - Names

    /// The name of an earlier version, whose journals are continued.
    @Test func nameWithoutAQueryIsThatOfEarlierVersions() throws {
        let digest = SHA256.hex(Data("https://a.test/files\nfilm.mov".utf8)).prefix(16)
        #expect(try name(Self.file, "https://a.test/files") == ".film.mov.\(digest).errand-upload")
        let long = String(repeating: "n", count: 250)
        let cut = try name(URL(fileURLWithPath: "/tmp/" + long), "https://a.test/")
        #expect(cut.hasPrefix("." + String(repeating: "n", count: 40) + "."))
    }

    /// File systems allow 255 bytes, which are few characters of some scripts.
    @Test(arguments: [
        String(repeating: "🇩🇪", count: 29), "a" + String(repeating: "\u{301}", count: 130),
        String(repeating: "\u{1F469}\u{200D}\u{1F680}", count: 22),
    ])
    func nameOfAJournalFitsIntoAFileSystem(text: String) throws {
        #expect(text.utf8.count > 180)
        let file = URL(fileURLWithPath: "/tmp/" + text)
        let cut = try name(file, "https://a.test/files")
        // The extension of the lock is appended.
        #expect(cut.utf8.count <= 255 - ".lock".utf8.count)
        // The cut is not within a scalar, and keeps the beginning.
        #expect(!cut.unicodeScalars.contains("\u{FFFD}"))
        let first = try #require(text.unicodeScalars.first)
        #expect(cut.unicodeScalars.dropFirst().first == first)
    }

    @Test func journalOfALongNameIsWritten() throws {
        let flags = String(repeating: "🇩🇪", count: 29)
        let file = try TemporaryFile(name: flags)
        let url = try HTTPURL(parsing: "https://a.test/files")
        let location = UploadJournal.location(of: file.url, endpoint: url)
        #expect(location.lastPathComponent.hasPrefix("." + String(repeating: "🇩🇪", count: 22) + "."))
        let storage = try UploadJournalFile(location)
        let upload = try journal("https://a.test/files")
        try storage.write(upload)
        #expect(storage.read() == upload)
        storage.remove()
    }

    // MARK: - Uploads

    private func upload(_ fixture: UploadFixture, _ query: String) -> UploadFixture.Upload {
        UploadFixture.Upload("\(raw: fixture.tus.url)\(raw: query)", file: fixture.file.url)
    }

    /// Interrupts the upload to a bucket; the server keeps it.
    private func interrupt(_ fixture: UploadFixture, _ query: String, at journal: URL?) async {
        fixture.tus.fault { _, request, _ in request.method == "PATCH" ? .reset : nil }
        let upload = upload(fixture, query)
        (upload.place, upload.policy) = (journal, RetryPolicy.none)
        #expect(await fixture.failure(upload)?.code == .connectionLost)
        fixture.tus.fault(nil)
    }

    @Test func interruptedUploadIsNotContinuedUnderAnotherQuery() async throws {
        let fixture = try await UploadFixture()
        let tus = fixture.tus
        await interrupt(fixture, "?bucket=a", at: nil)
        let output = try await upload(fixture, "?bucket=b").value(on: fixture.agent)
        #expect(output.resumedOffset == 0 && output.url.path == "/files/2")
        #expect(haveSameBytes(tus.content, fixture.bytes))
        #expect(tus.methods == ["OPTIONS", "POST", "PATCH", "OPTIONS", "POST", "PATCH"])
        #expect(tus.server.requests[4].query == "bucket=b")
        #expect(tus.creations == 2 && tus.removals == 0)
        // The next run continues in the first bucket.
        tus.fault { _, request, _ in request.method == "HEAD" ? LoopbackResponse(status: 403) : nil
        }
        _ = await fixture.failure(upload(fixture, "?bucket=a"))
        #expect(tus.server.requests.last?.method == "HEAD")
        #expect(tus.server.requests.last?.path == "/files/1")
        await tus.server.stop()
    }

    @Test func journalOfAnotherQueryIsReplaced() async throws {
        let fixture = try await UploadFixture()
        let journal = fixture.file.url.deletingLastPathComponent().appendingPathComponent("journal")
        await interrupt(fixture, "?bucket=a", at: journal)
        let careful = upload(fixture, "?bucket=b")
        (careful.place, careful.overs) = (journal, false)
        #expect(await fixture.failure(careful)?.code == .resumeFailed)
        let other = upload(fixture, "?bucket=b")
        other.place = journal
        #expect(try await other.value(on: fixture.agent).url.path == "/files/2")
        #expect(fixture.tus.removals == 1 && fixture.tus.creations == 2)
        #expect(try fixture.names == ["film.bin"])
        await fixture.tus.server.stop()
    }

    @Test func sameQueryIsContinued() async throws {
        let fixture = try await UploadFixture()
        await interrupt(fixture, "?bucket=a", at: nil)
        _ = try await upload(fixture, "?bucket=a").value(on: fixture.agent)
        #expect(fixture.tus.methods == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
        #expect(try fixture.names == ["film.bin"])
        await fixture.tus.server.stop()
    }
}
