import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// `response.decode(_:decoder:)` uses the decoder of the endpoint or the configuration, wherever a response appears.
@Suite(.limited) struct ResponseDecodingTests {
    private struct Person: Decodable, Equatable { var firstName: String }

    private let body = #"{"first_name":"a"}"#

    private func fixture(_ configure: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture {
            $0.json.keys = .snakeCase
            configure(&$0)
        }
        fixture.transport.on(.get, "/x", .json(body))
        return fixture
    }

    @Test func decoderOfTheConfigurationApplies() async throws {
        let fixture = fixture()
        let response = try await Plain("x").send(on: fixture.agent)
        #expect(try response.decode(Person.self).firstName == "a")
        let byClosure = ResponseDecoder { try $0.decode(Person.self) }
        #expect(try byClosure.decode(response).firstName == "a")
        #expect(try ResponseDecoder.json(Person.self).decode(response).firstName == "a")
        #expect(throws: RequestError.self) {
            try response.decode(Person.self, decoder: JSONReader())
        }
        // Without strategies nothing is kept.
        let plain = AgentFixture()
        plain.transport.on(.get, "/x", .json(body))
        let other = try await Plain("x").send(on: plain.agent)
        #expect(throws: RequestError.self) { try other.decode(Person.self) }
    }

    private final class OwnDecoder: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.keys = .snakeCase
        }
    }

    private final class PlainDecoder: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.keys = .unchanged
        }
    }

    @Test func decoderOfTheEndpointTakesPrecedence() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json(body))
        #expect(try await OwnDecoder().send(on: fixture.agent).decode(Person.self).firstName == "a")
        let response = try await PlainDecoder().send(on: self.fixture().agent)
        #expect(throws: RequestError.self) { try response.decode(Person.self) }
    }

    @Test func storedResponsesHaveTheDecoder() async throws {
        final class Cached: BaseRequest {
            override var url: EndpointURL { "x" }
            override var cacheSeconds: Int { 60 }
        }
        let fixture = fixture()
        try await Cached().send(on: fixture.agent)
        await fixture.agent.flushCache()
        let stored = try await Cached().send(on: fixture.agent)
        #expect(stored.source == .cacheFresh)
        #expect(try stored.decode(Person.self).firstName == "a")
    }

    @Test func hooksSeeTheDecoder() async throws {
        let seen = Mutex<[String]>([])
        @Sendable func note(_ hook: String, _ response: Response?) {
            let name = (try? response?.decode(Person.self))?.firstName ?? "undecodable"
            seen.withLock { $0.append("\(hook) \(name)") }
        }
        let fixture = fixture {
            $0.responseRules = [
                ResponseRule {
                    note("validator", $0)
                    return .accept
                }
            ]
            $0.responseProcessors = [
                { response in
                    note("processor", response)
                    response = Response(status: 200, body: response.body, url: response.url)
                }
            ]
            $0.interceptors.append { request, next in
                let response = try await next(request)
                note("interceptor", response)
                return response
            }
        }
        note("end", try await Plain("x").send(on: fixture.agent))
        #expect(
            seen.withLock { $0 } == ["validator a", "interceptor a", "processor a", "end a"])
    }

    @Test func responsesOfErrorsHaveTheDecoder() async throws {
        let fixture = fixture {
            $0.errorRecovery = { error, description in
                guard description.tag == 1, let response = error.response else { return nil }
                return Response(status: 200, body: response.body, url: response.url)
            }
        }
        fixture.transport.on(.get, "/missing", .json(body, status: .notFound))
        let error = await #expect(throws: RequestError.self) {
            try await Plain("missing").send(on: fixture.agent)
        }
        #expect(try error?.response?.decode(Person.self).firstName == "a")
        let recovered = Plain("missing")
        recovered.tag = 1
        #expect(try await recovered.send(on: fixture.agent).decode(Person.self).firstName == "a")
    }

    @Test func eachJoinedRequestHasItsOwnDecoder() async throws {
        final class Join: BaseRequest {
            let keys: JSONOptions.Keys?
            init(_ keys: JSONOptions.Keys? = nil) { self.keys = keys }
            override var url: EndpointURL { "join" }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.json.keys = keys
                request.sending.duplicates = .join
            }
        }
        let fixture = fixture()
        let gate = Gate()
        fixture.transport.on(.get, "/join", ScriptedResponse.json(body).held(by: gate))
        let first = fixture.agent.start(Join().makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(Join(.unchanged).makeDescription())
        try await fixture.untilJoined(1)
        gate.open()
        #expect(try await first.response().decode(Person.self).firstName == "a")
        let other = try await second.response()
        #expect(throws: RequestError.self) { try other.decode(Person.self) }
    }

    @Test func typedEndpointNamesTheRemedyForAMissingBody() async throws {
        final class Typed<Output: Decodable & Sendable>: JSONRequest<Output> {
            override var url: EndpointURL { "empty" }
        }
        final class List: BaseRequest, TypedRequest {
            override var url: EndpointURL { "empty" }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.acceptance.format = .propertyList
            }
            var decoder: ResponseDecoder<[String]> { .propertyList() }
        }
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/empty", ScriptedResponse(status: .noContent))
        let errors = [
            await #expect(throws: RequestError.self) {
                try await Typed<User>().value(on: fixture.agent)
            },
            await #expect(throws: RequestError.self) { try await List().value(on: fixture.agent) },
        ]
        for error in errors {
            #expect(error?.code == .undecodable)
            #expect(error?.message.contains("status 204") == true)
            #expect(error?.message.contains("VoidOutput") == true)
            #expect(error?.message.contains("optional") == true)
        }
        #expect(try await Typed<User?>().value(on: fixture.agent) == nil)
    }

    @Test func decodingErrorOfATypedEndpointNamesPathAndValue() async throws {
        final class Wrapped: JSONRequest<Person> {
            override var url: EndpointURL { "x" }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.json.path = ["data"]
            }
        }
        let fixture = fixture()
        fixture.transport.on(.get, "/x", .json(#"{"data":{"first_name":7}}"#))
        let error = await #expect(throws: RequestError.self) {
            try await Wrapped().value(on: fixture.agent)
        }
        #expect(
            error?.message == "Could not decode the response as Person: expected String at "
                + "$.data.first_name (firstName), found the number 7.")
    }
}
