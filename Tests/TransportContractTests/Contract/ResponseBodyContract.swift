import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Transports deliver complete response bodies in every framing (RFC 9112 §6).
@Suite("Contract: response bodies", .limited)
struct ResponseBodyContract {
    @Test(arguments: TransportKind.wire, [0, 1, 16_384, 1_000_003])
    func bodyWithContentLength(kind: TransportKind, size: Int) async throws {
        let bytes = pattern(size)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(body: bytes) }
            let record = try await fixture.succeed(fixture.request())
            #expect(haveSameBytes(record.body, bytes))
            #expect(record.head?.contentLength == Int64(size))
            #expect(record.end?.timings.bytesReceived == Int64(size))
            #expect(record.end?.timings.finished ?? .zero > .zero)
        }
    }

    @Test(arguments: TransportKind.wire)
    func chunkedBody(kind: TransportKind) async throws {
        let chunks = [pattern(1), pattern(70_000), pattern(3)]
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .chunked(chunks) }
            let record = try await fixture.succeed(fixture.request())
            #expect(haveSameBytes(record.body, chunks.reduce(Data(), +)))
            #expect(record.head?.contentLength == nil)
        }
    }

    /// `Content-Length` applies when the transfer coding is `identity` or empty.
    ///
    /// libcurl would read until the close.
    @Test(arguments: TransportKind.wire, [("identity", 0), ("Identity", 3), ("", 100_000)])
    func contentLengthAppliesToIdentityTransferCoding(
        kind: TransportKind, codingAndSize: (String, Int)
    ) async throws {
        let (coding, size) = codingAndSize
        let bytes = pattern(size)
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            let head =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: \(size)\r\n\r\n"
            fixture.server.otherwise { _ in
                LoopbackResponse(
                    steps: [
                        .bytes(Data(head.utf8) + bytes + Data("after the body".utf8)), .hold(gate),
                    ],
                    keepsConnection: false)
            }
            let record = try await fixture.succeed(fixture.request())
            #expect(haveSameBytes(record.body, bytes))
            #expect(record.head?.contentLength == Int64(size))
            fixture.server.otherwise { _ in LoopbackResponse(body: "next") }
            #expect(try await fixture.succeed(fixture.request()).body == Data("next".utf8))
            gate.open()
        }
    }

    @Test(arguments: TransportKind.wire)
    func bodyDelimitedByConnectionClose(kind: TransportKind) async throws {
        let bytes = pattern(50_000)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(
                    steps: [.head(status: 200, headers: []), .body(bytes), .close],
                    keepsConnection: false)
            }
            #expect(try await haveSameBytes(fixture.succeed(fixture.request()).body, bytes))
            #expect(try await haveSameBytes(fixture.succeed(fixture.request()).body, bytes))
        }
    }

    @Test(arguments: TransportKind.wire)
    func chunkedBodyInSingleByteSegments(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let text =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;e=1\r\nabc\r\n0\r\n\r\n"
            fixture.server.otherwise { _ in
                LoopbackResponse(steps: text.utf8.map { .bytes(Data([$0])) })
            }
            #expect(try await fixture.succeed(fixture.request()).body == Data("abc".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func bytesAreDeliveredAsTheyArrive(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gates = [Gate(), Gate()]
            fixture.respond(with: [
                .head, .bytes(Data("a".utf8)), .hold(gates[0]), .bytes(Data("b".utf8)),
                .hold(gates[1]), .bytes(Data("c".utf8)),
            ])
            let receiver = fixture.start(fixture.request()).receiver
            try await receiver.until { $0.body == Data("a".utf8) }
            gates[0].open()
            try await receiver.until { $0.body == Data("ab".utf8) }
            gates[1].open()
            #expect(try await receiver.ended().body == Data("abc".utf8))
        }
    }

    @Test(arguments: TransportKind.wire(with: .trailers))
    func trailersAreReportedAtTheEnd(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .chunked([Data("body".utf8)], trailers: ["X-Sum": "42", "X-Other": "o"])
            }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.body == Data("body".utf8))
            let trailers = try #require(record.end).trailers
            #expect(HTTPField.Name("X-Sum").flatMap { trailers[$0] } == "42")
            #expect(record.head?.headers.count == 1)
        }
    }

    @Test(arguments: TransportKind.wire)
    func bodyAboveMaximumBodyBytesFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.route("/announced") { _ in LoopbackResponse(body: pattern(100_000)) }
            fixture.server.route("/chunked") { _ in .chunked((0..<50).map { _ in pattern(2000) }) }
            for path in ["/announced", "/chunked"] {
                var request = fixture.request(.get, path)
                request.options.maximumBodyBytes = 50_000
                let record = try await fixture.fail(request, .bodyTooLarge)
                #expect(record.received <= 50_000)
                request.options.maximumBodyBytes = 100_000
                _ = try await fixture.succeed(request)
            }
        }
    }

    @Test(arguments: TransportKind.wire)
    func endlessBodyFailsAtMaximumBodyBytes(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .endless(until: Gate()) }
            var request = fixture.request()
            request.options.maximumBodyBytes = 1 << 20
            try await fixture.fail(request, .bodyTooLarge)
        }
    }
}
