import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// `HTTPBody.form`, with the arguments of an endpoint in the query.
@Suite(.limited) struct FormBesideArgumentsTests {
    private final class Rename: BaseRequest {
        let verb: HTTPMethod
        let fields: Arguments

        init(_ verb: HTTPMethod, _ fields: Arguments = ["name": "a b", "tags": ["x", "y"]]) {
            (self.verb, self.fields) = (verb, fields)
        }

        override var url: EndpointURL { "things/7" }
        override var method: HTTPMethod { verb }
        override var arguments: Arguments? { ["dry": 1] }
        override var body: HTTPBody? {
            .form(fields, encoding: ArgumentEncoding(arrays: .repeated))
        }
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func argumentsAreInTheQuery(_ method: HTTPMethod) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("[1]"))
        try await Rename(method).send(on: fixture.agent)
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.string == "https://api.example.com/things/7?dry=1")
        #expect(try await sent.collectedBody() == Data("name=a%20b&tags=x&tags=y".utf8))
        #expect(sent.body?.contentType == "application/x-www-form-urlencoded")
    }

    /// Without a body of their own, the same arguments are the same form.
    @Test func formHasTheBytesOfArguments() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("[1]"))
        let fields: Arguments = ["b": true, "a": ["x": [1, nil]], "t": "\u{E9}&="]
        for hasBody in [false, true] {
            let request = InlineRequest("x") {
                $0.method = .post
                if hasBody { $0.body = .form(fields) } else { $0.arguments = fields }
            }
            try await request.send(on: fixture.agent)
        }
        let (plain, own) = (fixture.transport.requests[0], fixture.transport.requests[1])
        #expect(try await plain.collectedBody() == own.collectedBody())
        #expect(plain.body?.contentType == own.body?.contentType)
    }

    @Test func formThatCannotBeEncodedIsNotSent() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("[1]"))
        let error = await #expect(throws: RequestError.self) {
            try await Rename(.post, ["a": Double.nan]).send(on: fixture.agent)
        }
        #expect(error?.code == .invalidArguments)
        #expect(fixture.transport.requests.isEmpty)
    }
}
