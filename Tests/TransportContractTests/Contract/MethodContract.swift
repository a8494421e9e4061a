import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Any token is a method, and goes out as it is.
@Suite("Contract: methods", .timeLimit(.minutes(5)))
struct MethodContract {
    @Test(
        arguments: Subject.wire,
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "PURGE", "X-My_method"])
    func goesOutAsItIs(subject: Subject, method: String) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { LoopbackAnswer(body: $0.method) }
            let record = try await world.succeed(world.request(HTTPMethod(method)))
            #expect(record.head?.status.code == 200)
            #expect(String(decoding: record.body, as: UTF8.self) == method)
            #expect(world.server.requests.first?.bodyBytes == 0)
        }
    }

    @Test(arguments: Subject.wire)
    func headHasNoBody(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer(body: "twelve bytes") }
            let record = try await world.succeed(world.request(.head))
            #expect(record.head?.headers[.contentLength] == "12")
            #expect(record.received == 0)
            // The connection is still good for the next one.
            #expect(try await world.succeed(world.request()).received == 12)
        }
    }

    @Test(arguments: Subject.wire, ["GET /x", "A\r\nB: c", ""])
    func whatIsNoTokenIsRefused(subject: Subject, method: String) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let request = world.request(HTTPMethod(method))
            let error = #expect(throws: RequestError.self) { try world.transport.check(request) }
            #expect(error?.code == .invalidMethod)
            try await world.fail(request, .invalidMethod)
            #expect(world.server.status.accepted == 0)
        }
    }

    @Test(arguments: Subject.wire)
    func targetGoesOutAsItIs(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let path = "/a%2Fb//c/%C3%BC;v=1"
            let query = "q=1&q=2&e=&x=%20+~'()*!$,:@/?"
            world.server.route(path) { _ in LoopbackAnswer() }
            _ = try await world.succeed(world.request(.get, path, query: query))
            #expect(world.server.requests.first?.target == "\(path)?\(query)")
        }
    }

    @Test(arguments: Subject.wire(with: .bodyWithGET))
    func getMayHaveABody(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer() }
            _ = try await world.succeed(world.request(.get, body: .string("asked")))
            #expect(world.server.requests.first?.method == "GET")
            #expect(world.server.requests.first?.body == Data("asked".utf8))
        }
    }
}
