import ErrandCurl
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import Foundation
import FoundationNetworking
import Glibc
import Testing

/// The end of a process whose threads may still close connections with TLS.
@Suite("Real peers: the end of a process", .timeLimit(.minutes(15)))
struct ProcessExitTests {
    /// Ends this process with status 3 if `exit` releases the memory of OpenSSL.
    private static func watchOpenSSL() throws {
        typealias Register = @convention(c) (@convention(c) () -> Void) -> Int32
        let library = try #require(dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD))
        let address = try #require(dlsym(library, "OPENSSL_atexit"))
        let register = unsafeBitCast(address, to: Register.self)
        let isRegistered = register { _exit(3) }
        try #require(isRegistered == 1)
    }

    @Test func exitLeavesTheMemoryOfOpenSSLToTheEventLoop() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let record = try await CurlTransport.tested().run(peers.request(.nginxTLS))
            guard record.head?.status == .ok else { exit(4) }
            try ProcessExitTests.watchOpenSSL()
            exit(0)
        }
    }

    @Test func exitLeavesTheMemoryOfOpenSSLToFoundation() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let transport = URLSessionTransport(configuration: .ephemeral)
            let record = try await transport.run(peers.request(.nginxPlain, host: "127.0.0.1"))
            guard record.head?.status == .ok else { exit(4) }
            try ProcessExitTests.watchOpenSSL()
            exit(0)
        }
    }
}
