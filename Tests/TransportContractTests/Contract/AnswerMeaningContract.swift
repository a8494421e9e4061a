import ErrandCore
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// A transport brings answers; it does not act on them.
@Suite("Contract: redirects, challenges, cookies", .timeLimit(.minutes(5)))
struct AnswerMeaningContract {
    @Test(arguments: Subject.wire, [300, 301, 302, 303, 305, 307, 308])
    func redirectsAreAnswers(subject: Subject, status: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(status: status, headers: ["Location": "/next"], body: "moved")
            }
            for request in [world.request(), world.request(.post, body: .string("x"))] {
                let record = try await world.succeed(request)
                #expect(record.head?.status.code == status)
                #expect(record.head?.headers[.location] == "/next")
                #expect(record.body == Data("moved".utf8))
            }
            #expect(world.server.requests.map(\.path) == ["/", "/"])
        }
    }

    static let unusable = ["", "Location:\r\n", "Location: http://[::bad\r\n"]

    /// RFC 9110 §15.4: without a usable `Location` there is nothing to follow, and the redirect is the answer.
    @Test(arguments: Subject.wire, [301, 302, 303, 307, 308])
    func redirectsToNowhereAreAnswers(subject: Subject, status: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            for location in Self.unusable {
                world.server.otherwise { _ in
                    .raw("HTTP/1.1 \(status) R\r\n\(location)X-A: b\r\nContent-Length: 0\r\n\r\n")
                }
                for request in [world.request(), world.request(.post, body: .string("x"))] {
                    let record = try await world.succeed(request)
                    #expect(record.head?.status.code == status)
                    #expect(HTTPField.Name("X-A").flatMap { record.head?.headers[$0] } == "b")
                    #expect(record.received == 0)
                }
            }
        }
    }

    @Test(arguments: Subject.wire(with: .bodyOfUnusableRedirect))
    func redirectsToNowhereHaveBodies(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            for location in Self.unusable {
                world.server.otherwise { _ in
                    .raw("HTTP/1.1 302 R\r\n\(location)Content-Length: 5\r\n\r\nmoved")
                }
                let record = try await world.succeed(world.request())
                #expect(record.head?.status.code == 302)
                #expect(record.body == Data("moved".utf8))
            }
        }
    }

    /// What cannot be had is not taken for empty.
    @Test(arguments: Subject.wire.filter { !$0.capabilities.contains(.bodyOfUnusableRedirect) })
    func redirectsToNowhereDoNotLoseBodies(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                .raw("HTTP/1.1 302 R\r\nContent-Length: 5\r\n\r\nmoved")
            }
            let record = try await world.fail(world.request(), .badServerResponse)
            #expect(record.head?.status.code == 302)
        }
    }

    @Test(
        arguments: Subject.wire,
        [
            "Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "Bearer",
            "Negotiate", "nonsense",
        ])
    func challengesAreAnswers(subject: Subject, challenge: String) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(
                    status: 401, headers: ["WWW-Authenticate": challenge], body: "who are you?")
            }
            for request in [world.request(), world.request(.post, body: .string("x"))] {
                let record = try await world.succeed(request)
                #expect(record.head?.status.code == 401)
                #expect(record.head?.headers[.wwwAuthenticate] == challenge)
                #expect(record.body == Data("who are you?".utf8))
            }
            #expect(world.server.requests.count == 2)
        }
    }

    @Test(arguments: Subject.wire)
    func refusedCredentialsAreAnswers(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            let request = world.request(headers: [.authorization: "Basic YTpi"])
            #expect(try await world.succeed(request).head?.status.code == 401)
            #expect(world.server.requests.first?.header("Authorization") == "Basic YTpi")
        }
    }

    @Test(arguments: Subject.wire)
    func cookiesAreNotKept(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer(headers: ["Set-Cookie": "a=1; Path=/"]) }
            for _ in 0..<2 { _ = try await world.succeed(world.request()) }
            let request = world.request(headers: [.cookie: "own=2"])
            _ = try await world.succeed(request)
            #expect(world.server.requests.map { $0.header("Cookie") } == [nil, nil, "own=2"])
        }
    }

    @Test(arguments: Subject.wire)
    func answersAreNotCached(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(headers: ["Cache-Control": "max-age=600"], body: "x")
            }
            for _ in 0..<2 { _ = try await world.succeed(world.request()) }
            #expect(world.server.requests.count == 2)
            #expect(world.server.requests.allSatisfy { $0.header("If-None-Match") == nil })
        }
    }
}
