import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// `check` rejects requests that need a missing capability, before anything is sent, and accepts all others.
@Suite("Contract: unsupported requests", .limited)
struct UnsupportedRequestContract {
    @Test(arguments: TransportKind.wire, Capability.allCases)
    func missingCapabilitiesAreRejectedBeforeSending(
        kind: TransportKind, capability: Capability
    ) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            guard let request = capability.requiringRequest(from: fixture.request()) else { return }
            if kind.capabilities.contains(capability) {
                do throws(RequestError) {
                    try fixture.transport.check(request)
                } catch {
                    #expect(error.code != .unsupported)
                }
                return
            }
            let error = #expect(throws: RequestError.self) { try fixture.transport.check(request) }
            #expect(error?.code == .unsupported)
            #expect(error?.stage == .transport)
            #expect(error?.message.contains("CurlTransport") == true)
            // Without `check`, the transfer ends with the same error.
            try await fixture.fail(request, .unsupported)
            #expect(fixture.server.status.accepted == 0)
        }
    }

    /// Mistakes of the caller, each with its error.
    private static let mistakes: [(RequestError.Code, @Sendable (inout TransportRequest) -> Void)] =
        [
            (.invalidURL, { $0.url = HTTPURL(path: "/x") }),
            (.invalidURL, { $0.url.scheme = "ftp" }),
            (.invalidURL, { $0.url.host = "a\0b" }),
            (.invalidMethod, { $0.method = "GET\0" }),
            (.invalidMethod, { $0.method = "GET /x" }),
            (.invalidHeader, { $0.headers[.proxyAuthorization] = "Basic eDp5" }),
            (
                .invalidCombination,
                {
                    $0.method = .head
                    $0.body = .string("x")
                }
            ),
            (.invalidConfiguration, { $0.timeouts.connect = .zero }),
            (.invalidConfiguration, { $0.timeouts.idle = .seconds(-1) }),
            (.invalidConfiguration, { $0.options.maximumBodyBytes = -1 }),
            (.invalidConfiguration, { $0.options.maximumHeadBytes = 0 }),
            (.invalidConfiguration, { $0.options.maximumDecodingRatio = 0 }),
            (.invalidCombination, { $0.options.httpVersion = .http2 }),
            (.invalidConfiguration, { $0.options.proxy = .url("127.0.0.1:1") }),
            (.invalidConfiguration, { $0.options.proxy = .url("http://a\0b:1") }),
            (.invalidConfiguration, { $0.options.proxy = .url("http://a:1", bypass: ["a:b"]) }),
            (.invalidConfiguration, { $0.options.addressOverrides = ["a:b": ["127.0.0.1"]] }),
            (.invalidConfiguration, { $0.options.addressOverrides = ["a": ["localhost"]] }),
            (.invalidConfiguration, { $0.options.unixSocketPath = "/run/a\0b" }),
            (
                .invalidCombination,
                {
                    $0.options.unixSocketPath = "/run/x"
                    $0.options.addressOverrides = ["a": ["127.0.0.1"]]
                }
            ),
            (.invalidConfiguration, secure { $0.publicKeyPins = ["nonsense"] }),
            (
                .invalidConfiguration,
                secure { $0.pins = [SecurityPolicy.Pins("a:443", publicKeys: [pin])] }
            ),
            (
                .invalidConfiguration,
                secure { $0.pins = [SecurityPolicy.Pins("a\0b", publicKeys: [pin])] }
            ),
            (.invalidConfiguration, secure { $0.authorityFile = "/etc/a\0b" }),
            (.invalidConfiguration, secure { $0.clientKeyFile = "/etc/key" }),
            (.invalidConfiguration, secure { $0.allowInvalidCertificates = true }),
            (.invalidConfiguration, { $0.options.security = pinned }),
        ]

    private static let pin = Data(repeating: 1, count: 32).base64EncodedString()

    private static var pinned: SecurityPolicy {
        var policy = SecurityPolicy()
        policy.publicKeyPins = [pin]
        return policy
    }

    private static func secure(
        _ change: @escaping @Sendable (inout SecurityPolicy) -> Void
    ) -> @Sendable (inout TransportRequest) -> Void {
        { request in
            var policy = SecurityPolicy()
            change(&policy)
            request.url.scheme = "https"
            request.options.security = policy
        }
    }

    @Test(
        arguments: TransportKind.wire,
        ["http://[fe80::1%25eth0]:8080", "socks5h://user:secret@[fe80::1%eth0]:1080"])
    func proxyAddressWithAZoneIsNamedAsTheReason(kind: TransportKind, proxy: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            var request = fixture.request()
            request.options.proxy = .url(proxy)
            let error = #expect(throws: RequestError.self) { try fixture.transport.check(request) }
            #expect(error?.code == .invalidConfiguration && error?.stage == .build)
            let message = try #require(error?.message)
            #expect(message.contains("proxy") && message.contains("zone"), "\(message)")
            #expect(message.contains("Use an address without a zone."), "\(message)")
            #expect(!message.contains("secret"))
        }
    }

    @Test(arguments: TransportKind.wire, mistakes.indices)
    func mistakesAreRejectedBeforeSending(kind: TransportKind, index: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let (code, change) = Self.mistakes[index]
            var request = fixture.request()
            change(&request)
            let error = #expect(throws: RequestError.self) { try fixture.transport.check(request) }
            #expect(error?.code == code)
            #expect(error?.stage == .build)
            // An agent calls `check` before `start`; `URLSessionTransport` repeats it.
            guard kind == .urlSession else { return }
            let record = try await fixture.fail(request, code)
            #expect(record.end?.error?.stage == .build)
            #expect(fixture.server.status.accepted == 0)
        }
    }

    @Test(arguments: TransportKind.wire)
    func ordinaryRequestsAreAccepted(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            try fixture.transport.check(fixture.request())
            try fixture.transport.check(fixture.request(.post, body: .string("x")))
            var request = fixture.request()
            request.options.httpVersion = .http11
            try fixture.transport.check(request)
            request = fixture.request()
            request.url.scheme = "https"
            request.options.security = SecurityPolicy()
            try fixture.transport.check(request)
        }
    }
}
