import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Accepted and rejected certificate chains, served by nginx.
@Suite("Real peers: certificates", .limited, .bothVersions)
struct CertificateTests {
    /// A chain of `Scripts/peers/certificates`, the host of the request, and the expected error.
    struct Case: Sendable, CustomTestStringConvertible {
        let chain: String
        let host: String
        /// `nil` if the chain is accepted.
        let expectedError: RequestError.Code?

        init(_ chain: String, at host: String? = nil, _ expectedError: RequestError.Code? = nil) {
            self.chain = chain
            self.host = host ?? "\(chain).errand.test"
            self.expectedError = expectedError
        }

        var testDescription: String { "\(chain) at \(host)" }
    }

    static let accepted: [Case] = [
        Case("good"), Case("direct"), Case("wild", at: "a.wild.errand.test"),
        Case("address", at: "127.0.0.1"), Case("address", at: "localhost"), Case("rsa"),
        Case("p384"), Case("ed25519"), Case("many-names"), Case("permitted"), Case("with-root"),
        Case("decorated"), Case("renewed-1"), Case("renewed-2"), Case("capitals"),
        Case("two-deep"), Case("disordered"),
    ]

    static let rejected: [Case] = [
        Case("wild", at: "a.b.wild.errand.test", .certificateRejected),
        Case("self-signed", .certificateRejected), Case("expired", .certificateRejected),
        Case("early", .certificateRejected), Case("wrong-host", .certificateRejected),
        Case("address-as-name", at: "127.0.0.2", .certificateRejected),
        Case("no-intermediate", .certificateRejected), Case("unknown-root", .certificateRejected),
        Case("twin", .certificateRejected), Case("by-no-authority", .certificateRejected),
        Case("by-unsigning", .certificateRejected), Case("too-long", .certificateRejected),
        Case("excluded", .certificateRejected), Case("not-permitted", .certificateRejected),
        Case("by-stale", .certificateRejected), Case("short-key", .certificateRejected),
        Case("sha1", .certificateRejected), Case("client-only", .certificateRejected),
        Case("unknown-extension", .certificateRejected),
        Case("wildcard-of-all", .certificateRejected),
        Case("wildcard-inside", at: "x.y.errand.test", .certificateRejected),
        // The subject's common name does not count (RFC 9110 §4.3.4).
        Case("name-in-subject", .certificateRejected),
        Case("address-in-subject", .certificateRejected),
        Case("names-no-host", .certificateRejected),
        // A wildcard must be a complete label (RFC 9525 §6.3).
        Case("wildcard-inside", at: "wild-inside.errand.test", .certificateRejected),
    ]

    @Test(arguments: accepted + rejected)
    func chainIsAcceptedOrRejected(_ it: Case) async throws {
        let peers = try Peers.get()
        let transport = CurlTransport()
        let record = try await transport.run(peers.request(.nginxTLS, host: it.host))
        #expect(record.error?.code == it.expectedError, "\(record.errorText)")
        if it.expectedError == nil {
            #expect(record.head?.status == .ok)
        } else {
            #expect(record.head == nil)
            #expect(record.error?.message.contains(it.host) == true)
        }
    }

    /// Every generated chain has a case.
    @Test func everyGeneratedChainHasACase() throws {
        let peers = try Peers.get()
        let generated = try FileManager.default.contentsOfDirectory(
            atPath: peers.folder + "/certificates"
        )
        .filter { $0.hasSuffix(".crt") }.map { String($0.dropLast(4)) }
        #expect(Set((Self.accepted + Self.rejected).map(\.chain)) == Set(generated))
        #expect(generated.count >= 30)
    }

    /// `insecureForTests` accepts every chain and does not affect later requests.
    @Test(arguments: rejected)
    func rejectedChainsPassWithoutValidation(_ it: Case) async throws {
        let peers = try Peers.get()
        let transport = CurlTransport()
        var request = peers.request(.nginxTLS, host: it.host)
        request.options.security = .insecureForTests
        let open = try await transport.run(request)
        #expect(open.error == nil, "\(open.errorText)")
        // A request with validation uses neither that connection nor its TLS session.
        let checked = try await transport.run(peers.request(.nginxTLS, host: it.host))
        #expect(checked.error?.code == it.expectedError, "\(checked.errorText)")
    }

    /// libcurl reads PEM only.
    @Test(arguments: ["root", "other-root"])
    func authorityFileMayBeDER(name: String) async throws {
        let peers = try Peers.get()
        let folder = try TemporaryFolder("authorities")
        let file = folder.url.appendingPathComponent("\(name).cer")
        let der = try #require(PEMText.certificates(in: peers.text(name + ".pem")).first)
        try der.write(to: file)
        var request = peers.request(.nginxTLS)
        request.options.security?.authorityFile = file.path
        let record = try await CurlTransport().run(request)
        #expect(
            record.error?.code == (name == "root" ? nil : .certificateRejected),
            "\(record.errorText)")
        #expect((record.head?.status == .ok) == (name == "root"))
    }

    @Test func systemAuthoritiesRejectTestCertificates() async throws {
        let peers = try Peers.get()
        let transport = CurlTransport()
        var request = peers.request(.nginxTLS)
        let own = try await transport.run(request)
        #expect(own.error == nil, "\(own.errorText)")
        request.options.security = nil
        let system = try await transport.run(request)
        #expect(system.error?.code == .certificateRejected, "\(system.errorText)")
    }
}
