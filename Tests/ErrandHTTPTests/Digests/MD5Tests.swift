import Testing

@testable import ErrandHTTP

@Suite struct MD5Tests {
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func examplesOfRFC1321(_ text: String, _ digest: String) {
        #expect(MD5.hex(text.utf8) == digest)
    }

    @Test(arguments: [
        (55, "ef1772b6dff9a122358552954ad0df65"), (56, "3b0c8ac703f828b04c6c197006d17218"),
        (64, "014842d480b571495a4a0363793f7367"),
    ])
    func paddingAtBlockBoundaries(_ count: Int, _ digest: String) {
        #expect(MD5.hex(repeatElement(UInt8(ascii: "a"), count: count)) == digest)
    }
}
