import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import Testing

/// Which chains are trusted and which are not, as nginx shows them.
@Suite("Real peers: certificates", .timeLimit(.minutes(3)))
struct CertificateTests {
    /// A chain of the script's, under which name it is asked for, and what becomes of the request.
    struct Case: Sendable, CustomTestStringConvertible {
        let chain: String
        let host: String
        /// `nil` is accepted.
        let refusal: RequestError.Code?

        init(_ chain: String, at host: String? = nil, _ refusal: RequestError.Code? = nil) {
            self.chain = chain
            self.host = host ?? "\(chain).errand.test"
            self.refusal = refusal
        }

        var testDescription: String { "\(chain) at \(host)" }
    }

    static let accepted: [Case] = [
        Case("good"), Case("direct"), Case("wild", at: "a.wild.errand.test"),
        Case("address", at: "127.0.0.1"), Case("address", at: "localhost"), Case("rsa"),
        Case("p384"), Case("ed25519"), Case("many-names"), Case("permitted"), Case("with-root"),
        Case("decorated"), Case("name-in-subject"), Case("renewed-1"), Case("renewed-2"),
        Case("capitals"), Case("two-deep"), Case("disordered"),
    ]

    static let refused: [Case] = [
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
        // A partial wildcard is none (RFC 9525 §6.3).
        Case("wildcard-inside", at: "wild-inside.errand.test", .certificateRejected),
    ]

    @Test(arguments: accepted + refused)
    func isJudged(_ it: Case) async throws {
        let peers = try Peers.get()
        let transport = CurlTransport()
        let record = try await transport.run(peers.request(.nginxTLS, host: it.host))
        #expect(record.error?.code == it.refusal, "\(record.trouble)")
        if it.refusal == nil {
            #expect(record.head?.status == .ok)
        } else {
            #expect(record.head == nil)
            #expect(record.error?.message.contains(it.host) == true)
        }
    }

    /// Every chain that the script has made is in the table.
    @Test func tableIsComplete() throws {
        let peers = try Peers.get()
        let made = try FileManager.default.contentsOfDirectory(
            atPath: peers.folder + "/certificates"
        )
        .filter { $0.hasSuffix(".crt") }.map { String($0.dropLast(4)) }
        #expect(Set((Self.accepted + Self.refused).map(\.chain)) == Set(made))
        #expect(made.count >= 30)
    }

    /// Where a test says so loudly, everything passes, and nothing of that lasts.
    @Test(arguments: refused)
    func passesWhenNothingIsChecked(_ it: Case) async throws {
        let peers = try Peers.get()
        let transport = CurlTransport()
        var request = peers.request(.nginxTLS, host: it.host)
        request.options.security = .insecureForTests
        let open = try await transport.run(request)
        #expect(open.error == nil, "\(open.trouble)")
        // The connection and the TLS session are there, and are not for who checks.
        let checked = try await transport.run(peers.request(.nginxTLS, host: it.host))
        #expect(checked.error?.code == it.refusal, "\(checked.trouble)")
    }

    @Test func systemDoesNotTrustTheTests() async throws {
        let peers = try Peers.get()
        let transport = CurlTransport()
        var request = peers.request(.nginxTLS)
        let own = try await transport.run(request)
        #expect(own.error == nil, "\(own.trouble)")
        request.options.security = nil
        let system = try await transport.run(request)
        #expect(system.error?.code == .certificateRejected, "\(system.trouble)")
    }
}
