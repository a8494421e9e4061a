import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Content encodings are taken off, and what cannot be is an error.
@Suite("Contract: content encodings", .timeLimit(.minutes(5)))
struct EncodingContract {
    private let text = Data(String(repeating: "to be encoded ", count: 500).utf8)

    private func encoded(_ encoding: String, _ body: Data) -> LoopbackAnswer {
        LoopbackAnswer(headers: ["Content-Encoding": encoding], body: body)
    }

    @Test(arguments: Subject.wire, ["gzip", "deflate"])
    func areTakenOff(subject: Subject, encoding: String) async throws {
        let body = encoding == "gzip" ? Deflate.gzip(text) : Deflate.zlib(text)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded(encoding, body) }
            let record = try await world.succeed(world.request())
            #expect(record.body == text)
            // The announced length is that of the encoded form.
            #expect(record.head?.contentLength == nil)
            let asked = world.server.requests.first?.header("Accept-Encoding") ?? ""
            #expect(asked.contains(encoding))
        }
    }

    @Test(arguments: Subject.wire)
    func areTakenOffChunkedBodies(subject: Subject) async throws {
        let body = Deflate.gzip(text)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                .chunked(
                    headers: ["Content-Encoding": "gzip"],
                    [body.prefix(9), Data(body.dropFirst(9))])
            }
            #expect(try await world.succeed(world.request()).body == text)
        }
    }

    @Test(arguments: Subject.wire)
    func emptyBodiesMayClaimOne(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", Data()) }
            #expect(try await world.succeed(world.request()).received == 0)
        }
    }

    @Test(arguments: Subject.wire)
    func thatAreNoneFail(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", Data("this is no gzip".utf8)) }
            try await world.fail(world.request(), .badContentEncoding)
        }
    }

    @Test(arguments: Subject.wire(with: .corruptEncoding), ["checksum", "cut", "inside"])
    func thatAreCorruptFail(subject: Subject, fault: String) async throws {
        var body = Deflate.gzip(text)
        switch fault {
        case "checksum": body[body.count - 5] ^= 0xFF
        case "cut": body = body.prefix(body.count / 2)
        default: body[body.count / 2] ^= 0xFF
        }
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { [body] _ in encoded("gzip", body) }
            try await world.fail(world.request(), .badContentEncoding)
        }
    }

    @Test(arguments: Subject.wire)
    func bombsEndEarly(subject: Subject) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", body) }
            var request = world.request()
            request.options.maximumDecodingRatio = 20
            let receiver = RecordingReceiver(keepsBody: false)
            world.start(request, receiver)
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .bodyTooLarge)
            #expect(record.received <= 20 * body.count)
        }
    }

    @Test(arguments: Subject.wire(with: .decodingRatioWithoutLength))
    func bombsWithoutALengthEndEarly(subject: Subject) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .chunked(headers: ["Content-Encoding": "gzip"], [body]) }
            var request = world.request()
            request.options.maximumDecodingRatio = 20
            try await world.fail(request, .bodyTooLarge)
        }
    }

    @Test(arguments: Subject.wire)
    func limitsCountDecodedBytes(subject: Subject) async throws {
        let body = Deflate.gzipOfZeros(4 << 20)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", body) }
            var request = world.request()
            request.options.maximumBodyBytes = 1 << 20
            try await world.fail(request, .bodyTooLarge)
        }
    }

    @Test(arguments: Subject.wire(with: .undecodedContent))
    func areLeftOnWhereAskedTo(subject: Subject) async throws {
        let body = Deflate.gzip(text)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", body) }
            var request = world.request()
            request.options.decodesContent = false
            let record = try await world.succeed(request)
            #expect(record.body == body)
            #expect(world.server.requests.first?.header("Accept-Encoding") == nil)
        }
    }
}
