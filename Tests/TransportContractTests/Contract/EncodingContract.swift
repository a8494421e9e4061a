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

    @Test(arguments: Subject.wire, ["gzip", "unheard-of"])
    func emptyAnswersMayClaimAny(subject: Subject, encoding: String) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: 0\r\n\r\n")
            }
            #expect(try await world.succeed(world.request()).received == 0)
        }
    }

    @Test(arguments: Subject.wire)
    func noneIsNone(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("none", text) }
            #expect(try await world.succeed(world.request()).body == text)
        }
    }

    /// RFC 1952 §2.2; gzip itself takes the zeros of a padded block.
    @Test(arguments: Subject.wire(with: .paddedEncoding), [(1, 1), (1, 1024), (2, 0), (2, 512)])
    func membersAndPaddingAreTaken(subject: Subject, count: (Int, Int)) async throws {
        let (members, zeros) = count
        let member = Deflate.gzip(text)
        let body = (0..<members).reduce(Data()) { all, _ in all + member } + Data(count: zeros)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", body) }
            let record = try await world.succeed(world.request())
            #expect(record.received == members * text.count)
        }
    }

    @Test(arguments: Subject.wire, ["garbage", "\u{1F}", "\u{0}\u{0}garbage", "\r\n"])
    func bytesBehindTheEndFail(subject: Subject, extra: String) async throws {
        let body = Deflate.gzip(text) + Data(extra.utf8)
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in encoded("gzip", body) }
            try await world.fail(world.request(), .badContentEncoding)
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
