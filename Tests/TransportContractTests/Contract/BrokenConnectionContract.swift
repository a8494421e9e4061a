import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Connections that do not come about, or break at some moment: one typed end each.
@Suite("Contract: broken connections", .timeLimit(.minutes(5)))
struct BrokenConnectionContract {
    @Test(arguments: Subject.wire)
    func refused(subject: Subject) async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        let port = dead.port
        try await ContractWorld.with(subject) { world async throws in
            for _ in 0..<20 {
                let record = try await world.fail(world.request(port: port), .cannotConnect)
                #expect(record.end?.error?.stage == .transport)
            }
        }
    }

    @Test(arguments: Subject.wire)
    func closedWithoutAByte(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .dropped }
            try await world.fail(world.request(), .connectionLost)
            try await world.fail(world.request(.post, body: .string("x")), .connectionLost)
        }
    }

    @Test(arguments: Subject.wire)
    func resetWithoutAByte(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .reset }
            try await world.fail(world.request(), .connectionLost)
            try await world.fail(world.request(.post, body: .string("x")), .connectionLost)
        }
    }

    @Test(arguments: Subject.wire, [60, 100, 5000, 60_000])
    func resetWithinTheBody(subject: Subject, count: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(body: pattern(100_000)).reset(afterBytes: count)
            }
            try await world.fail(world.request(), .connectionLost, .truncatedBody)
        }
    }

    @Test(arguments: Subject.wire, [0, 1, 99])
    func closedBeforeTheAnnouncedLength(subject: Subject, count: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .truncated(announcing: 100, body: pattern(count)) }
            let record = try await world.fail(world.request(), .truncatedBody)
            #expect(record.head?.status.code == 200)
            #expect(record.body == pattern(count))
        }
    }

    @Test(arguments: Subject.wire)
    func closedBeforeTheLastChunk(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .truncatedChunked([pattern(1000)]) }
            let record = try await world.fail(world.request(), .truncatedBody)
            #expect(record.body == pattern(1000))
        }
    }

    @Test(arguments: Subject.wire)
    func closedWithinAChunk(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nabc")
            }
            let record = try await world.fail(world.request(), .truncatedBody)
            #expect(record.body == Data("abc".utf8))
        }
    }

    @Test(
        arguments: Subject.wire(with: .cutOffHead),
        [
            "HTTP", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
            "HTTP/1.1 200 OK\r\nA: b\r\n",
        ])
    func closedWithinTheHead(subject: Subject, text: String) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .raw(text) }
            let record = try await world.fail(
                world.request(), .connectionLost, .badServerResponse, .truncatedBody)
            #expect(record.received == 0)
            // The machine goes on.
            world.server.otherwise { _ in LoopbackAnswer() }
            _ = try await world.succeed(world.request())
        }
    }

    @Test(arguments: Subject.wire)
    func brokenDuringTheUpload(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise(readsBody: false) { _ in
                LoopbackAnswer(
                    steps: [.receiveBody(upTo: 50_000), .reset], keepsConnection: false)
            }
            let body = HTTPBody.data(pattern(8 << 20))
            try await world.fail(world.request(.post, body: body), .connectionLost)
            #expect(world.server.requests.count == 1)
        }
    }

    @Test(arguments: Subject.wire)
    func manyInARowAndThenOneThatWorks(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.route("/reset") { _ in .reset }
            world.server.route("/fine") { _ in LoopbackAnswer() }
            for _ in 0..<100 {
                try await world.fail(world.request(.get, "/reset"), .connectionLost)
            }
            _ = try await world.succeed(world.request(.get, "/fine"))
        }
    }
}
