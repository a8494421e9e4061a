import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Pins and real certificate chains, with digests computed by openssl.
@Suite("Real peers: pins", .limited, .bothVersions)
struct PinTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(
        _ chain: String, _ pins: SecurityPolicy.Pins...,
        change: (inout SecurityPolicy) -> Void = { _ in }
    ) -> TransportRequest {
        var request = peers.request(.nginxTLS, host: "\(chain).errand.test")
        request.options.security?.pins = pins
        if var policy = request.options.security {
            change(&policy)
            request.options.security = policy
        }
        return request
    }

    private func keys(_ host: String, _ names: String...) throws -> SecurityPolicy.Pins {
        SecurityPolicy.Pins("\(host).errand.test", publicKeys: try names.map(peers.pin))
    }

    private func certificates(_ host: String, _ names: String...) throws -> SecurityPolicy.Pins {
        SecurityPolicy.Pins(
            "\(host).errand.test", certificates: try names.map { try peers.text($0 + ".pem") })
    }

    @Test(arguments: ["good", "intermediate", "root"])
    func anyKeyOfTheChainMatches(name: String) async throws {
        let record = try await transport.run(request("good", keys("good", "direct", name)))
        #expect(record.error == nil, "\(record.errorText)")
        let legacy = try await transport.run(
            request("good") { $0.publicKeyPins = [(try? peers.pin(name)) ?? ""] })
        #expect(legacy.error == nil, "\(legacy.errorText)")
    }

    @Test(arguments: ["rsa", "p384", "ed25519", "two-deep", "disordered"])
    func keysOfEveryTypeMatch(name: String) async throws {
        let record = try await transport.run(request(name, keys(name, name)))
        #expect(record.error == nil, "\(record.errorText)")
    }

    @Test func mismatchReportsHostAndKeys() async throws {
        let record = try await transport.run(request("good", keys("good", "direct", "other-root")))
        let error = try #require(record.error)
        #expect(error.code == .pinMismatch)
        let mismatch = try #require(error.underlying as? PinMismatch)
        #expect(mismatch.host == "good.errand.test")
        #expect(
            try mismatch.seen == [
                peers.pin("good"), peers.pin("intermediate"), peers.pin("root"),
            ])
        #expect(try error.message.contains("good.errand.test presented \(peers.pin("good"))"))
        #expect(record.head == nil)
    }

    /// A certificate outside the verified chain does not match a pin.
    @Test func certificatesOutsideTheChainDoNotMatch() async throws {
        let record = try await transport.run(
            request("decorated", keys("decorated", "other-root")))
        #expect(record.error?.code == .pinMismatch, "\(record.errorText)")
        let unverified = try await transport.run(
            request("decorated", keys("decorated", "other-root", "intermediate")) {
                $0.allowInvalidCertificates = true
            })
        #expect(unverified.error?.code == .pinMismatch, "\(unverified.errorText)")
    }

    @Test func keyPinMatchesRenewedCertificates() async throws {
        for name in ["renewed-1", "renewed-2"] {
            let record = try await transport.run(request(name, keys(name, "renewed-1")))
            #expect(record.error == nil, "\(record.errorText)")
            let other = try await transport.run(request(name, certificates(name, "renewed-1")))
            #expect(other.error?.code == (name == "renewed-1" ? nil : .pinMismatch))
        }
    }

    @Test func pinnedCertificatesMatchAndReplaceAuthorities() async throws {
        for name in ["good", "intermediate", "root"] {
            let record = try await transport.run(
                request("good", certificates("good", "direct", name)))
            #expect(record.error == nil, "\(name): \(record.errorText)")
        }
        let other = try await transport.run(
            request("good", certificates("good", "direct", "other-root", "twin-root")))
        #expect(other.error?.code == .pinMismatch, "\(other.errorText)")
        // Without authorities, the chain must still lead to the pinned certificate, be valid now, and match the host.
        func open(_ chain: String, _ pin: String) async throws -> RequestError.Code? {
            try await transport.run(
                request(chain, certificates(chain, pin)) {
                    $0.allowInvalidCertificates = true
                    $0.authorityFile = nil
                }
            ).error?.code
        }
        #expect(try await open("good", "root") == nil)
        #expect(try await open("self-signed", "self-signed") == nil)
        #expect(try await open("unknown-root", "other-root") == nil)
        #expect(try await open("unknown-root", "root") == .pinMismatch)
        #expect(try await open("no-intermediate", "root") == .pinMismatch)
        #expect(try await open("expired", "expired") == .pinMismatch)
        #expect(try await open("twin", "root") == .pinMismatch)
        #expect(try await open("wrong-host", "root") == .certificateRejected)
    }

    @Test func pinnedKeysReplaceAuthorities() async throws {
        func open(_ chain: String, _ pin: String) async throws -> RequestError.Code? {
            try await transport.run(
                request(chain, keys(chain, pin)) {
                    $0.allowInvalidCertificates = true
                    $0.authorityFile = nil
                }
            ).error?.code
        }
        #expect(try await open("self-signed", "self-signed") == nil)
        #expect(try await open("expired", "expired") == nil)
        #expect(try await open("self-signed", "good") == .pinMismatch)
        #expect(try await open("good", "intermediate") == .pinMismatch)
        #expect(try await open("wrong-host", "wrong-host") == .certificateRejected)
    }

    @Test func pinsApplyBySubdomainAndExpiry() async throws {
        let wrong = try peers.pin("direct")
        func run(_ pins: SecurityPolicy.Pins) async throws -> RequestError.Code? {
            try await transport.run(request("good", pins)).error?.code
        }
        #expect(try await run(SecurityPolicy.Pins("errand.test", publicKeys: [wrong])) == nil)
        #expect(
            try await run(
                SecurityPolicy.Pins("errand.test", includesSubdomains: true, publicKeys: [wrong]))
                == .pinMismatch)
        let past = Date(timeIntervalSinceNow: -60)
        let future = Date(timeIntervalSinceNow: 60)
        #expect(
            try await run(
                SecurityPolicy.Pins("good.errand.test", publicKeys: [wrong], expires: past))
                == nil)
        #expect(
            try await run(
                SecurityPolicy.Pins("good.errand.test", publicKeys: [wrong], expires: future))
                == .pinMismatch)
        var dotted = request("good", SecurityPolicy.Pins("good.errand.test", publicKeys: [wrong]))
        dotted.url.host = "GOOD.errand.test."
        dotted.options.addressOverrides = [
            "GOOD.errand.test.:\(peers.port(.nginxTLS))": ["127.0.0.1"]
        ]
        #expect(try await transport.run(dotted).error?.code == .pinMismatch)
    }

    /// Reused connections and resumed sessions are checked against the pins like new ones.
    @Test func pinsApplyToReusedConnectionsAndSessions() async throws {
        let plain = try await transport.run(request("good"))
        #expect(plain.error == nil)
        let kept = try await transport.run(request("good", keys("good", "intermediate")))
        #expect(kept.error == nil, "\(kept.errorText)")
        #expect(kept.end?.timings.reusedConnection == true)
        let refused = try await transport.run(request("good", keys("good", "direct")))
        #expect(refused.error?.code == .pinMismatch)
        func closing(_ pins: SecurityPolicy.Pins...) -> TransportRequest {
            var request = request("direct")
            request.options.security?.pins = pins
            request.options.httpVersion = .http11
            request.headers[.connection] = "close"
            return request
        }
        _ = try await transport.run(closing())
        let resumed = try await transport.run(closing(keys("direct", "root")))
        #expect(resumed.error == nil, "\(resumed.errorText)")
        #expect(PeerInfo(resumed).isResumed)
        let mismatch = try await transport.run(closing(keys("direct", "good")))
        #expect(mismatch.error?.code == .pinMismatch, "\(mismatch.errorText)")
        #expect(
            try (mismatch.error?.underlying as? PinMismatch)?.seen == [
                peers.pin("direct"), peers.pin("root"),
            ])
    }

    @Test func reportOnlyMismatchIsAnEvent() async throws {
        let events = EventRecorder()
        var configuration = Configuration()
        configuration.eventListeners = [events]
        configuration.transportOptions = request("good").options
        configuration.transportOptions.security?.pins = [
            SecurityPolicy.Pins(
                "good.errand.test", publicKeys: [try peers.pin("direct")], isReportOnly: true)
        ]
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        let endpoint = InlineRequest(peers.endpoint(.nginxTLS, host: "good.errand.test")) {
            $0.acceptance.format = .text
        }
        let response = try await endpoint.send(on: agent)
        #expect(response.status == .ok)
        let reported = events.events.compactMap { event in
            if case .pinMismatch(let mismatch) = event.kind { mismatch } else { nil }
        }
        #expect(reported.count == 1 && reported.first?.isReportOnly == true)
        #expect(reported.first?.host == "good.errand.test")
        #expect(try reported.first?.seen.first == peers.pin("good"))
    }

    @Test func securityPolicyOfTheEndpointApplies() async throws {
        final class Pinned: BaseRequest {
            var policy = SecurityPolicy()
            var address = ""
            override var url: EndpointURL { EndpointURL(raw: address) }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.sending.security = policy
                request.acceptance.format = .text
            }
        }
        let endpoint = Pinned()
        endpoint.address = peers.url(.nginxTLS, host: "localhost")
        endpoint.policy.authorityFile = peers.certificate("root.pem")
        endpoint.policy.pins = [
            SecurityPolicy.Pins("localhost", publicKeys: [try peers.pin("good")])
        ]
        let agent = RequestAgent(transport: transport, store: nil)
        let error = await #expect(throws: RequestError.self) { try await endpoint.send(on: agent) }
        #expect(error?.code == .pinMismatch)
        endpoint.policy.pins = [
            SecurityPolicy.Pins("localhost", publicKeys: [try peers.pin("address")])
        ]
        #expect(try await endpoint.send(on: agent).status == .ok)
    }
}
