import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// The body of a redirect that is followed, and of a 401 after which the request is sent again, is not needed.
@Suite(.limited) struct LostBodyTests {
    private static let faults: [RequestError.Code] = [
        .truncatedBody, .badContentEncoding, .bodyTooLarge, .connectionLost, .badServerResponse,
        .timedOut,
    ]

    private func response(
        _ status: HTTPResponse.Status, _ headers: HTTPFields, _ code: RequestError.Code
    ) -> ScriptedResponse {
        let head = ResponseHead(status: status, headers: headers, httpVersion: .http11)
        return ScriptedResponse(steps: [
            .head(head), .bytes(Data("x".utf8)),
            .fail(
                RequestError(
                    code, stage: .transport, "The body is lost.",
                    timeout: code == .timedOut ? .idle : nil)),
        ])
    }

    @Test(arguments: faults)
    func lostBodyOfAFollowedRedirectIsIgnored(code: RequestError.Code) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", response(.found, [.location: "/b"], code))
        fixture.transport.on(.get, "/b", response(.movedPermanently, [.location: "/c"], code))
        fixture.transport.on(.get, "/c", .json("{}"))
        let response = try await fixture.agent.start(Plain("a").makeDescription()).response()
        #expect(response.status == .ok && response.url.path == "/c")
        #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/b", "/c"])
        #expect(response.timings.count == 3)
    }

    /// Its body is delivered, or it is an error whose cause is the redirect.
    @Test func lostBodyOfAnotherResponseFails() async throws {
        let fixture = AgentFixture { $0.redirectPolicy = .none }
        fixture.transport.on(.get, "/a", response(.found, [.location: "/b"], .truncatedBody))
        fixture.transport.on(.get, "/b", response(.notModified, [:], .truncatedBody))
        fixture.transport.on(.get, "/c", response(.ok, [.location: "/b"], .truncatedBody))
        for path in ["a", "b", "c"] {
            let task = fixture.agent.start(Plain(path).makeDescription())
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .truncatedBody)
        }
        #expect(fixture.transport.requests.count == 3)
    }

    @Test func errorsBeforeTheBodyFail() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", response(.found, [.location: "/b"], .pinMismatch))
        fixture.transport.on(
            .get, "/b", .failure(RequestError(.connectionLost, stage: .transport, "Lost.")))
        for path in ["a", "b"] {
            let task = fixture.agent.start(Plain(path).makeDescription())
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == (path == "a" ? .pinMismatch : .connectionLost))
        }
        #expect(fixture.transport.requests.count == 2)
    }

    @Test(arguments: [true, false])
    func lostBodyOfARefusalIsIgnoredIfCredentialsAreRenewed(knows: Bool) async throws {
        let fixture = AgentFixture {
            $0.authenticators = [
                "api.example.com": .digest(user: "u", password: "p")
            ]
        }
        let challenge = knows ? "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"" : "Other"
        fixture.transport.on(
            .get, "/x", response(.unauthorized, [.wwwAuthenticate: challenge], .truncatedBody),
            .json("{}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        if knows {
            #expect(try await task.response().status == .ok)
        } else {
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .truncatedBody)
        }
    }
}
