import Testing

@testable import ErrandHTTP

/// Lines of checksum files.
@Suite struct ChecksumFileTests {
    static let md5 = "d41d8cd98f00b204e9800998ecf8427e"
    static let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    static let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    static let sha512 = String(repeating: "0f", count: 64)

    @Test(arguments: [
        ("\(sha256)  a.txt", "SHA-256 \(sha256)", "a.txt"),
        ("\(sha256) *a.txt", "SHA-256 \(sha256)", "a.txt"),
        ("\(sha256.uppercased())  dir/a b.txt\r\n", "SHA-256 \(sha256)", "dir/a b.txt"),
        ("\(md5)  a", "MD5 \(md5)", "a"), ("\(sha1)  a", "SHA-1 \(sha1)", "a"),
        ("\(sha512)  a", "SHA-512 \(sha512)", "a"), (sha256, "SHA-256 \(sha256)", nil),
        ("\(sha256)  ", "SHA-256 \(sha256)", nil), ("\(sha256)   a", "SHA-256 \(sha256)", " a"),
        ("\\\(sha256)  a\\nb\\\\c", "SHA-256 \(sha256)", "a\nb\\c"),
        ("SHA256 (a.txt) = \(sha256)", "SHA-256 \(sha256)", "a.txt"),
        ("SHA256(a.txt)= \(sha256)", "SHA-256 \(sha256)", "a.txt"),
        ("SHA2-512(a)= \(sha512)", "SHA-512 \(sha512)", "a"),
        ("MD5 (a (1).txt) = \(md5)", "MD5 \(md5)", "a (1).txt"),
        ("SHA1 (a) = \(sha1)\n", "SHA-1 \(sha1)", "a"),
        ("\\SHA1 (a\\nb) = \(sha1)", "SHA-1 \(sha1)", "a\nb"),
    ])
    func lines(text: String, digest: String, name: String?) throws {
        let line = try #require(ChecksumLine(text))
        #expect(line.digest.description == digest)
        #expect(line.name == name)
        #expect(DownloadedFile.Digest(checksumLine: text) == line.digest)
    }

    @Test(arguments: [
        "", "# \(sha256)  a", "\(sha256.dropLast())  a", "\(sha256)a", "\(sha256)\ta",
        "SHA256 (a) = \(md5)", "SHA3-256 (a) = \(sha256)", "SHA256 a = \(sha256)",
        "SHA256 (a) \(sha256)", "SHA256 () = \(sha256)", "SHA256 (a) = \(sha256) x",
        "-----BEGIN PGP SIGNED MESSAGE-----", "Hash: SHA512",
    ])
    func otherTexts(text: String) { #expect(ChecksumLine(text) == nil) }

    @Test func theLineOfAFile() {
        let text = """
            # checksums
            \(Self.sha256)  one.tar
            \(Self.md5) *two.tar
            SHA256 (two.tar) = \(Self.sha256)

            """
        let find = { DownloadedFile.Digest.inChecksumFile(text, for: $0, algorithm: $1) }
        #expect(find("one.tar", nil) == .sha256(Self.sha256))
        #expect(find("/downloads/two.tar", nil) == .md5(Self.md5))
        #expect(find("two.tar", .sha256) == .sha256(Self.sha256))
        #expect(find("two.tar", .sha512) == nil)
        #expect(find("tar", nil) == nil && find("", nil) == nil)
    }

    @Test func aLineWithoutANameAppliesIfItIsTheOnlyOne() {
        let find = { DownloadedFile.Digest.inChecksumFile($0, for: "a") }
        #expect(find(Self.sha256 + "\n") == .sha256(Self.sha256))
        #expect(find(Self.sha256 + "\n" + Self.sha1) == nil)
        #expect(find(Self.sha256 + "  b") == nil)
    }
}
