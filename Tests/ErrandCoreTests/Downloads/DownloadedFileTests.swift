import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// The result of a download: response and ``DownloadedFile``, with the digests that are computed and compared.
@Suite(.limited)
struct DownloadedFileTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    private func sha256(_ data: Data) -> [UInt8] {
        var hash = SHA256()
        hash.update(data)
        return hash.finalize()
    }

    // MARK: - Result

    @Test func aWholeFile() async throws {
        fixture.server.change {
            $0.headers[.contentType] = "application/zip"
            $0.headers[.contentDisposition] = "attachment; filename=map.zip"
        }
        let response = try await fixture.run()
        let file = try #require(response.downloadedFile)
        #expect(file.file == response.file && file.bytes == 100_000 && file.resumedOffset == 0)
        #expect(file.contentType == "application/zip" && file.suggestedName == "map.zip")
        #expect(file.digests.isEmpty && file.duration >= .zero)
        #expect(file.path == fixture.destination.path)
    }

    @Test func aResumedFileHasTheResponseOfTheWholeFile() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        let response = try await fixture.run()
        #expect(response.status == .ok && response.headers[.contentRange] == nil)
        #expect(response.headers[.contentLength] == "100000")
        let file = try #require(response.downloadedFile)
        #expect(file.bytes == 100_000 && file.resumedOffset == 40_000)
    }

    @Test func aFileInManyPartsHasTheResponseOfTheWholeFile() async throws {
        fixture.server.change { ($0.cuts, $0.longestRange) = ([10], 30_000) }
        _ = await fixture.runToError()
        let response = try await fixture.run()
        #expect(fixture.server.ranges.count == 5)
        #expect(response.status == .ok && response.headers[.contentRange] == nil)
        #expect(response.downloadedFile?.resumedOffset == 10)
    }

    @Test func aCompletePartHasTheResponseOfTheWholeFile() async throws {
        fixture.server.change {
            ($0.sendsContentLength, $0.cuts) = (false, [100_000])
            $0.headers[.contentType] = "text/html"
        }
        _ = await fixture.runToError()
        let response = try await fixture.run()
        #expect(response.status == .ok && response.headers[.contentRange] == nil)
        #expect(response.headers[.contentLength] == "100000")
        // The 416 describes its own body.
        #expect(response.downloadedFile?.contentType == nil)
        #expect(response.downloadedFile?.resumedOffset == 100_000)
    }

    @Test func aRestartedFileWasNotResumed() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        fixture.server.change { $0.headers[.eTag] = "\"v2\"" }
        #expect(try await fixture.run().downloadedFile?.resumedOffset == 0)
    }

    @Test func aProcessorThatMovesTheFileMovesTheResult() async throws {
        var response = try await fixture.run()
        let moved = fixture.directory.appendingPathComponent("moved.bin")
        try Data("moved".utf8).write(to: moved)
        response.body = .file(moved)
        #expect(response.downloadedFile?.file == moved && response.downloadedFile?.bytes == 5)
        response.body = .data(Data("x".utf8))
        #expect(response.downloadedFile == nil)
    }

    // MARK: - Digests

    @Test func severalDigestsAreComputed() async throws {
        fixture.plan { $0.computedDigests = Set(DownloadedFile.Digest.Algorithm.allCases) }
        let digests = try await fixture.run().downloadedFile?.digests
        #expect(
            digests == [
                .init(.sha256, bytes: sha256(content)),
                .init(.sha512, bytes: SHA512.digest(content)),
                .init(.sha1, bytes: SHA1.digest(content)), .init(.md5, bytes: MD5.digest(content)),
            ])
    }

    /// Digests of the part file's bytes continue with those of the rest, also across several ranges.
    @Test(arguments: [Int.max, 30_000])
    func digestsOfAResumedFileCoverTheWholeFile(longestRange: Int) async throws {
        fixture.server.change { ($0.cuts, $0.longestRange) = ([40_000], longestRange) }
        _ = await fixture.runToError()
        fixture.plan {
            $0.computedDigests = [.sha512, .md5]
            $0.expectedDigests = [.sha1(SHA1.hex(content))]
        }
        let file = try await fixture.run().downloadedFile
        #expect(file?.resumedOffset == 40_000)
        #expect(file?.digest(.sha512)?.hex == SHA512.hex(content))
        #expect(file?.digest(.md5)?.hex == MD5.hex(content))
        #expect(file?.digest(.sha1)?.hex == SHA1.hex(content))
        #expect(file?.digest(.sha256) == nil)
    }

    @Test func digestsOfARestartedFileDoNotContainThePart() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        fixture.server.change {
            $0.headers[.eTag] = "\"v2\""
            $0.content = DownloadStepFixture.bytes(70_000, seed: 9)
        }
        fixture.plan { $0.computedDigests = [.sha1] }
        let file = try await fixture.run().downloadedFile
        #expect(file?.digest(.sha1)?.hex == SHA1.hex(DownloadStepFixture.bytes(70_000, seed: 9)))
    }

    @Test func aMismatchNamesAlgorithmAndValues() async throws {
        let wrong = DownloadedFile.Digest.sha1(String(repeating: "0", count: 40))
        fixture.plan { $0.expectedDigests = [.md5(MD5.hex(content)), wrong] }
        let error = await fixture.runToError()
        #expect(error?.code == .digestMismatch)
        let mismatch = error?.underlying as? DownloadedFile.DigestMismatch
        #expect(mismatch?.expected == wrong && mismatch?.found == .sha1(SHA1.hex(content)))
        #expect(fixture.names.isEmpty)
    }

    @Test(arguments: ["Repr-Digest", "Content-Digest", "Digest", "x-goog-hash", "Content-MD5"])
    func digestsOfTheServerAreCompared(field: String) async throws {
        func value(_ data: Data) -> String {
            switch field {
            case "Repr-Digest", "Content-Digest": "sha-256=:\(base64(sha256(data))):"
            case "Digest": "SHA-256=\(base64(sha256(data)))"
            case "x-goog-hash": "md5=\(base64(MD5.digest(data)))"
            default: base64(MD5.digest(data))
            }
        }
        let name = try #require(HTTPField.Name(field))
        fixture.server.change { [value = value(content)] in $0.headers[name] = value }
        let isMD5 = field == "x-goog-hash" || field == "Content-MD5"
        #expect(
            try await fixture.run().downloadedFile?.digests.map(\.algorithm)
                == [isMD5 ? .md5 : .sha256])
        fixture.server.change { [value = value(Data())] in $0.headers[name] = value }
        #expect(await fixture.runToError()?.code == .digestMismatch)
        // The file of the first run is not touched.
        #expect(haveSameBytes(fixture.content(), content))
        fixture.plan { $0.verifiesServerDigests = false }
        #expect(try await fixture.run().downloadedFile?.digests == [])
    }

    /// The part was hashed without the algorithm of the field, which is known only with the head.
    @Test func digestOfTheServerCoversAResumedFile() async throws {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
        let value = "sha-512=:\(base64(SHA512.digest(content))):"
        fixture.server.change { $0.headers[.init("Repr-Digest")!] = value }
        let file = try await fixture.run().downloadedFile
        #expect(file?.digests == [.sha512(SHA512.hex(content))])
        #expect(file?.resumedOffset == 40_000)
    }

    /// A server may send them with the whole file only.
    @Test(arguments: [true, false])
    func digestOfTheFirstResponseIsComparedAfterResumption(isRight: Bool) async throws {
        let value = base64(MD5.digest(isRight ? content : Data()))
        fixture.server.change {
            ($0.cuts, $0.headers[.init("Content-MD5")!]) = ([40_000], value)
        }
        _ = await fixture.runToError()
        fixture.server.change { $0.headers[.init("Content-MD5")!] = nil }
        if isRight {
            let file = try await fixture.run().downloadedFile
            #expect(file?.digests == [.md5(MD5.hex(content))] && file?.resumedOffset == 40_000)
        } else {
            #expect(await fixture.runToError()?.code == .digestMismatch)
            #expect(fixture.names.isEmpty)
        }
    }

    /// The digests of an error page are not those of the file.
    @Test func digestsOfA416AreIgnored() async throws {
        fixture.server.change {
            ($0.sendsContentLength, $0.cuts) = (false, [100_000])
        }
        _ = await fixture.runToError()
        let value = "SHA-256=\(base64(sha256(Data())))"
        fixture.server.change { $0.headers[.init("Digest")!] = value }
        #expect(try await fixture.run().downloadedFile?.digests == [])
    }

    @Test func digestsOfWrongLengthAreRefused() {
        for digest in [DownloadedFile.Digest.md5("ab"), .sha1(String(repeating: "g", count: 40))] {
            let plan = DownloadPlan(to: fixture.destination) { $0.expectedDigests = [digest] }
            let error = #expect(throws: RequestError.self) { try plan.check() }
            #expect(error?.code == .invalidConfiguration && error?.stage == .build)
        }
    }
}
