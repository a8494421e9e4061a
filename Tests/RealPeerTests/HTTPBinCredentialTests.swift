import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Basic, Digest and Bearer credentials that httpbin checks, over both transports.
@Suite("Real peers: credentials", .limited)
struct HTTPBinCredentialTests {
    typealias TransportKind = HTTPBinTests.TransportKind

    /// A protected path of httpbin, with authenticators for its right and for a wrong password.
    struct Protected: Sendable, CustomTestStringConvertible {
        let scheme: String
        let path: String
        /// New for each agent, because authenticators keep challenges.
        let authenticator: @Sendable (_ password: String) -> any Authenticator
        var testDescription: String { "\(scheme) \(path)" }
        /// Whether credentials are sent only after a challenge.
        var needsChallenge: Bool { scheme != "basic" }

        static let basic = Protected(scheme: "basic", path: "basic-auth/user/secret") {
            .basic(user: "user", password: $0)
        }

        static func digest(_ quality: String, _ algorithm: String) -> Protected {
            Protected(scheme: "digest", path: "digest-auth/\(quality)/user/secret/\(algorithm)") {
                .digest(user: "user", password: $0)
            }
        }

        /// The authenticator chooses the scheme by the challenge.
        static func password(_ path: String) -> Protected {
            Protected(scheme: "password", path: path) {
                .password(user: "user", password: $0, basicOverHTTP: true)
            }
        }

        static let all = [
            basic, digest("auth", "MD5"), digest("auth", "SHA-256"), digest("auth-int", "MD5"),
            digest("auth-int", "SHA-256"), password("basic-auth/user/secret"),
            password("digest-auth/auth/user/secret/SHA-256"),
        ]
    }

    private func response(
        _ path: String, _ agent: RequestAgent,
        _ configure: (inout RequestDescription) -> Void = { _ in }
    ) async throws -> Response {
        try await InlineRequest(EndpointURL(raw: path), configure).send(on: agent)
    }

    /// Expects that the server refuses a request, and that it was sent this number of times.
    private func expectRefusal(
        _ path: String, _ kind: TransportKind, _ authenticator: (any Authenticator)?,
        host: HostPattern = "127.0.0.1", transfers: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ configure: (inout RequestDescription) -> Void = { _ in }
    ) async throws {
        let events = EventRecorder()
        let agent = try agent(kind, authenticator, host: host, events)
        let error = await #expect(throws: RequestError.self, sourceLocation: sourceLocation) {
            try await response(path, agent, configure)
        }
        #expect(error?.code == .unacceptableStatus, sourceLocation: sourceLocation)
        #expect(error?.status == .unauthorized, sourceLocation: sourceLocation)
        let count = try await events.untilEnded().count {
            if case .transferStarted = $0.kind { true } else { false }
        }
        #expect(count == transfers, sourceLocation: sourceLocation)
    }

    private func agent(
        _ kind: TransportKind, _ authenticator: (any Authenticator)?,
        host: HostPattern = "127.0.0.1", _ events: EventRecorder = EventRecorder()
    ) throws -> RequestAgent {
        try kind.agent { configuration in
            configuration.eventListeners = [events]
            guard let authenticator else { return }
            configuration.authenticators = [host: authenticator]
        }
    }

    @Test(arguments: TransportKind.allCases, Protected.all)
    func onlyRightCredentialsAreAccepted(
        kind: TransportKind, resource: Protected
    ) async throws {
        let right = resource.authenticator("secret")
        let agent = try agent(kind, right)
        // The second request uses what the first one has learned from the challenge.
        for _ in 0..<2 {
            let response = try await response(resource.path, agent)
            #expect(response.json["authenticated"].bool == true)
            #expect(response.json["user"].string == "user")
        }
        // Wrong credentials are sent once, after the challenge where the scheme needs one.
        try await expectRefusal(
            resource.path, kind, resource.authenticator("Secret"),
            transfers: resource.needsChallenge ? 2 : 1)
        try await expectRefusal(resource.path, kind, nil)
        // Right credentials that do not belong to the request.
        try await expectRefusal(resource.path, kind, right, host: "example.com")
        try await expectRefusal(resource.path, kind, right) { $0.uses.remove(.authenticators) }
    }

    @Test(arguments: TransportKind.allCases)
    func authorizationOfAnEndpoint(kind: TransportKind) async throws {
        let agent = try agent(kind, nil)
        let path = "basic-auth/us%20er/p%C3%A4ss"
        let accepted = try await response(path, agent) {
            $0.authorization = .basic(user: "us er", password: "päss")
        }
        #expect(accepted.json["authenticated"].bool == true)
        #expect(accepted.json["user"].string == "us er")
        try await expectRefusal(path, kind, nil) {
            $0.authorization = .basic(user: "us er", password: "pass")
        }
    }

    /// httpbin accepts every Bearer token and returns the one that it has received.
    @Test(arguments: TransportKind.allCases)
    func bearerTokens(kind: TransportKind) async throws {
        let bearer = try agent(kind, .bearer("t0ken-1"))
        let byAuthenticator = try await response("bearer", bearer)
        #expect(byAuthenticator.json["authenticated"].bool == true)
        #expect(byAuthenticator.json["token"].string == "t0ken-1")
        let bare = try agent(kind, nil)
        let byEndpoint = try await response("bearer", bare) {
            $0.authorization = .bearer("t0ken-2")
        }
        #expect(byEndpoint.json["token"].string == "t0ken-2")
        // The endpoint's own credentials take precedence.
        let both = try await response("bearer", bearer) { $0.authorization = .bearer("t0ken-3") }
        #expect(both.json["token"].string == "t0ken-3")
        try await expectRefusal("bearer", kind, nil)
        try await expectRefusal("bearer", kind, nil) {
            $0.authorization = .basic(user: "user", password: "secret")
        }
    }
}
