import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Failed connection attempts and interrupted connections end a transfer with one typed error.
@Suite("Contract: broken connections", .limited)
struct BrokenConnectionContract {
    @Test(arguments: TransportKind.wire)
    func refusedConnectionFails(kind: TransportKind) async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        let port = dead.port
        try await ContractFixture.with(kind) { fixture async throws in
            for _ in 0..<20 {
                let record = try await fixture.fail(fixture.request(port: port), .cannotConnect)
                #expect(record.end?.error?.stage == .transport)
            }
        }
    }

    @Test(arguments: TransportKind.wire)
    func connectionClosedBeforeTheResponseFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .dropped }
            try await fixture.fail(fixture.request(), .connectionLost)
            try await fixture.fail(fixture.request(.post, body: .string("x")), .connectionLost)
        }
    }

    @Test(arguments: TransportKind.wire)
    func connectionResetBeforeTheResponseFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .reset }
            try await fixture.fail(fixture.request(), .connectionLost)
            try await fixture.fail(fixture.request(.post, body: .string("x")), .connectionLost)
        }
    }

    @Test(arguments: TransportKind.wire, [60, 100, 5000, 60_000])
    func connectionResetWithinTheBodyFails(kind: TransportKind, count: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(body: pattern(100_000)).reset(afterBytes: count)
            }
            try await fixture.fail(fixture.request(), .connectionLost, .truncatedBody)
        }
    }

    @Test(arguments: TransportKind.wire, [0, 1, 99])
    func bodyShorterThanContentLengthFails(kind: TransportKind, count: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .truncated(announcing: 100, body: pattern(count)) }
            let record = try await fixture.fail(fixture.request(), .truncatedBody)
            #expect(record.head?.status.code == 200)
            #expect(haveSameBytes(record.body, pattern(count)))
        }
    }

    @Test(arguments: TransportKind.wire)
    func bodyWithoutLastChunkFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .truncatedChunked([pattern(1000)]) }
            let record = try await fixture.fail(fixture.request(), .truncatedBody)
            #expect(haveSameBytes(record.body, pattern(1000)))
        }
    }

    @Test(arguments: TransportKind.wire)
    func connectionClosedWithinAChunkFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nabc")
            }
            let record = try await fixture.fail(fixture.request(), .truncatedBody)
            #expect(record.body == Data("abc".utf8))
        }
    }

    @Test(
        arguments: TransportKind.wire(with: .cutOffHead),
        [
            "HTTP", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
            "HTTP/1.1 200 OK\r\nA: b\r\n",
        ])
    func connectionClosedWithinTheHeadFails(kind: TransportKind, text: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .raw(text) }
            let record = try await fixture.fail(fixture.request(), .connectionLost)
            #expect(record.received == 0)
            // The transport still works.
            fixture.server.otherwise { _ in LoopbackResponse() }
            _ = try await fixture.succeed(fixture.request())
        }
    }

    @Test(arguments: TransportKind.wire)
    func connectionResetDuringTheUploadFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise(readsBody: false) { _ in
                LoopbackResponse(
                    steps: [.receiveBody(upTo: 50_000), .reset], keepsConnection: false)
            }
            let body = HTTPBody.data(pattern(8 << 20))
            try await fixture.fail(fixture.request(.post, body: body), .connectionLost)
            #expect(fixture.server.requests.count == 1)
        }
    }

    @Test(arguments: TransportKind.wire)
    func requestSucceedsAfterManyResets(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.route("/reset") { _ in .reset }
            fixture.server.route("/fine") { _ in LoopbackResponse() }
            for _ in 0..<100 {
                try await fixture.fail(fixture.request(.get, "/reset"), .connectionLost)
            }
            _ = try await fixture.succeed(fixture.request(.get, "/fine"))
        }
    }
}
