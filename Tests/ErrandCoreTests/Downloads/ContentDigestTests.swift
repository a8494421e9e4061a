import ErrandHTTP
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

/// Several digests of a server, and digests of the bytes of a range.
@Suite(.limited) struct ContentDigestTests {
    private let fixture: DownloadStepFixture
    private let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private static func sha256(_ data: Data) -> [UInt8] {
        var hash = SHA256()
        hash.update(data)
        return hash.finalize()
    }

    // Static: a closure of the server that had the tests would keep itself alive.
    private static func value(_ algorithm: DownloadedFile.Digest.Algorithm, _ data: Data) -> String
    {
        switch algorithm {
        case .sha256: "sha-256=:\(Data(sha256(data)).base64EncodedString()):"
        case .sha512: "sha-512=:\(Data(SHA512.digest(data)).base64EncodedString()):"
        case .sha1: "sha=:\(Data(SHA1.digest(data)).base64EncodedString()):"
        case .md5: "md5=:\(Data(MD5.digest(data)).base64EncodedString()):"
        }
    }

    /// One wrong value of any algorithm among right ones is found.
    @Test(
        arguments: [nil] + DownloadedFile.Digest.Algorithm.allCases,
        ["Repr-Digest", "Content-Digest"])
    func eachDigestOfTheServerIsCompared(
        wrong: DownloadedFile.Digest.Algorithm?, field: String
    ) async throws {
        let values = DownloadedFile.Digest.Algorithm.allCases.map {
            Self.value($0, $0 == wrong ? Data() : content)
        }
        let name = try #require(HTTPField.Name(field))
        fixture.server.change { $0.headers[name] = values.joined(separator: ", ") }
        if let wrong {
            let error = await fixture.runToError()
            let mismatch = error?.underlying as? DownloadedFile.DigestMismatch
            #expect(error?.code == .digestMismatch && mismatch?.expected.algorithm == wrong)
            #expect(fixture.content() == nil && fixture.names.isEmpty)
        } else {
            #expect(try await fixture.run().downloadedFile?.digests.count == 4)
        }
    }

    /// The server has another file of the same length and validator, and its part has the digest of that file's part.
    private func interrupt() async {
        fixture.server.change { $0.cuts = [40_000] }
        _ = await fixture.runToError()
    }

    @Test(arguments: ["Content-Digest", "Content-MD5"])
    func contentOfARangeIsComparedWithItsDigest(field: String) async throws {
        let name = try #require(HTTPField.Name(field))
        await interrupt()
        let content = content
        // The digest is that of the right bytes; the first range that is sent has others.
        fixture.server.change { state in
            state.onRequest = { number, state in
                guard number == 2 else {
                    (state.content, state.headers[name]) = (content, nil)
                    return
                }
                let part = content.dropFirst(40_000)
                state.headers[name] =
                    field == "Content-MD5"
                    ? Data(MD5.digest(Data(part))).base64EncodedString()
                    : Self.value(.sha256, Data(part))
                state.content[70_000] ^= 1
            }
        }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    /// Sends the digest of each range; `spoils` decides by number and range whether a response has another byte.
    private func sendDigests(
        _ name: HTTPField.Name, spoils: @escaping @Sendable (Int, Range<Int>) -> Bool
    ) {
        fixture.server.change { [content] state in
            state.firstWaits = true
            state.onRequest = { number, state in
                let bounds = (state.requests.last?.headers[.range]?.dropFirst(6) ?? "0-")
                    .split(separator: "-").compactMap { Int($0) }
                let range = bounds[0]..<(bounds.count > 1 ? bounds[1] + 1 : content.count)
                let part = Data(content[range])
                state.headers[name] =
                    name.canonicalName == "content-md5"
                    ? Data(MD5.digest(part)).base64EncodedString() : Self.value(.sha256, part)
                state.content = content
                if spoils(number, range) { state.content[range.upperBound - 1] ^= 1 }
            }
        }
    }

    /// Parallel ranges are complete except the first one, whose digest says nothing about the bytes that it keeps.
    @Test(arguments: ["Content-Digest", "Content-MD5"])
    func contentOfParallelRangesIsComparedWithItsDigest(field: String) async throws {
        let name = try #require(HTTPField.Name(field))
        fixture.plan { ($0.segments, $0.minimumSegmentSize) = (4, 25_000) }
        sendDigests(name) { _, _ in false }
        try await fixture.run()
        let ranges = Set(fixture.server.ranges)
        #expect(ranges.count > 1 && ranges.contains("-"))
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test(arguments: ["Content-Digest", "Content-MD5"])
    func wrongBytesOfAParallelRangeAreNotPartOfTheFile(field: String) async throws {
        let name = try #require(HTTPField.Name(field))
        // With a third request, the second range could be divided: without its end, its digest says nothing.
        fixture.plan { ($0.segments, $0.minimumSegmentSize) = (2, 25_000) }
        sendDigests(name) { number, _ in number == 2 }
        try await fixture.run()
        #expect(fixture.server.ranges.filter { $0 == "-" }.count == 2)
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func rightDigestOfARangeIsAccepted() async throws {
        await interrupt()
        let part = Self.value(.sha512, Data(content.dropFirst(40_000)))
        fixture.server.change { $0.headers[.init("Content-Digest")!] = part }
        let file = try await fixture.run().downloadedFile
        #expect(file?.resumedOffset == 40_000 && haveSameBytes(fixture.content(), content))
    }

    /// A server that sends the digest of the whole file with each range.
    @Test(arguments: [true, false])
    func wrongDigestsOfRangesStartAgainOrAreIgnored(verifies: Bool) async throws {
        fixture.plan { $0.verifiesServerDigests = verifies }
        let whole = Self.value(.sha256, content)
        fixture.server.change {
            ($0.cuts, $0.headers[.init("Content-Digest")!]) = ([40_000], whole)
        }
        _ = await fixture.runToError()
        let file = try await fixture.run().downloadedFile
        #expect(file?.resumedOffset == (verifies ? 0 : 40_000))
        #expect(haveSameBytes(fixture.content(), content))
    }

    /// Bytes with a wrong digest are not resumed by a later start.
    @Test func wrongBytesAreDiscarded() async throws {
        await interrupt()
        let right = Self.value(.sha256, Data(content.dropFirst(40_000)))
        fixture.server.change { [content] state in
            state.onRequest = { number, state in
                if number == 2 {
                    state.headers[.init("Content-Digest")!] = right
                    state.content[70_000] ^= 1
                } else {
                    (state.content, state.headers[.init("Content-Digest")!]) = (content, nil)
                    // The second start of the same run fails.
                    if number == 3 { state.cuts = [0] }
                }
            }
        }
        _ = await fixture.runToError()
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-", "-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }
}
