import ErrandCurl
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import Foundation
import FoundationNetworking
import Glibc
import TestSupport
import Testing

/// The end of a process whose threads may still close connections with TLS.
@Suite("Real peers: the end of a process", .limited)
struct ProcessExitTests {
    @Test func exitLeavesTheMemoryOfOpenSSLToTheEventLoop() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let record = try await CurlTransport().run(peers.request(.nginxTLS))
            guard record.head?.status == .ok else { exit(5) }
            OpenSSLCleanup.exitReporting()
        }
    }

    @Test func exitLeavesTheMemoryOfOpenSSLToFoundation() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let transport = URLSessionTransport(configuration: .ephemeral)
            let record = try await transport.run(peers.request(.nginxPlain, host: "127.0.0.1"))
            guard record.head?.status == .ok else { exit(5) }
            OpenSSLCleanup.exitReporting()
        }
    }
}
