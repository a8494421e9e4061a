import Foundation
import Testing

@testable import ErrandHTTP

/// The incremental hash functions: published vectors, and every division of a message into chunks.
@Suite struct BlockHashTests {
    /// FIPS 180-4's examples, from NIST's "Examples with Intermediate Values".
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ])
    func examplesOfSHA1(_ text: String, _ digest: String) {
        #expect(SHA1.hex(text.utf8) == digest)
    }

    @Test(arguments: [
        (
            "",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        ),
        (
            "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
        ),
    ])
    func examplesOfSHA512(_ text: String, _ digest: String) {
        #expect(SHA512.hex(text.utf8) == digest)
    }

    @Test func aMillionTimesTheLetterA() {
        let message = repeatElement(UInt8(ascii: "a"), count: 1_000_000)
        #expect(SHA1.hex(message) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
        #expect(
            SHA512.hex(message)
                == "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
                + "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b")
        #expect(MD5.hex(message) == "7707d6ae4e027c70eea2a935c2296f21")
    }

    private static let message = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }

    private func digest<C: BlockCompression>(
        _ type: BlockHash<C>.Type, _ chunks: [ArraySlice<UInt8>]
    ) -> [UInt8] {
        var hash = type.init()
        for chunk in chunks {
            hash.update(Data(chunk))
            // The digest of a prefix does not change the state.
            _ = hash.finalize()
        }
        return hash.finalize()
    }

    @Test func everyDivisionIntoTwoChunksHasTheSameDigest() {
        for length in 0...Self.message.count {
            let message = Self.message[..<length]
            let (sha1, sha512, md5) = (
                SHA1.digest(message), SHA512.digest(message), MD5.digest(message)
            )
            for split in stride(from: 0, through: length, by: length < 130 ? 1 : 17) {
                let chunks = [message[..<split], message[split...]]
                #expect(digest(SHA1.self, chunks) == sha1)
                #expect(digest(SHA512.self, chunks) == sha512)
                #expect(digest(MD5.self, chunks) == md5)
            }
        }
    }
}
