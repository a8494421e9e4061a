import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Connections are used again, and never at the price of sending something twice.
@Suite("Contract: connection reuse", .timeLimit(.minutes(5)))
struct ReuseContract {
    @Test(arguments: Subject.wire)
    func oneConnectionServesMany(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { LoopbackAnswer(body: $0.body) }
            for number in 0..<10 {
                let body = HTTPBody.string("\(number)")
                let request =
                    number.isMultiple(of: 2) ? world.request() : world.request(.post, body: body)
                _ = try await world.succeed(request)
            }
            #expect(world.server.status.accepted == 1)
        }
    }

    @Test(arguments: Subject.wire)
    func closedOnesAreReplaced(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer(body: "x") }
            for round in 1...5 {
                _ = try await world.succeed(world.request(.post, body: .string("x")))
                #expect(world.server.status.accepted == round)
                world.server.closeConnections()
                try await world.server.until { $0.open == 0 }
            }
        }
    }

    @Test(arguments: Subject.wire)
    func connectionCloseIsHonoured(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(headers: ["Connection": "close"], body: "x").closing()
            }
            for _ in 0..<3 { _ = try await world.succeed(world.request()) }
            #expect(world.server.status.accepted == 3)
        }
    }

    /// Makes a connection, then has the server drop it after it has read the next request.
    private func race(_ world: ContractWorld) async throws {
        world.server.otherwise { _ in LoopbackAnswer(body: "first") }
        _ = try await world.succeed(world.request())
        world.server.otherwise { request in
            request.connection == 0 ? .dropped : LoopbackAnswer(body: "again")
        }
    }

    @Test(arguments: Subject.wire)
    func droppedGetIsRepeated(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            try await race(world)
            let record = try await world.succeed(world.request())
            #expect(record.body == Data("again".utf8))
            #expect(world.server.requests.map(\.connection) == [0, 0, 1])
        }
    }

    /// As after the restart of a server: each of its kept connections is dead, and none looks it.
    @Test(arguments: Subject.wire)
    func allKeptConnectionsAreDead(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let count = 6
            let gate = Gate()
            world.server.otherwise { _ in LoopbackAnswer(body: "first").held(by: gate) }
            let first = (0..<count).map { _ in world.start(world.request()).receiver }
            try await world.server.until { $0.accepted == count && $0.requests == count }
            gate.open()
            for receiver in first { _ = try await receiver.ended() }
            world.server.otherwise { request in
                request.connection < count ? .dropped : LoopbackAnswer(body: "again")
            }
            let record = try await world.succeed(world.request())
            #expect(record.body == Data("again".utf8))
        }
    }

    @Test(arguments: Subject.wire, [0, 1, 100_000])
    func droppedPostIsNotRepeated(subject: Subject, size: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            try await race(world)
            let record = try await world.run(world.request(.post, body: .data(pattern(size))))
            // A second head may go out before the body refuses to be read again; nobody acts on that.
            let posts = world.server.requests.filter { $0.method == "POST" && $0.isComplete }
            #expect(posts.count == 1)
            if posts.first?.connection == 0 {
                #expect(record.end?.error?.code == .connectionLost)
            }
        }
    }

    @Test(arguments: Subject.wire)
    func droppedPostWithoutABodyIsNotRepeated(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            try await race(world)
            _ = try await world.run(world.request(.post))
            #expect(world.server.requests.filter { $0.method == "POST" }.count == 1)
        }
    }

    @Test(arguments: Subject.wire)
    func droppedPutIsRepeatedWhole(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            try await race(world)
            let bytes = pattern(100_000)
            _ = try await world.succeed(world.request(.put, body: .data(bytes)))
            let puts = world.server.requests.filter { $0.method == "PUT" && $0.isComplete }
            #expect(puts.map(\.connection) == [0, 1])
            #expect(puts.allSatisfy { $0.body == bytes })
        }
    }

    @Test(arguments: Subject.wire)
    func aHundredAtOnce(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { LoopbackAnswer(body: $0.target) }
            let all = (0..<100).map { number in
                world.start(world.request(.get, "/\(number)")).receiver
            }
            for (number, receiver) in all.enumerated() {
                let record = try await receiver.ended()
                #expect(record.end?.error == nil)
                #expect(record.body == Data("/\(number)".utf8))
            }
        }
    }
}
