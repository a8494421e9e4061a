import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Digests in the fields of a response.
@Suite struct DigestFieldsTests {
    /// A mark after a separator does not join the members.
    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"]) func separatorsBeforeMarksSeparate(
        mark: String
    ) {
        let hash = Data(repeating: 1, count: 16).base64EncodedString()
        #expect(DigestFields.pairs("a=b,\(mark)x,md5=\(hash)").count == 1)
        #expect(DigestFields.pairs("md5=\(mark)\(hash)").isEmpty)
        #expect(DigestFields.pairs("\u{212A}md5=\(hash)").isEmpty)
        #expect(DigestFields.dictionary("md5=:\(hash):;\(mark)a").count == 1)
    }

    private static let sha256 = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="
    private static let sha256Hex =
        "5f8f04f6a3a892aaabbddb6cf273894493773960d4a325b105fee46eef4304f1"
    private static let sha512 =
        "YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg=="
    private static let md5 = "XrY7u+Ae7tCTyyK7j1rNww=="
    private static let md5Hex = "5eb63bbbe01eeed093cb22bb8f5acdc3"
    private static let sha1 = "Kq5sNclPz7QV2+lfQIuc6R7oRu0="

    private func hex(_ fields: [(String, String)], isWhole: Bool = true) throws -> [String] {
        var headers: HTTPFields = [:]
        for (name, value) in fields {
            headers.append(HTTPField(name: try #require(.init(name)), value: value))
        }
        return DigestFields.digests(in: headers, isWhole: isWhole).map(\.description)
    }

    @Test(arguments: [
        ("Repr-Digest", "sha-256=:\(sha256):"),
        ("Repr-Digest", "sha-256=:\(sha256):;p=1"),
        ("Repr-Digest", " unknown=\"a,b\", md5=:AAAA:;q=\"x\" , sha-256=:\(sha256):"),
        ("Content-Digest", "sha-256=:\(sha256):"),
        ("Digest", "SHA-256=\(sha256)"), ("Digest", "unixsum=30637, sha-256=\(sha256)"),
        ("Digest", "id-sha-256=\(sha256)"),
    ])
    func sha256OfEachField(name: String, value: String) throws {
        #expect(try hex([(name, value)]) == ["SHA-256 \(Self.sha256Hex)"])
    }

    @Test func theStrongestAlgorithmIsFirst() throws {
        let fields = [("Digest", "MD5=\(Self.md5),SHA=\(Self.sha1),SHA-512=\(Self.sha512)")]
        #expect(try hex(fields).map { $0.prefix(5) } == ["SHA-5", "SHA-1", "MD5 5"])
    }

    @Test func fieldsOfCloudStorage() throws {
        let fields = [("x-goog-hash", "crc32c=n03x6A=="), ("x-goog-hash", "md5=\(Self.md5)")]
        #expect(try hex(fields) == ["MD5 \(Self.md5Hex)"])
        // The hash is that of the compressed bytes.
        #expect(try hex(fields + [("x-goog-stored-content-encoding", "gzip")]) == [])
        #expect(try hex(fields + [("x-goog-stored-content-encoding", "identity")]).count == 1)
    }

    @Test func digestsOfTheContentDoNotApplyToAPart() throws {
        let fields = [
            ("Content-MD5", Self.md5), ("Content-Digest", "sha-256=:\(Self.sha256):"),
        ]
        #expect(try hex(fields).count == 2)
        #expect(try hex(fields, isWhole: false) == [])
        #expect(try hex([("Repr-Digest", "sha-256=:\(Self.sha256):")], isWhole: false).count == 1)
    }

    @Test func theFirstFieldCounts() throws {
        let other = "AAAAAAAAAAAAAAAAAAAAAA=="
        #expect(
            try hex([("Content-MD5", other), ("Digest", "MD5=\(Self.md5)")])
                == ["MD5 \(Self.md5Hex)"])
    }

    @Test(arguments: [
        ("Repr-Digest", "sha-256=\(sha256)"), ("Repr-Digest", "sha-256=:AAAA:"),
        ("Repr-Digest", "sha-256=:!:"), ("Repr-Digest", "SHA-256=:\(sha256):"),
        ("Repr-Digest", "sha-256"), ("Repr-Digest", "=:\(sha256):"), ("Repr-Digest", ""),
        ("Digest", "SHA-256"), ("Digest", "SHA-256=AAAA"), ("Digest", "crc32c=\(sha256)"),
        ("Content-MD5", "AAAA"), ("Content-MD5", md5Hex), ("ETag", "\"\(md5Hex)\""),
    ])
    func malformedFieldsAreIgnored(name: String, value: String) throws {
        #expect(try hex([(name, value)]) == [])
    }

    @Test func digestsOfAnEncodedBodyAreIgnored() throws {
        let fields = [("Content-Encoding", "gzip"), ("Content-MD5", Self.md5)]
        #expect(try hex(fields) == [])
    }
}
