import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// An endpoint's own word on how it is carried.
@Suite(.timeLimit(.minutes(5))) struct TransportOverrideTests {
    private final class Legacy: BaseRequest {
        override var url: String { "legacy" }
        override var cacheSeconds: Int { 60 }
        override var transportOverrides: TransportOverrides? {
            var overrides = TransportOverrides(httpVersion: .http11, decodesContent: false)
            overrides.maximumBodyBytes = 1000
            overrides.proxy = TransportOptions.ProxyPolicy.none
            overrides.addressFamily = .ipv4
            return overrides
        }
    }

    private func world(_ configure: (inout Configuration) -> Void = { _ in }) -> World {
        let world = World(configure)
        world.transport.answer { _ in .json("{}") }
        return world
    }

    @Test func whatIsSetTakesThePlaceOfTheConfigurations() async throws {
        let world = world {
            $0.transport.httpVersion = .http2
            $0.transport.maximumBodyBytes = 5
            $0.transport.maximumHeadBytes = 4096
            $0.transport.proxy = .url("http://proxy.example.com")
        }
        try await world.with(Legacy()).send()
        let options = try #require(world.transport.requests.first?.options)
        #expect(options.httpVersion == .http11 && !options.decodesContent)
        #expect(options.maximumBodyBytes == 1000 && options.maximumHeadBytes == 4096)
        #expect(options.proxy == .none && options.addressFamily == .ipv4)
    }

    @Test func othersAreNotTouched() async throws {
        let world = world()
        try await world.with(Legacy()).send()
        try await world.with(Plain("x")).send()
        #expect(world.transport.requests.last?.options.httpVersion == .automatic)
        #expect(world.transport.requests.last?.options.decodesContent == true)
    }

    @Test func anAnswerLeftEncodedIsNotTakenForADecodedOne() async throws {
        let world = world()
        try await world.with(Legacy()).send()
        let decoded = InlineRequest("legacy") { $0.cacheSeconds = 60 }
        #expect(try await world.with(decoded).send().isFromCache == false)
        #expect(try await world.with(decoded).send().isFromCache)
        #expect(try await world.with(Legacy()).send().isFromCache)
    }

    @Test func decodingIsOffForOneRequestOnTheWire() async throws {
        let server = LoopbackServer()
        let zipped = try ZlibBodyEncoder.gzip.encode(Data("plain".utf8))
        server.otherwise { _ in
            LoopbackAnswer(headers: ["Content-Encoding": "gzip"], body: zipped)
        }
        try await server.start()
        let agent = RequestAgent(configuration: Configuration(baseURL: server.url("/")))
        func bytes(_ overrides: TransportOverrides?) async throws -> Data {
            let request = InlineRequest("x") {
                $0.responseSerializer = .data
                $0.transportOverrides = overrides
            }
            request.agent = agent
            return try await request.send().data
        }
        #expect(try await bytes(nil) == Data("plain".utf8))
        #expect(try await bytes(TransportOverrides(decodesContent: false)) == zipped)
        #expect(try await bytes(nil) == Data("plain".utf8))
        #expect(server.requests[1].header("Accept-Encoding") == nil)
        await server.stop()
    }

    @Test func equalOnesAreEqual() {
        var one = TransportOverrides(httpVersion: .http2)
        let other = TransportOverrides(httpVersion: .http2)
        #expect(one == other && Set([one, other]).count == 1)
        one.maximumHeadBytes = 1
        #expect(one != other)
    }
}
