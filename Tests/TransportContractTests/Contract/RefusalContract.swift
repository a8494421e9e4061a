import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// What a transport cannot do is refused before anything is sent; what it can do, is not.
@Suite("Contract: refusals", .timeLimit(.minutes(5)))
struct RefusalContract {
    @Test(arguments: Subject.wire, Capability.allCases)
    func fitTheCapabilities(subject: Subject, capability: Capability) async throws {
        try await ContractWorld.with(subject) { world async throws in
            guard let request = capability.need(world.request()) else { return }
            if subject.capabilities.contains(capability) {
                do throws(RequestError) {
                    try world.transport.check(request)
                } catch {
                    #expect(error.code != .unsupported)
                }
                return
            }
            let error = #expect(throws: RequestError.self) { try world.transport.check(request) }
            #expect(error?.code == .unsupported)
            #expect(error?.stage == .transport)
            #expect(error?.message.contains("CurlTransport") == true)
            // Who forgets to ask gets the same, as the transfer's end.
            try await world.fail(request, .unsupported)
            #expect(world.server.status.accepted == 0)
        }
    }

    @Test(arguments: Subject.wire)
    func headWithABodyIsRefused(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let request = world.request(.head, body: .string("x"))
            #expect(throws: RequestError.self) { try world.transport.check(request) }
        }
    }

    @Test(arguments: Subject.wire)
    func ordinaryRequestsAreNotRefused(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            try world.transport.check(world.request())
            try world.transport.check(world.request(.post, body: .string("x")))
            var request = world.request()
            request.options.httpVersion = .http11
            try world.transport.check(request)
            request = world.request()
            request.url.scheme = "https"
            request.options.security = SecurityPolicy()
            try world.transport.check(request)
        }
    }
}
