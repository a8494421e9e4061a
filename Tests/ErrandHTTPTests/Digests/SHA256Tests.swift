import ErrandHTTP
import Foundation
import Testing

@Suite struct SHA256Tests {
    @Test(
        "Test vectors of FIPS 180-4 and NIST CAVP",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                    + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func vectors(text: String, digest: String) {
        #expect(SHA256.hex(Data(text.utf8)) == digest)
    }

    @Test func oneByteMessage() {
        #expect(
            SHA256.hex(Data([0xbd]))
                == "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b")
    }

    @Test func oneMillionBytes() {
        #expect(
            SHA256.hex(Data(repeating: UInt8(ascii: "a"), count: 1_000_000))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(
        "The digest does not depend on how the bytes are split",
        arguments: [1, 3, 63, 64, 65, 127, 200])
    func splitMessages(size: Int) {
        let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        var hash = SHA256()
        var start = 0
        while start < bytes.count {
            let end = min(start + size, bytes.count)
            hash.update(bytes[start..<end])
            start = end
        }
        #expect(hash.finalizeHex() == SHA256.hex(bytes))
        #expect(hash.finalize().count == 32)
    }
}
