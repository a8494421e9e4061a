import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Inline requests with a typed output.
@Suite(.limited) struct InlineDecodingTests {
    private let fixture = AgentFixture()

    init() {
        fixture.transport.on(.get, "/users/7", .json(#"{"data":{"nick":"a","level":3}}"#))
        fixture.transport.on(.post, "/users", .json(#"{"nick":"b","level":0}"#))
    }

    @Test func outputIsDecoded() async throws {
        let request = InlineRequest("users/7", agent: fixture.agent)
        #expect(try await request.decoding(User.self, at: ["data"]).value().nick == "a")
        let text = request.decoding(using: ResponseDecoder { $0.json["data"]["nick"].string ?? "" })
        #expect(try await text.value() == "a" && text.output == "a")
    }

    @Test func settingsOfTheInlineRequestAreTakenOver() async throws {
        let recorder = LifecycleRecorder()
        let inline = InlineRequest("users") {
            $0.method = .post
            $0.arguments = ["name": "b"]
            $0.headers[.accept] = "application/json"
            $0.tag = 7
        }
        inline.accessories = [recorder]
        let request = inline.decoding(User.self)
        #expect(request.tag == 7 && request.method == .post && request.url == "users")
        #expect(request.makeDescription().isA(InlineRequest.self))
        #expect(request.makeDescription().endpoint == "InlineRequest")
        #expect(try await request.value(on: fixture.agent).nick == "b")
        #expect(recorder.lines == ["users willStart", "users willStop", "users didStop"])
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.method == .post && sent.headers[.accept] == "application/json")
    }

    @Test func typedInlineRequestIsAMemberOfComposites() async throws {
        let chain = ChainRequest()
        chain.add(InlineRequest("users/7").decoding(User.self, at: ["data"]))
            .then { user in
                InlineRequest("users") {
                    $0.method = .post
                    $0.arguments = ["name": user.output?.nick ?? ""]
                }.decoding(User.self)
            }
        try await chain.send(on: fixture.agent)
        #expect((chain.requests.last as? any TypedRequest<User>)?.output?.nick == "b")
    }

    @Test func decodedDownloadIsRefusedBeforeSending() async throws {
        let request = InlineRequest("users/7") {
            $0.download = DownloadPlan(to: URL(fileURLWithPath: "/tmp/never"))
        }.decoding(User.self)
        let error = await #expect(throws: RequestError.self) {
            try await request.value(on: fixture.agent)
        }
        #expect(error?.code == .invalidCombination && error?.stage == .build)
        #expect(fixture.transport.requests.isEmpty)
    }
}
