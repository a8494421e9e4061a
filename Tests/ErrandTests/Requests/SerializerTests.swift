import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// The serializers `.xml` and `.custom`, and responses without a body, through an agent.
@Suite(.limited) struct SerializerTests {
    private let fixture = AgentFixture()

    private struct Refused: Error {}

    private func response(_ contentType: String?, _ body: String) -> ScriptedResponse {
        ScriptedResponse(
            headers: contentType.map { [.contentType: $0] } ?? [:], body: Data(body.utf8))
    }

    // MARK: - XML

    private final class GetFeed: BaseRequest {
        override var url: EndpointURL { "feed" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .xml
        }
    }

    @Test(arguments: [
        "application/xml", "text/xml; charset=utf-8", "Application/Atom+XML", nil,
    ])
    func xmlResponseIsDeliveredAsItsBytes(contentType: String?) async throws {
        // The bytes are not parsed: the app does that.
        for body in ["<a><b/></a>", "<a>"] {
            fixture.transport.on(.get, "/feed", response(contentType, body))
            #expect(try await fixture.with(GetFeed()).send().data == Data(body.utf8))
        }
    }

    @Test(arguments: ["application/json", "text/html", "application/xmlx"])
    func xmlRefusesOtherContentTypes(contentType: String) async throws {
        fixture.transport.on(.get, "/feed", response(contentType, "<a/>"))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(GetFeed()).send()
        }
        #expect(error?.code == .unacceptableContentType && error?.stage == .validate)
        #expect(error?.response?.data == Data("<a/>".utf8))
    }

    // MARK: - Custom response serializer

    private final class GetCustom: BaseRequest {
        let check: @Sendable (Response) throws -> Void
        init(_ check: @escaping @Sendable (Response) throws -> Void) { self.check = check }
        override var url: EndpointURL { "custom" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .custom(check)
        }
    }

    @Test(arguments: ["application/json", "text/html", nil])
    func customSerializerGetsEveryContentType(contentType: String?) async throws {
        fixture.transport.on(.get, "/custom", response(contentType, "a,b"))
        let seen = Mutex<[String]>([])
        let request = GetCustom { response in
            seen.withLock { $0.append("\(response.statusCode) \(response.string ?? "")") }
        }
        #expect(try await fixture.with(request).send().string == "a,b")
        #expect(seen.withLock { $0 } == ["200 a,b"])
    }

    @Test func errorOfACustomSerializerFailsTheRequest() async throws {
        fixture.transport.on(.get, "/custom", response("text/csv", "a"))
        let refused = await #expect(throws: RequestError.self) {
            try await fixture.with(GetCustom { _ in throw Refused() }).send()
        }
        #expect(refused?.code == .undecodable && refused?.stage == .decode)
        #expect(refused?.underlying is Refused && refused?.response?.string == "a")
        let own = await #expect(throws: RequestError.self) {
            try await fixture.with(
                GetCustom { _ in throw RequestError(.rejected, stage: .validate, "too short") }
            ).send()
        }
        #expect(own?.code == .rejected && own?.message.contains("too short") == true)
    }

    @Test func firstSerializerThatAcceptsTheBodyCounts() async throws {
        fixture.transport.on(.get, "/x", response("text/csv", "a"))
        let calls = Mutex<[String]>([])
        func request(_ serializers: [RequestDescription.Acceptance.Format]) -> InlineRequest {
            fixture.with(InlineRequest("x") { $0.acceptance.format = .firstOf(serializers) })
        }
        let refusing = RequestDescription.Acceptance.Format.custom { _ in
            calls.withLock { $0.append("refusing") }
            throw Refused()
        }
        let accepting = RequestDescription.Acceptance.Format.custom { _ in
            calls.withLock { $0.append("accepting") }
        }
        try await request([refusing, accepting, refusing]).send()
        #expect(calls.withLock { $0 } == ["refusing", "accepting"])
        let error = await #expect(throws: RequestError.self) {
            try await request([refusing, refusing]).send()
        }
        #expect(error?.underlying is Refused)
    }

    // MARK: - Custom request serializer

    private final class PostCustom: BaseRequest {
        let serialize: @Sendable (Arguments) throws -> Data
        init(_ serialize: @escaping @Sendable (Arguments) throws -> Data) {
            self.serialize = serialize
        }
        override var url: EndpointURL { "custom" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["a": 1, "b": 2] }
        override var requestSerializer: RequestSerializer {
            .custom(contentType: "application/xml; charset=utf-8", serialize)
        }
    }

    @Test func customRequestSerializerMakesBodyAndContentType() async throws {
        let fixture = AgentFixture { $0.sharedArguments = ["c": 3] }
        fixture.transport.on(.post, "/custom", .json("{}"))
        try await fixture.with(PostCustom { Data("<arguments count='\($0.count)'/>".utf8) }).send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.headers[.contentType] == "application/xml; charset=utf-8")
        #expect(try await sent.collectedBody() == Data("<arguments count='3'/>".utf8))
        #expect(sent.url.query == nil)
    }

    @Test func errorOfACustomRequestSerializerFailsTheRequestBeforeItIsSent() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(PostCustom { _ in throw Refused() }).send()
        }
        #expect(error?.code == .invalidArguments && error?.stage == .build)
        #expect(error?.underlying is Refused && fixture.transport.requestCount == 0)
    }

    // MARK: - Responses without a body

    private final class GetRequired: BaseRequest {
        let shape: JSONShape
        init(_ shape: JSONShape) { self.shape = shape }
        override var url: EndpointURL { "required" }
        override var validator: JSONShape? { shape }
    }

    @Test(arguments: [HTTPResponse.Status.ok, .noContent], ["", " "])
    func emptyBodyFailsIfTheShapeRequiresABody(status: HTTPResponse.Status, body: String)
        async throws
    {
        let shape: JSONShape = ["a": .number]
        fixture.transport.on(.get, "/required", .json(body, status: status))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(GetRequired(shape.requiringBody)).send()
        }
        #expect(error?.code == .emptyBody && error?.stage == .validate)
        #expect(error?.response?.status == status)
        // Without the requirement, the same response passes.
        #expect(try await fixture.with(GetRequired(shape)).send().status == status)
    }

    @Test func bodyThatIsRequiredAndMatchesPasses() async throws {
        let shape: JSONShape = ["a": .number]
        fixture.transport.on(.get, "/required", .json(#"{"a":1}"#), .json(#"{"a":"x"}"#))
        let request = fixture.with(GetRequired(shape.requiringBody))
        #expect(try await request.send().json["a"].int == 1)
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .shapeMismatch)
    }
}
