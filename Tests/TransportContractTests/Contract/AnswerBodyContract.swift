import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Bodies come through whole in every framing.
@Suite("Contract: answer bodies", .timeLimit(.minutes(5)))
struct AnswerBodyContract {
    @Test(arguments: Subject.wire, [0, 1, 16_384, 1_000_003])
    func ofAnnouncedLength(subject: Subject, size: Int) async throws {
        let bytes = pattern(size)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer(body: bytes) }
            let record = try await world.succeed(world.request())
            #expect(record.body == bytes)
            #expect(record.head?.contentLength == Int64(size))
            #expect(record.end?.timings.bytesReceived == Int64(size))
            #expect(record.end?.timings.finished ?? .zero > .zero)
        }
    }

    @Test(arguments: Subject.wire)
    func chunked(subject: Subject) async throws {
        let chunks = [pattern(1), pattern(70_000), pattern(3)]
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .chunked(chunks) }
            let record = try await world.succeed(world.request())
            #expect(record.body == chunks.reduce(Data(), +))
            #expect(record.head?.contentLength == nil)
        }
    }

    /// A transfer coding that changes nothing leaves the length in force; libcurl waits for the connection's end there.
    @Test(arguments: Subject.wire, [("identity", 0), ("Identity", 3), ("", 100_000)])
    func ofAnnouncedLengthInNoCoding(subject: Subject, answer: (String, Int)) async throws {
        let (coding, size) = answer
        let bytes = pattern(size)
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            let head =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: \(size)\r\n\r\n"
            world.server.otherwise { _ in
                LoopbackAnswer(
                    steps: [
                        .bytes(Data(head.utf8) + bytes + Data("not the body's".utf8)), .hold(gate),
                    ],
                    keepsConnection: false)
            }
            let record = try await world.succeed(world.request())
            #expect(record.body == bytes)
            #expect(record.head?.contentLength == Int64(size))
            world.server.otherwise { _ in LoopbackAnswer(body: "next") }
            #expect(try await world.succeed(world.request()).body == Data("next".utf8))
            gate.open()
        }
    }

    @Test(arguments: Subject.wire)
    func untilTheConnectionCloses(subject: Subject) async throws {
        let bytes = pattern(50_000)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(
                    steps: [.head(status: 200, headers: []), .body(bytes), .close],
                    keepsConnection: false)
            }
            #expect(try await world.succeed(world.request()).body == bytes)
            #expect(try await world.succeed(world.request()).body == bytes)
        }
    }

    @Test(arguments: Subject.wire)
    func inSmallPieces(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let text =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;e=1\r\nabc\r\n0\r\n\r\n"
            world.server.otherwise { _ in
                LoopbackAnswer(steps: text.utf8.map { .bytes(Data([$0])) })
            }
            #expect(try await world.succeed(world.request()).body == Data("abc".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func whileTheyAreMade(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gates = [Gate(), Gate()]
            world.play([
                .head, .bytes(Data("a".utf8)), .hold(gates[0]), .bytes(Data("b".utf8)),
                .hold(gates[1]), .bytes(Data("c".utf8)),
            ])
            let receiver = world.start(world.request()).receiver
            try await receiver.until { $0.body == Data("a".utf8) }
            gates[0].open()
            try await receiver.until { $0.body == Data("ab".utf8) }
            gates[1].open()
            #expect(try await receiver.ended().body == Data("abc".utf8))
        }
    }

    @Test(arguments: Subject.wire(with: .trailers))
    func trailersComeAtTheEnd(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                .chunked([Data("body".utf8)], trailers: ["X-Sum": "42", "X-Other": "o"])
            }
            let record = try await world.succeed(world.request())
            #expect(record.body == Data("body".utf8))
            let trailers = try #require(record.end).trailers
            #expect(HTTPField.Name("X-Sum").flatMap { trailers[$0] } == "42")
            #expect(record.head?.headers.count == 1)
        }
    }

    @Test(arguments: Subject.wire)
    func largerThanAllowedFail(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.route("/announced") { _ in LoopbackAnswer(body: pattern(100_000)) }
            world.server.route("/chunked") { _ in .chunked((0..<50).map { _ in pattern(2000) }) }
            for path in ["/announced", "/chunked"] {
                var request = world.request(.get, path)
                request.options.maximumBodyBytes = 50_000
                let record = try await world.fail(request, .bodyTooLarge)
                #expect(record.received <= 50_000)
                request.options.maximumBodyBytes = 100_000
                _ = try await world.succeed(request)
            }
        }
    }

    @Test(arguments: Subject.wire)
    func endlessOnesFailAtTheLimit(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .endless(until: Gate()) }
            var request = world.request()
            request.options.maximumBodyBytes = 1 << 20
            try await world.fail(request, .bodyTooLarge)
        }
    }
}
