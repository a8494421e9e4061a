import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// `transportOverrides` of an endpoint.
@Suite(.limited) struct TransportOverrideTests {
    private final class OverridingRequest: BaseRequest {
        override var url: EndpointURL { "legacy" }
        override var cacheSeconds: Int { 60 }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.transport.httpVersion = .http11
            request.sending.transport.decodesContent = false
            request.sending.transport.maximumBodyBytes = 1000
            request.sending.transport.proxy = TransportOptions.ProxyPolicy.none
            request.sending.transport.addressFamily = .ipv4
        }
    }

    private func fixture(_ configure: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture(configure)
        fixture.transport.respond { _ in .json("{}") }
        return fixture
    }

    @Test func overridesReplaceOnlyTheOptionsThatTheySet() async throws {
        let fixture = fixture {
            $0.transportOptions.httpVersion = .http2
            $0.transportOptions.maximumBodyBytes = 5
            $0.transportOptions.maximumHeadBytes = 4096
            $0.transportOptions.proxy = .url("http://proxy.example.com")
        }
        try await fixture.with(OverridingRequest()).send()
        let options = try #require(fixture.transport.requests.first?.options)
        #expect(options.httpVersion == .http11 && !options.decodesContent)
        #expect(options.maximumBodyBytes == 1000 && options.maximumHeadBytes == 4096)
        #expect(options.proxy == .none && options.addressFamily == .ipv4)
    }

    @Test func overridesDoNotAffectOtherRequests() async throws {
        let fixture = fixture()
        try await fixture.with(OverridingRequest()).send()
        try await fixture.with(Plain("x")).send()
        #expect(fixture.transport.requests.last?.options.httpVersion == .automatic)
        #expect(fixture.transport.requests.last?.options.decodesContent == true)
    }

    @Test func encodedAndDecodedResponsesHaveSeparateCacheEntries() async throws {
        let fixture = fixture()
        try await fixture.with(OverridingRequest()).send()
        let decoded = InlineRequest("legacy") { $0.cacheSeconds = 60 }
        #expect(try await fixture.with(decoded).send().isFromCache == false)
        #expect(try await fixture.with(decoded).send().isFromCache)
        #expect(try await fixture.with(OverridingRequest()).send().isFromCache)
    }

    @Test func decodingCanBeDisabledForOneRequest() async throws {
        let server = LoopbackServer()
        let compressed = try ZlibBodyEncoder.gzip.encode(Data("plain".utf8))
        server.otherwise { _ in
            LoopbackResponse(headers: ["Content-Encoding": "gzip"], body: compressed)
        }
        try await server.start()
        let agent = RequestAgent(configuration: Configuration(baseURL: server.baseURL))
        func bytes(_ overrides: TransportOverrides = TransportOverrides()) async throws -> Data {
            let request = InlineRequest("x") {
                $0.acceptance.format = .any
                $0.sending.transport = overrides
            }
            return try await request.send(on: agent).data
        }
        #expect(try await bytes() == Data("plain".utf8))
        #expect(try await bytes(TransportOverrides(decodesContent: false)) == compressed)
        #expect(try await bytes() == Data("plain".utf8))
        #expect(server.requests[1].header("Accept-Encoding") == nil)
        await server.stop()
    }

    @Test func overridesAreEquatableAndHashable() {
        var one = TransportOverrides(httpVersion: .http2)
        let other = TransportOverrides(httpVersion: .http2)
        #expect(one == other && Set([one, other]).count == 1)
        one.maximumHeadBytes = 1
        #expect(one != other)
    }
}
