import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Transports deliver responses.
///
/// They do not follow redirects, authenticate, store cookies or cache.
@Suite("Contract: redirects, challenges, cookies", .limited)
struct PassThroughContract {
    @Test(arguments: TransportKind.wire, [300, 301, 302, 303, 305, 307, 308])
    func redirectsAreNotFollowed(kind: TransportKind, status: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(status: status, headers: ["Location": "/next"], body: "moved")
            }
            for request in [fixture.request(), fixture.request(.post, body: .string("x"))] {
                let record = try await fixture.succeed(request)
                #expect(record.head?.status.code == status)
                #expect(record.head?.headers[.location] == "/next")
                #expect(record.body == Data("moved".utf8))
            }
            #expect(fixture.server.requests.map(\.path) == ["/", "/"])
        }
    }

    static let unusableLocations = ["", "Location:\r\n", "Location: http://[::bad\r\n"]

    /// A redirect without a usable `Location` cannot be followed and is the final response (RFC 9110 §15.4).
    @Test(arguments: TransportKind.wire, [301, 302, 303, 307, 308])
    func redirectsWithoutUsableLocationAreDelivered(kind: TransportKind, status: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            for location in Self.unusableLocations {
                fixture.server.otherwise { _ in
                    .raw(
                        "HTTP/1.1 \(status) R\r\n\(location)X-A: b\r\nContent-Length: 0\r\n\r\n",
                        keepsConnection: true)
                }
                for request in [fixture.request(), fixture.request(.post, body: .string("x"))] {
                    let record = try await fixture.succeed(request)
                    #expect(record.head?.status.code == status)
                    #expect(HTTPField.Name("X-A").flatMap { record.head?.headers[$0] } == "b")
                    #expect(record.received == 0)
                }
            }
        }
    }

    @Test(arguments: TransportKind.wire(with: .bodyOfUnusableRedirect))
    func redirectsWithoutUsableLocationHaveBodies(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            for location in Self.unusableLocations {
                fixture.server.otherwise { _ in
                    .raw("HTTP/1.1 302 R\r\n\(location)Content-Length: 5\r\n\r\nmoved")
                }
                let record = try await fixture.succeed(fixture.request())
                #expect(record.head?.status.code == 302)
                #expect(record.body == Data("moved".utf8))
            }
        }
    }

    /// A transport that cannot deliver the body fails instead of reporting an empty body.
    @Test(
        arguments: TransportKind.wire.filter {
            !$0.capabilities.contains(.bodyOfUnusableRedirect)
        })
    func unavailableRedirectBodyIsAnError(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .raw("HTTP/1.1 302 R\r\nContent-Length: 5\r\n\r\nmoved")
            }
            let record = try await fixture.fail(fixture.request(), .badServerResponse)
            #expect(record.head?.status.code == 302)
        }
    }

    @Test(
        arguments: TransportKind.wire,
        [
            "Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "Bearer",
            "Negotiate", "nonsense",
        ])
    func challengesAreDelivered(kind: TransportKind, challenge: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(
                    status: 401, headers: ["WWW-Authenticate": challenge], body: "unauthorized")
            }
            for request in [fixture.request(), fixture.request(.post, body: .string("x"))] {
                let record = try await fixture.succeed(request)
                #expect(record.head?.status.code == 401)
                #expect(record.head?.headers[.wwwAuthenticate] == challenge)
                #expect(record.body == Data("unauthorized".utf8))
            }
            #expect(fixture.server.requests.count == 2)
        }
    }

    @Test(arguments: TransportKind.wire)
    func rejectedCredentialsAreDelivered(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            let request = fixture.request(headers: [.authorization: "Basic YTpi"])
            #expect(try await fixture.succeed(request).head?.status.code == 401)
            #expect(fixture.server.requests.first?.header("Authorization") == "Basic YTpi")
        }
    }

    @Test(arguments: TransportKind.wire)
    func cookiesAreNotStored(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["Set-Cookie": "a=1; Path=/"])
            }
            for _ in 0..<2 { _ = try await fixture.succeed(fixture.request()) }
            let request = fixture.request(headers: [.cookie: "own=2"])
            _ = try await fixture.succeed(request)
            #expect(fixture.server.requests.map { $0.header("Cookie") } == [nil, nil, "own=2"])
        }
    }

    @Test(arguments: TransportKind.wire)
    func responsesAreNotCached(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["Cache-Control": "max-age=600"], body: "x")
            }
            for _ in 0..<2 { _ = try await fixture.succeed(fixture.request()) }
            #expect(fixture.server.requests.count == 2)
            #expect(fixture.server.requests.allSatisfy { $0.header("If-None-Match") == nil })
        }
    }
}
