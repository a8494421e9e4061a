import ErrandCore
import ErrandTesting
import Foundation
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
