import Testing

@testable import ErrandHTTP

@Suite struct SHA512Truncated256Tests {
    @Test(arguments: [
        ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
    func shortMessages(_ text: String, _ digest: String) {
        #expect(SHA512Truncated256.hex(text.utf8) == digest)
    }

    /// The expected digests were computed with OpenSSL.
    @Test(arguments: [
        (111, "0239e429f98d0ed61ee8e2a7c30afe98c1c3a80ce5dff62a107e9c538f7632ce"),
        (112, "9216b5303edb66504570bee90e48ea5beaa5e9fe9f760bbd3e0460559fc005f6"),
        (119, "6cb452f832033489de69b49d6a8e8a1e0018092f1986c132287f4ca4ab3ee545"),
        (120, "2e6ca4d879d367d7708701ed2e448540d04a6b8fcd2b0806278cf36090b9ba2b"),
        (127, "2fe3b2a6ee7e12f6fe4ba82166541ad9b4ed882c493581cbe300d68f3757b778"),
        (128, "b88f97e274f9c1d49f181c8cbd01a9c74930ad055a46ac4499a1d601f1c80bf2"),
        (1000, "40eb4a70d4d69815407a9e272f0101cd67e3d11262a4a0bfc087712749c7fb53"),
    ])
    func paddingAtBlockBoundaries(_ count: Int, _ digest: String) {
        #expect(SHA512Truncated256.hex(repeatElement(UInt8(ascii: "a"), count: count)) == digest)
    }
}
