import Errand
import ErrandTesting
import Foundation
import Testing

/// Outputs of every kind (rows RSP-1, RSP-4, ORG-2).
@Suite(.timeLimit(.minutes(5))) struct OutputKindTests {
    private struct Point: Codable, Equatable { var x: Int }

    private final class Fetch<Output: Sendable>: Request<Output> {
        let made: ResponseDecoder<Output>
        init(_ decoder: ResponseDecoder<Output>) { made = decoder }
        override var url: String { "x" }
        override var responseSerializer: ResponseSerializer { .data }
        override var decoder: ResponseDecoder<Output> { made }
    }

    private class Empty<Output: Decodable & Sendable>: JSONRequest<Output> {
        override var url: String { "x" }
    }

    private final class Wrapped: JSONRequest<User> {
        override var url: String { "x" }
        override var outputPath: [String] { ["data", "user"] }
    }

    @Test func dataStringAndJSON() async throws {
        #expect(try await value(.data, "ab") == Data("ab".utf8))
        #expect(try await value(.string, "ab") == "ab")
        #expect(try await value(.json, #"{"a":[1]}"#)["a"][0].int == 1)
        #expect(try await value(.json, "").exists == false)
        #expect(try await value(.json(Point.self), #"{"x":1}"#) == Point(x: 1))
        #expect(try await value(.empty, "anything") == EmptyBody())
    }

    @Test func textInAnotherCharset() async throws {
        let latin = ScriptedAnswer(
            headers: [.contentType: "text/plain; charset=iso-8859-1"], body: Data([0x67, 0xFC]))
        #expect(try await value(.string, latin) == "gü")
        let broken = ScriptedAnswer(
            headers: [.contentType: "text/plain; charset=utf-8"], body: Data([0x67, 0xFC]))
        await #expect(throws: RequestError.self) { try await value(.string, broken) }
    }

    @Test func propertyListsAndXML() async throws {
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            let answer = ScriptedAnswer(body: try encoder.encode(Point(x: 7)))
            #expect(try await value(.propertyList(Point.self), answer) == Point(x: 7))
        }
        #expect(try await value(.xml { $0.count }, "<a/>") == 4)
    }

    @Test func theFirstThatSucceedsAndMapping() async throws {
        let either = ResponseDecoder.firstOf([
            .json(Point.self), ResponseDecoder.string.map { Point(x: $0.count) },
        ])
        #expect(try await value(either, #"{"x":1}"#) == Point(x: 1))
        #expect(try await value(either, "four") == Point(x: 4))
        let none = ResponseDecoder.firstOf([.json(Point.self), .propertyList(Point.self)])
        let error = await #expect(throws: RequestError.self) { try await value(none, "{}") }
        #expect(error?.message.contains("x") == true)
    }

    @Test func noBodyIsAnOutputWhereItMayBe() async throws {
        let world = World()
        world.transport.on(.get, "/x", ScriptedAnswer(status: .noContent))
        #expect(try await world.with(Empty<EmptyBody>()).value() == EmptyBody())
        #expect(try await world.with(Empty<User?>()).value() == nil)
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Empty<User>()).value()
        }
        #expect(error?.code == .undecodable)
        world.transport.on(.get, "/x", .json(#"{"nick":"a","level":1}"#))
        #expect(try await world.with(Empty<User?>()).value()?.nick == "a")
        #expect(try await world.with(Empty<EmptyBody>()).value() == EmptyBody())
    }

    @Test func envelopesAreOpened() async throws {
        let world = World()
        world.transport.on(
            .get, "/x", .json(#"{"code":0,"data":{"user":{"nick":"a","level":1}}}"#))
        #expect(try await world.with(Wrapped()).value() == User(nick: "a", level: 1))
    }

    @Test func theAgentsDecoderCountsWhereTheEndpointHasNone() async throws {
        struct Named: Decodable { var firstName: String }
        final class Mine: Empty<Named> {
            override var jsonDecoder: FastJSONDecoder? { FastJSONDecoder() }
        }
        let world = World {
            $0.jsonDecoder.keyDecodingStrategy = .convertFromSnakeCase
        }
        world.transport.on(.get, "/x", .json(#"{"first_name":"a"}"#))
        #expect(try await world.with(Empty<Named>()).value().firstName == "a")
        await #expect(throws: RequestError.self) { try await world.with(Mine()).value() }
    }

    private func value<Output>(
        _ decoder: ResponseDecoder<Output>, _ body: String
    ) async throws -> Output {
        try await value(decoder, ScriptedAnswer(body: Data(body.utf8)))
    }

    private func value<Output>(
        _ decoder: ResponseDecoder<Output>, _ answer: ScriptedAnswer
    ) async throws -> Output {
        let world = World()
        world.transport.on(.get, "/x", answer)
        return try await world.with(Fetch(decoder)).value()
    }
}
