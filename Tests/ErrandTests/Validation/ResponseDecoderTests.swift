import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// `ResponseDecoder` and the typed outputs of requests.
@Suite(.limited) struct ResponseDecoderTests {
    private struct Point: Codable, Equatable { var x: Int }

    private final class DecodedRequest<Output: Sendable>: Request<Output> {
        let customDecoder: ResponseDecoder<Output>
        init(_ decoder: ResponseDecoder<Output>) { customDecoder = decoder }
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
        override var decoder: ResponseDecoder<Output> { customDecoder }
    }

    private class DecodedJSON<Output: Decodable & Sendable>: JSONRequest<Output> {
        override var url: EndpointURL { "x" }
    }

    private final class EnvelopeRequest: JSONRequest<User> {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.path = ["data", "user"]
        }
    }

    @Test func builtInDecodersDecodeTheBody() async throws {
        #expect(try await value(.data, "ab") == Data("ab".utf8))
        #expect(try await value(.string, "ab") == "ab")
        #expect(try await value(.json, #"{"a":[1]}"#)["a"][0].int == 1)
        #expect(try await value(.json, "").exists == false)
        #expect(try await value(.json(Point.self), #"{"x":1}"#) == Point(x: 1))
        try await value(.empty, "anything")
    }

    @Test func stringDecoderUsesTheCharset() async throws {
        let latin = ScriptedResponse(
            headers: [.contentType: "text/plain; charset=iso-8859-1"], body: Data([0x67, 0xFC]))
        #expect(try await value(.string, latin) == "gü")
        let broken = ScriptedResponse(
            headers: [.contentType: "text/plain; charset=utf-8"], body: Data([0x67, 0xFC]))
        await #expect(throws: RequestError.self) { try await value(.string, broken) }
    }

    @Test func propertyListAndXMLDecodersDecodeTheBody() async throws {
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            let response = ScriptedResponse(body: try encoder.encode(Point(x: 7)))
            #expect(try await value(.propertyList(Point.self), response) == Point(x: 7))
        }
        #expect(try await value(.xml { $0.count }, "<a/>") == 4)
    }

    @Test func firstOfUsesTheFirstDecoderThatSucceeds() async throws {
        let either = ResponseDecoder.firstOf([
            .json(Point.self), ResponseDecoder.string.map { Point(x: $0.count) },
        ])
        #expect(try await value(either, #"{"x":1}"#) == Point(x: 1))
        #expect(try await value(either, "four") == Point(x: 4))
        struct Other: Error {}
        let none = ResponseDecoder.firstOf([
            .json(Point.self), ResponseDecoder { _ in throw Other() },
        ])
        let error = await #expect(throws: RequestError.self) { try await value(none, "{}") }
        let first = await #expect(throws: RequestError.self) {
            try await value(.json(Point.self), "{}")
        }
        #expect(error?.message == first?.message && first?.message.contains("'x'") == true)
    }

    private final class Forget: BaseRequest, VoidOutput {
        override var url: EndpointURL { "x" }
    }

    @Test func emptyBodyIsAnOutputOfOptionalAndVoidTypes() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", ScriptedResponse(status: .noContent))
        try await fixture.with(Forget()).value()
        #expect(try await fixture.with(DecodedJSON<User?>()).value() == nil)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(DecodedJSON<User>()).value()
        }
        #expect(error?.code == .undecodable)
        fixture.transport.on(.get, "/x", .json(#"{"nick":"a","level":1}"#))
        #expect(try await fixture.with(DecodedJSON<User?>()).value()?.nick == "a")
        let forget = fixture.with(Forget())
        try await forget.value()
        #expect(forget.output != nil && forget.response?.data.isEmpty == false)
        let (_, user): (Void, User) = try await BatchRequest.Typed(
            fixture.with(Forget()), fixture.with(DecodedJSON<User>())
        ).value()
        #expect(user.nick == "a")
        fixture.transport.on(.get, "/x", .json("{}", status: .notFound))
        _ = await #expect(throws: RequestError.self) { try await forget.value() }
        #expect(forget.output == nil && forget.outputResult?.failure?.code == .unacceptableStatus)
    }

    @Test func outputPathSelectsANestedValue() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/x", .json(#"{"code":0,"data":{"user":{"nick":"a","level":1}}}"#))
        #expect(try await fixture.with(EnvelopeRequest()).value() == User(nick: "a", level: 1))
    }

    @Test func configurationDecoderAppliesUnlessTheEndpointHasItsOwn() async throws {
        struct Named: Decodable { var firstName: String }
        final class OwnDecoder: DecodedJSON<Named> {
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.json.keys = .unchanged
            }
        }
        let fixture = AgentFixture {
            $0.json.keys = .snakeCase
        }
        fixture.transport.on(.get, "/x", .json(#"{"first_name":"a"}"#))
        #expect(try await fixture.with(DecodedJSON<Named>()).value().firstName == "a")
        await #expect(throws: RequestError.self) { try await fixture.with(OwnDecoder()).value() }
    }

    @Test func decoderOfTheOutputPrecedesThatOfTheEndpoint() async throws {
        struct Named: Decodable { var firstName: String }
        final class Both: BaseRequest, TypedRequest {
            override var url: EndpointURL { "x" }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.json.keys = .unchanged
            }
            var decoder: ResponseDecoder<Named> {
                var decoder = JSONReader()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return .json(decoder: decoder)
            }
        }
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json(#"{"first_name":"a"}"#))
        #expect(try await fixture.with(Both()).value().firstName == "a")
    }

    private func value<Output>(
        _ decoder: ResponseDecoder<Output>, _ body: String
    ) async throws -> Output {
        try await value(decoder, ScriptedResponse(body: Data(body.utf8)))
    }

    private func value<Output>(
        _ decoder: ResponseDecoder<Output>, _ response: ScriptedResponse
    ) async throws -> Output {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", response)
        return try await fixture.with(DecodedRequest(decoder)).value()
    }
}
