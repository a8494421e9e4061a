import ErrandHTTP
import Foundation
import Testing

@testable import ErrandCore

/// The implementations of hash functions: published vectors, and equal results for every division into chunks.
@Suite struct StreamingDigestTests {
    typealias Algorithm = DownloadedFile.Digest.Algorithm

    static let abc: [Algorithm: String] = [
        .sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        .sha512: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        .sha1: "a9993e364706816aba3e25717850c26c9cd0d89d",
        .md5: "900150983cd24fb0d6963f7d28e17f72",
    ]

    private static let available = DigestImplementation.allCases.filter { $0.make(.sha256) != nil }

    private func digest(
        _ implementation: DigestImplementation, _ algorithm: Algorithm,
        _ chunks: [ArraySlice<UInt8>]
    ) throws -> [UInt8] {
        var digest = try #require(implementation.make(algorithm))
        for chunk in chunks { chunk.withUnsafeBytes { digest.update($0) } }
        return digest.finalize()
    }

    @Test func ownCodeIsAlwaysAvailable() {
        for algorithm in Algorithm.allCases {
            #expect(DigestImplementation.own.make(algorithm) != nil)
        }
    }

    @Test(arguments: available, Algorithm.allCases)
    func publishedVectors(implementation: DigestImplementation, algorithm: Algorithm) throws {
        let bytes = try digest(implementation, algorithm, [Array("abc".utf8)[...]])
        #expect(DownloadedFile.Digest(algorithm, bytes: bytes).hex == Self.abc[algorithm])
        #expect(bytes.count == algorithm.byteCount)
    }

    @Test(arguments: available, Algorithm.allCases)
    func everyChunkBoundaryHasTheDigestOfTheOwnCode(
        implementation: DigestImplementation, algorithm: Algorithm
    ) throws {
        let message = (0..<260).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ 5) }
        for length in [0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 129, 255, 256, 260] {
            let whole = message[..<length]
            let expected = try digest(.own, algorithm, [whole])
            for split in 0...length {
                let chunks = [whole[..<split], whole[split...]]
                #expect(try digest(implementation, algorithm, chunks) == expected)
            }
        }
    }

    @Test func severalDigestsOfTheSameBytes() {
        var digests = StreamingDigests(Set(Algorithm.allCases))
        for byte in "abc".utf8 { [byte].withUnsafeBytes { digests.update($0) } }
        #expect(digests.count == 3)
        #expect(digests.finalize().mapValues(\.hex) == Self.abc)
    }
}
