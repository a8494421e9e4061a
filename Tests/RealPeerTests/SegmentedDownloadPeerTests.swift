import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// One file in parallel ranges from nginx, over HTTP/1.1 and HTTP/2.
@Suite("Real peers: segmented downloads", .limited)
struct SegmentedDownloadPeerTests {
    private let peers: Peers

    init() throws { peers = try Peers.get() }

    @Test(arguments: [(Peers.Peer.nginxPlain, HTTPVersion.http11), (.nginxTLS, .http2)])
    func fileArrivesInParallelRanges(peer: Peers.Peer, version: HTTPVersion) async throws {
        let folder = try TemporaryFolder("segments")
        let agent = RequestAgent(
            configuration: Configuration(), transport: CurlTransport(), store: nil)
        var description = RequestDescription(
            endpoint: "Download", url: peers.endpoint(peer, "/large"))
        var security = SecurityPolicy()
        security.authorityFile = peers.certificate("root.pem")
        description.sending.security = security
        description.download = .to(folder.url.appendingPathComponent("large")) {
            $0.sha256 = SHA256.hex(Peers.largeBody)
            ($0.segments, $0.minimumSegmentSize) = (4, 16 << 10)
        }
        let response = try await agent.start(description).response()
        #expect(response.statusCode == 200 && response.httpVersion == version)
        #expect(response.downloadedFile?.bytes == Int64(Peers.largeBody.count))
        let file = try Data(contentsOf: folder.url.appendingPathComponent("large"))
        #expect(haveSameBytes(file, Peers.largeBody))
    }
}
