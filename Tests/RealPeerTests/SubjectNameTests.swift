import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Certificates that name their host only as the subject's common name (RFC 9110 §4.3.4).
///
/// libcurl with OpenSSL alone would accept them.
@Suite("Real peers: common names", .limited, .bothVersions)
struct SubjectNameTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(
        _ chain: String = "name-in-subject", _ target: String = "/info",
        change: (inout SecurityPolicy) throws -> Void = { _ in }
    ) rethrows -> TransportRequest {
        var request = peers.request(.nginxTLS, host: "\(chain).errand.test", target)
        var policy = request.options.security ?? SecurityPolicy()
        try change(&policy)
        request.options.security = policy
        return request
    }

    @Test(
        arguments: ["name-in-subject", "names-no-host"],
        [TransportOptions.HTTPVersionPolicy.automatic, .http11])
    func nothingIsSentToTheServer(
        chain: String, version: TransportOptions.HTTPVersionPolicy
    ) async throws {
        let marks = (0..<3).map { _ in UUID().uuidString }
        var refused = try request(chain, "/info?\(marks[0])")
        refused.headers[.authorization] = "Bearer secret"
        refused.options.httpVersion = version
        for _ in 0..<2 {
            let record = try await transport.run(refused)
            let error = try #require(record.error)
            #expect(error.code == .certificateRejected, "\(record.errorText)")
            #expect(error.message.contains("\(chain).errand.test"))
            #expect(error.message.contains("subjectAltName"))
            #expect(record.end?.timings.bytesSent == 0)
            #expect(record.head == nil)
        }
        try await expectLog(without: marks)
    }

    /// Expects that nginx has logged no request with the first mark; the others are sent first.
    private func expectLog(without marks: [String]) async throws {
        // nginx logs a request before it responds to the next one on the same connection.
        for mark in marks.dropFirst() {
            let seen = try await transport.run(peers.request(.nginxTLS12, "/info?\(mark)"))
            #expect(seen.error == nil, "\(seen.errorText)")
        }
        let log = try String(contentsOfFile: "\(peers.folder)/nginx-access.log", encoding: .utf8)
        #expect(log.contains(marks[1]))
        #expect(!log.contains(marks[0]))
    }

    /// Without the check of the host name, any name or none is accepted.
    @Test func commonNameIsIrrelevantWithoutNameCheck() async throws {
        let unchecked = try await transport.run(request { $0.validatesDomainName = false })
        #expect(unchecked.error == nil, "\(unchecked.errorText)")
        // That connection and its TLS session are not used by a request with the check.
        let checked = try await transport.run(try request())
        #expect(checked.error?.code == .certificateRejected, "\(checked.errorText)")
        let again = try await transport.run(request { $0.validatesDomainName = false })
        #expect(again.error == nil && again.end?.timings.reusedConnection == true)
    }

    /// A pin replaces the authorities, but not the check of the host name.
    @Test(arguments: [true, false], [true, false])
    func pinDoesNotReplaceTheNameCheck(checksName: Bool, checksChain: Bool) async throws {
        let record = try await transport.run(
            request {
                $0.pins = [
                    SecurityPolicy.Pins(
                        "name-in-subject.errand.test",
                        publicKeys: [try peers.pin("name-in-subject")])
                ]
                $0.validatesDomainName = checksName
                $0.allowInvalidCertificates = !checksChain
                if !checksChain { $0.authorityFile = nil }
            })
        #expect(
            record.error?.code == (checksName ? .certificateRejected : nil), "\(record.errorText)")
    }

    /// An invalid chain is reported as such, and a pin may still replace the authorities.
    @Test func otherChecksAreUnchanged() async throws {
        let expired = try await transport.run(try request("expired"))
        #expect(expired.error?.code == .certificateRejected)
        #expect(expired.error?.message.contains("subjectAltName") == false)
        let pinned = try await transport.run(
            request("self-signed") {
                $0.pins = [
                    SecurityPolicy.Pins(
                        "self-signed.errand.test", publicKeys: [try peers.pin("self-signed")])
                ]
                $0.allowInvalidCertificates = true
            })
        #expect(pinned.error == nil, "\(pinned.errorText)")
    }

    private func proxied(
        _ target: Peers.Peer, _ path: String = "/info", chain: String? = nil,
        through peer: Peers.Peer = .secureProxyUnnamed,
        change: (inout TransportOptions) -> Void = { _ in }
    ) -> TransportRequest {
        let host = chain.map { $0 + ".errand.test" } ?? "127.0.0.1"
        var request = peers.request(target, host: host, path)
        request.options.proxy = .url("https://user:secret@127.0.0.1:\(peers.port(peer))")
        request.options.proxySecurity = SecurityPolicy()
        request.options.proxySecurity?.authorityFile = peers.certificate("root.pem")
        change(&request.options)
        return request
    }

    /// Neither a request nor a CONNECT with the proxy's credentials is sent.
    @Test(arguments: [Peers.Peer.nginxPlain, .nginxTLS])
    func proxyNeedsASubjectAltName(target: Peers.Peer) async throws {
        let marks = (0..<3).map { _ in UUID().uuidString }
        for _ in 0..<2 {
            let refused = try await transport.run(proxied(target, "/info?\(marks[0])"))
            let error = try #require(refused.error)
            #expect(error.code == .proxyFailed, "\(refused.errorText)")
            #expect(error.message.contains("subjectAltName"), "\(refused.errorText)")
            #expect(error.message.contains("secret") == false)
        }
        let open = try await transport.run(
            proxied(target) { $0.proxySecurity?.validatesDomainName = false })
        #expect(open.error == nil, "\(open.errorText)")
        let again = try await transport.run(proxied(target))
        #expect(again.error?.code == .proxyFailed, "\(again.errorText)")
        try await expectLog(without: marks)
    }

    /// The policies of the proxy and of the server in the tunnel apply separately.
    @Test func tunnelledServerNeedsASubjectAltName() async throws {
        let refused = try await transport.run(
            proxied(.nginxTLS, chain: "name-in-subject", through: .secureProxy))
        #expect(refused.error?.code == .certificateRejected, "\(refused.errorText)")
        #expect(refused.error?.message.contains("subjectAltName") == true)
        let unchecked = try await transport.run(
            proxied(.nginxTLS, chain: "name-in-subject", through: .secureProxy) {
                $0.security?.validatesDomainName = false
            })
        #expect(unchecked.error == nil, "\(unchecked.errorText)")
        let both = try await transport.run(
            proxied(.nginxTLS, chain: "name-in-subject") {
                $0.proxySecurity = .insecureForTests
            })
        #expect(both.error?.code == .certificateRejected, "\(both.errorText)")
        let server = try await transport.run(
            proxied(.nginxTLS, chain: "good") {
                $0.proxySecurity = .insecureForTests
            })
        #expect(server.error == nil, "\(server.errorText)")
    }
}
