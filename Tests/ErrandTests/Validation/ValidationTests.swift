import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct ValidationTests {
    @Test func shapeMismatchNamesThePathOfTheFirstFault() async throws {
        let error = await failure(#"{"users":[{"id":1,"nick":"a"},{"id":"2","nick":"b"}]}"#) {
            $0.validator = ["users": [["id": .number, "nick": .string]]]
        }
        #expect(error?.code == .shapeMismatch)
        #expect(error?.shapeFault.map { "\($0.path)" } == "$['users'][1]['id']")
        #expect(error?.response?.json["users"][0]["nick"].string == "a")
    }

    @Test func malformedBodyIsUndecodable() async {
        let error = await failure("{\"a\":") { $0.acceptance.format = .json }
        #expect(error?.code == .undecodable)
        #expect(error?.stage == .decode)
    }

    @Test func statusErrorCarriesTheResponseBody() async {
        let error = await failure(#"{"reason":"gone"}"#, status: .gone) { _ in }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.status == .gone)
        #expect(error?.response?.json["reason"].string == "gone")
    }

    /// The error says whether the rest of the body was not received.
    @Test(arguments: [(1 << 20, false), ((1 << 20) + 1, true)])
    func statusErrorSaysWhetherTheBodyIsComplete(count: Int, isCut: Bool) async {
        let response = ScriptedResponse(status: .notFound, body: Data(count: count))
        let error = await failure(response) { _ in }
        #expect(error?.code == .unacceptableStatus && error?.response?.data.count == 1 << 20)
        let part = isCut ? "the first 1048576 bytes of the body" : "the body"
        #expect(error?.message.contains("The error's response has \(part);") == true)
    }

    @Test func statusErrorOfAnEmptyBodySaysSo() async {
        let error = await failure("", status: .notFound) { _ in }
        #expect(error?.message == "status 404 (expected 200..<300). The response has no body.")
    }

    /// As the user of an endpoint class sees it: the host, and where its credentials are set.
    @Test func unauthorizedNamesTheHostOfTheEndpoint() async throws {
        final class Me: BaseRequest {
            override var url: EndpointURL { "me" }
        }
        let fixture = AgentFixture()
        fixture.transport.on(.get, nil, .json("{}", status: .unauthorized))
        let request = fixture.with(Me())
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(
            error?.message
                == "status 401 (expected 200..<300). The error's response has the body; print "
                + "error.response?.string to read it. Set authorization, or configuration.authenticators for "
                + "the host api.example.com.")
    }

    @Test func statusErrorSuggestsAuthenticatorsOnlyWhereTheyAreUsed() async {
        let plain = await failure("{}", status: .unauthorized) { _ in }
        #expect(plain?.message.contains("authenticators") == true)
        let signIn = await failure("{}", status: .unauthorized) { $0.uses.remove(.authenticators) }
        #expect(signIn?.code == .unacceptableStatus)
        #expect(signIn?.message.contains("authenticators") == false)
    }

    @Test(arguments: ["", " "]) func emptyBodyPassesValidation(body: String) async {
        #expect(await failure(body, status: .noContent) { $0.validator = ["a": .number] } == nil)
    }

    @Test func validatorRejectsABodyThatIsNotJSON() async {
        let serializers: [RequestDescription.Acceptance.Format] = [
            .text, .any, .custom { _ in }, .firstOf([.propertyList, .any]),
        ]
        for serializer in serializers {
            let shape: JSONShape = ["a": .number]
            for shape in [shape, shape.requiringBody] {
                func failure(_ body: String) async -> RequestError? {
                    await self.failure(ScriptedResponse(body: Data(body.utf8))) {
                        $0.validator = shape
                        $0.acceptance.format = serializer
                    }
                }
                let text = await failure("plain text")
                #expect(text?.code == .undecodable)
                #expect(text?.message.contains("validator") == true)
                #expect(text?.response?.string == "plain text")
                #expect(await failure(#"{"a":"x"}"#)?.code == .shapeMismatch)
                #expect(await failure(#"{"a":1}"#) == nil)
            }
        }
    }

    @Test func unacceptableContentTypeFailsUnlessAllowed() async throws {
        let html = ScriptedResponse(
            headers: [.contentType: "text/html"], body: Data(#"{"a":1}"#.utf8))
        func code(_ types: Set<String>?) async -> RequestError.Code? {
            await failure(html) {
                $0.acceptance.format = .json
                $0.acceptance.contentTypes = types
            }?.code
        }
        #expect(await code(nil) == .unacceptableContentType)
        #expect(await code(["*/*"]) == nil)
        #expect(await code(["text/*"]) == nil)
        #expect(await failure(html) { $0.acceptance.format = .any } == nil)
    }

    @Test func acceptableStatusCodesAreConfigurable() async {
        let missing = ScriptedResponse.json("{}", status: .notFound)
        #expect(await failure(missing) { $0.acceptance.statuses = StatusCodes(200..<500) } == nil)
        #expect(await failure(.json("{}")) { $0.acceptance.statuses = [201] } != nil)
    }

    @Test func processorErrorFailsTheRequest() async {
        struct Rejected: Error {}
        let error = await failure(.json("{}")) {
            $0.responseProcessors = [{ _ in throw Rejected() }]
        }
        #expect(error?.code == .processingFailed)
        #expect(error?.underlying is Rejected)
    }

    private func failure(
        _ body: String, status: HTTPResponse.Status = .ok,
        _ configure: (inout RequestDescription) -> Void
    ) async -> RequestError? {
        await failure(.json(body, status: status), configure)
    }

    private func failure(
        _ response: ScriptedResponse, _ configure: (inout RequestDescription) -> Void
    ) async -> RequestError? {
        await AgentFixture().failure(of: response, configure)
    }
}
