import Testing

@testable import ErrandCore

@Suite struct LocalPeerTests {
    @Test(
        arguments: [
            ("localhost", true), ("LocalHost", true), ("localhost.", true), ("a.b.localhost", true),
            ("127.0.0.1", true), ("127.255.3.4", true), ("127.1", true), ("[::1]", true),
            ("[0:0:0:0:0:0:0:1]", true), ("[::ffff:127.0.0.1]", true), ("[::1%25lo]", true),
            ("notlocalhost", false), ("localhost.example.com", false), ("128.0.0.1", false),
            ("127.example.com", false), ("127", false), ("[::2]", false), ("[1::1]", false),
            ("[fe80::1]", false), ("[::ffff:10.0.0.1]", false), ("", false), ("[]", false),
        ])
    func loopbackHosts(host: String, isLoopback: Bool) {
        #expect(LocalPeer.isLoopback(host) == isLoopback)
    }
}
