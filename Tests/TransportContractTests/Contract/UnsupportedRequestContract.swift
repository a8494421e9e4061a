import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Testing

/// `check` rejects requests that need a missing capability, before anything is sent, and accepts all others.
@Suite("Contract: unsupported requests", .timeLimit(.minutes(5)))
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

    @Test(arguments: TransportKind.wire)
    func headWithBodyIsRejected(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let request = fixture.request(.head, body: .string("x"))
            #expect(throws: RequestError.self) { try fixture.transport.check(request) }
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
