import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Connections are reused, and a request that is not idempotent is never sent twice.
@Suite("Contract: connection reuse", .limited)
struct ReuseContract {
    @Test(arguments: TransportKind.reusing)
    func sequentialRequestsShareAConnection(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { LoopbackResponse(body: $0.body) }
            for number in 0..<10 {
                let body = HTTPBody.string("\(number)")
                let request =
                    number.isMultiple(of: 2)
                    ? fixture.request() : fixture.request(.put, body: body)
                _ = try await fixture.succeed(request)
            }
            #expect(fixture.server.status.accepted == 1)
        }
    }

    /// From the second request of a connection on, the server first sends a surplus response: the client can only take
    /// it for the response to that request.
    @Test func surplusResponseReachesNoOtherRequest() async throws {
        try await ContractFixture.with(.urlSession) { fixture async throws in
            let connections = Mutex(Set<Int>())
            fixture.server.otherwise { request in
                let length = request.target.utf8.count
                let own = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(request.target)"
                let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsurplus"
                let isFirst = connections.withLock { $0.insert(request.connection).inserted }
                return .raw(isFirst ? own : surplus + own, keepsConnection: true)
            }
            for number in 0..<20 {
                let method = number.isMultiple(of: 2) ? HTTPMethod.get : .put
                let record = try await fixture.succeed(fixture.request(method, "/\(number)"))
                #expect(record.body == Data("/\(number)".utf8))
            }
            #expect(fixture.server.status.accepted == 20)
            try await fixture.server.until { $0.open == 0 }
        }
    }

    /// A transport that cannot prevent the replay of a request on a kept connection uses another connection.
    @Test(arguments: TransportKind.reusing, [nil, "x"] as [String?])
    func requestsThatMustNotBeReplayed(kind: TransportKind, body: String?) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(body: "fine") }
            for round in 1...3 {
                _ = try await fixture.succeed(fixture.request())
                let request = fixture.request(.post, body: body.map { .string($0) })
                _ = try await fixture.succeed(request)
                let sharesConnections =
                    kind.capabilities.contains(.keptConnectionsForAllMethods)
                #expect(fixture.server.status.accepted == (sharesConnections ? 1 : 1 + round))
            }
        }
    }

    @Test(arguments: TransportKind.reusing)
    func requestIsNotReplayedWithoutPermission(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            for method in [HTTPMethod.get, .put] {
                let earlier = fixture.server.requests.count
                try await prepareDroppedConnection(fixture)
                var request = fixture.request(method, body: method == .put ? .string("x") : nil)
                request.options.mayReplay = false
                let record = try await fixture.run(request)
                #expect(fixture.server.requests.count == earlier + 2)
                if fixture.server.requests.last?.connection == 0 {
                    #expect(record.end?.error?.code == .connectionLost)
                }
                fixture.server.closeConnections()
            }
        }
    }

    @Test(arguments: TransportKind.reusing)
    func closedConnectionsAreReplaced(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(body: "x") }
            for round in 1...5 {
                _ = try await fixture.succeed(fixture.request(.post, body: .string("x")))
                #expect(fixture.server.status.accepted == round)
                fixture.server.closeConnections()
                try await fixture.server.until { $0.open == 0 }
            }
        }
    }

    @Test(arguments: TransportKind.reusing)
    func connectionCloseIsHonoured(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["Connection": "close"], body: "x").closing()
            }
            for _ in 0..<3 { _ = try await fixture.succeed(fixture.request()) }
            #expect(fixture.server.status.accepted == 3)
        }
    }

    /// Opens a connection, which the server then closes after it has read the next request.
    private func prepareDroppedConnection(_ fixture: ContractFixture) async throws {
        fixture.server.otherwise { _ in LoopbackResponse(body: "first") }
        _ = try await fixture.succeed(fixture.request())
        fixture.server.otherwise { request in
            request.connection == 0 ? .dropped : LoopbackResponse(body: "again")
        }
    }

    @Test(arguments: TransportKind.reusing)
    func droppedGetIsRetried(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            try await prepareDroppedConnection(fixture)
            let record = try await fixture.succeed(fixture.request())
            #expect(record.body == Data("again".utf8))
            #expect(fixture.server.requests.map(\.connection) == [0, 0, 1])
        }
    }

    /// As after a server restart: all idle connections are closed, and the client has not noticed it yet.
    @Test(arguments: TransportKind.reusing)
    func requestSucceedsIfAllIdleConnectionsAreClosed(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let count = 6
            let gate = Gate()
            fixture.server.otherwise { _ in LoopbackResponse(body: "first").held(by: gate) }
            let first = (0..<count).map { _ in fixture.start(fixture.request()).receiver }
            try await fixture.server.until { $0.accepted == count && $0.requests == count }
            gate.open()
            for receiver in first { _ = try await receiver.ended() }
            fixture.server.otherwise { request in
                request.connection < count ? .dropped : LoopbackResponse(body: "again")
            }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.body == Data("again".utf8))
        }
    }

    @Test(arguments: TransportKind.reusing, [0, 1, 100_000])
    func droppedPostIsNotRetried(kind: TransportKind, size: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            try await prepareDroppedConnection(fixture)
            let record = try await fixture.run(fixture.request(.post, body: .data(pattern(size))))
            // Not even the head is sent again.
            let posts = fixture.server.requests.filter { $0.method == "POST" }
            #expect(posts.count == 1)
            #expect(posts.first?.isComplete == true)
            if posts.first?.connection == 0 {
                #expect(record.end?.error?.code == .connectionLost)
            }
        }
    }

    @Test(arguments: TransportKind.reusing)
    func droppedPostWithoutBodyIsNotRetried(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            try await prepareDroppedConnection(fixture)
            _ = try await fixture.run(fixture.request(.post))
            #expect(fixture.server.requests.filter { $0.method == "POST" }.count == 1)
        }
    }

    @Test(arguments: TransportKind.reusing)
    func droppedPutIsRetriedCompletely(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            try await prepareDroppedConnection(fixture)
            let bytes = pattern(100_000)
            _ = try await fixture.succeed(fixture.request(.put, body: .data(bytes)))
            let puts = fixture.server.requests.filter { $0.method == "PUT" && $0.isComplete }
            #expect(puts.map(\.connection) == [0, 1])
            #expect(puts.allSatisfy { $0.body == bytes })
        }
    }

    @Test(arguments: TransportKind.reusing)
    func hundredConcurrentRequestsSucceed(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { LoopbackResponse(body: $0.target) }
            let all = (0..<100).map { number in
                fixture.start(fixture.request(.get, "/\(number)")).receiver
            }
            for (number, receiver) in all.enumerated() {
                let record = try await receiver.ended()
                #expect(record.end?.error == nil)
                #expect(record.body == Data("/\(number)".utf8))
            }
        }
    }
}
