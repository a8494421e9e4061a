import TestSupport
import Testing

@testable import ErrandWebSocket

/// Compressed messages (RFC 7692 §7.2), in every split of their bytes.
struct DeflateTests {
    private static func agreement(
        client: Int = 15, server: Int = 15, clientContext: Bool = true, serverContext: Bool = true,
        threshold: Int = 1
    ) -> DeflateExtension.Agreement {
        var agreement = DeflateExtension.Agreement(
            clientWindowBits: client, keepsClientContext: clientContext, threshold: threshold,
            level: 6)
        agreement.serverWindowBits = server
        agreement.keepsServerContext = serverContext
        return agreement
    }

    private static func compressed(
        _ payload: [UInt8], _ opcode: Int = 1, final: Bool = true
    ) -> [UInt8] {
        ServerBytes.frame(opcode, payload, final: final, reserved: opcode == 0 ? 0 : 4)
    }

    /// A server that compresses as the client does.
    private final class Server {
        private var deflater: MessageDeflater

        init?(_ bits: Int, keepsContext: Bool = true) {
            let agreement = DeflateTests.agreement(client: bits, clientContext: keepsContext)
            guard let deflater = MessageDeflater(agreement) else { return nil }
            self.deflater = deflater
        }

        func payload(_ bytes: [UInt8], ends: Bool = true) -> [UInt8] {
            var output = WebSocketBuffer()
            let isWritten = bytes.withUnsafeBytes {
                deflater.append($0, endsMessage: ends, to: &output)
            }
            return isWritten ? Array(output.contents) : []
        }
    }

    // MARK: - Samples

    /// RFC 7692 §7.2.3.
    static let samples: [(String, [UInt8], [String])] = [
        (
            "§7.2.3.1 one block", compressed([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
            ["text Hello"]
        ),
        (
            "§7.2.3.1 two fragments",
            compressed([0xF2, 0x48, 0xCD], final: false) + compressed([0xC9, 0xC9, 0x07, 0x00], 0),
            ["text Hello"]
        ),
        (
            "§7.2.3.2 the window of the message before",
            compressed([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
                + compressed([0xF2, 0x00, 0x11, 0x00, 0x00]), ["text Hello", "text Hello"]
        ),
        (
            "§7.2.3.3 a block without compression",
            compressed([0, 5, 0, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0]), ["text Hello"]
        ),
        (
            "§7.2.3.4 BFINAL", compressed([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]),
            ["text Hello"]
        ),
        (
            "§7.2.3.4 the window after BFINAL",
            compressed([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00])
                + compressed([0xF2, 0x00, 0x11, 0x00, 0x00]), ["text Hello", "text Hello"]
        ),
        (
            "§7.2.3.5 two blocks",
            compressed([0xF2, 0x48, 0x05, 0, 0, 0, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]),
            ["text Hello"]
        ),
        ("§7.2.3.6 an empty message", compressed([0x00]), ["text "]),
        (
            "§6 an uncompressed message between them",
            compressed([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]) + ServerBytes.text("x")
                + compressed([0xF2, 0x00, 0x11, 0x00, 0x00]),
            ["text Hello", "text x", "text Hello"]
        ),
        (
            "§6 a control frame within a message",
            compressed([0xF2, 0x48, 0xCD], final: false) + ServerBytes.frame(10)
                + compressed([0xC9, 0xC9, 0x07, 0x00], 0), ["text Hello"]
        ),
        (
            "empty fragments",
            compressed([], final: false) + compressed([0xF2, 0x48], 0, final: false)
                + compressed([], 0, final: false)
                + compressed([0xCD, 0xC9, 0xC9, 0x07, 0x00], 0, final: false) + compressed([], 0),
            ["text Hello"]
        ),
        (
            "§6 RSV1 in a continuation",
            compressed([0xF2], final: false)
                + ServerBytes.frame(0, [0x48], reserved: 4), ["failed 1002"]
        ),
        ("a reserved kind of block", compressed([0x06, 0x00]), ["failed 1007"]),
        ("a message that ends within a block", compressed([0xF2, 0x48, 0xCD]), ["failed 1007"]),
        ("no bytes at all", compressed([]), ["failed 1007"]),
        ("bytes after a flush are no header", compressed([0x00, 0x00]), ["failed 1007"]),
        (
            "a distance before the first byte", compressed([0xF2, 0x00, 0x11, 0, 0]),
            ["failed 1007"]
        ),
        (
            "text that is not UTF-8",
            compressed([0, 1, 0, 0xFE, 0xFF, 0xFF, 0]), ["failed 1007"]
        ),
    ]

    @Test(arguments: samples)
    func sample(_ rule: String, _ bytes: [UInt8], _ events: [String]) {
        for segments in Splits.all(bytes) {
            let connection = TestConnection(deflate: Self.agreement())
            #expect(connection.receive(segments) == events)
        }
    }

    // MARK: - Memory

    /// At each PING zlib's memory is returned; the windows go on, also in the bytes that are sent.
    @Test(arguments: [true, false], [9, 12, 15])
    func idleConnection(keepsContext: Bool, bits: Int) throws {
        let server = try #require(Server(bits, keepsContext: keepsContext))
        let agreement = Self.agreement(
            client: bits, server: bits, clientContext: keepsContext, serverContext: keepsContext)
        let connection = TestConnection(deflate: agreement)
        let busy = TestConnection(deflate: agreement)
        // It decompresses what the client sends.
        let opinion = TestConnection(deflate: agreement)
        var random = SeededGenerator(seed: 7)
        var sizes: [Int] = []
        let words = (0..<200).map { _ in random.bytes(8) }
        for round in 0..<6 {
            var message: [UInt8] = []
            for _ in 0..<(round == 3 ? 9_000 : 60) { message += words[random.below(words.count)] }
            let text = "binary \(NaiveWebSocket.shown(message))"
            #expect(connection.receive(Self.compressed(server.payload(message), 2)) == [text])
            #expect(connection.send(message) && busy.send(message))
            let (sent, other) = (connection.takeFrame(), busy.takeFrame())
            sizes.append(sent.count - other.count)
            #expect(opinion.receive(Self.compressed(sent, 2)) == [text])
            connection.now += .seconds(20)
            _ = connection.check()
            #expect(connection.written().map { $0.prefix(4) } == ["ping"])
            _ = connection.receive(
                ServerBytes.frame(10, [0, 0, 0, 0, 0, 0, 0, UInt8(round + 1)]))
        }
        // The dictionary saves as much as the window would.
        #expect(sizes.allSatisfy { abs($0) <= 40 }, "\(sizes)")
    }

    /// A message that is not complete keeps its memory.
    @Test func pingWithinAMessage() throws {
        let server = try #require(Server(15))
        let opinion = TestConnection(deflate: Self.agreement())
        let connection = TestConnection(deflate: Self.agreement())
        let parts = (
            server.payload(Array("one, ".utf8), ends: false), server.payload(Array("two".utf8))
        )
        #expect(connection.receive(Self.compressed(parts.0, final: false)) == [])
        #expect(connection.send(fragment: Array("three, ".utf8)))
        let first = connection.takeFrame()
        connection.now += .seconds(20)
        _ = connection.check()
        _ = connection.written()
        #expect(connection.receive(Self.compressed(parts.1, 0)) == ["text one, two"])
        #expect(connection.send(fragment: Array("four".utf8), ends: true))
        let events = opinion.receive(
            Self.compressed(first, 2, final: false) + Self.compressed(connection.takeFrame(), 0))
        #expect(events == ["binary three, four"])
    }

    // MARK: - Windows and contexts

    @Test(arguments: [true, false], [9, 10, 12, 15])
    func roundTrips(keepsContext: Bool, bits: Int) throws {
        var random = SeededGenerator(seed: UInt64(bits))
        let server = try #require(Server(bits, keepsContext: keepsContext))
        let agreement = Self.agreement(
            client: bits, server: bits, clientContext: keepsContext, serverContext: keepsContext)
        let connection = TestConnection(deflate: agreement)
        let opinion = TestConnection(deflate: agreement)
        let words = (0..<40).map { _ in random.bytes(random.below(12)) }
        for count in [0, 1, 5, 100, 3_000, 9_000, 70_000] {
            var message: [UInt8] = []
            while message.count < count { message += words[random.below(words.count)] }
            // What the server compresses arrives.
            let payload = server.payload(message)
            #expect(count < 3_000 || payload.count < message.count)
            let bytes = Self.compressed(payload, 2)
            #expect(
                connection.receive(Splits.random(bytes, &random))
                    == ["binary \(NaiveWebSocket.shown(message))"])
            // What the client compresses arrives, too.
            #expect(connection.send(message))
            let sent = Array(connection.output.contents)
            connection.output.removeAll()
            let (frame, _) = try #require(NaiveWebSocket.frame(sent[...]))
            #expect(frame.first == (message.isEmpty ? 0x82 : 0xC2))
            let returned = ServerBytes.frame(
                2, frame.payload, reserved: message.isEmpty ? 0 : 4)
            #expect(opinion.receive(returned) == ["binary \(NaiveWebSocket.shown(message))"])
        }
    }

    /// §7.1.1: without takeover, equal messages have equal bytes, and refer to nothing before them.
    @Test(arguments: [true, false])
    func contextTakeover(keepsContext: Bool) throws {
        let message = Array("a message that is long enough to be worth it".utf8)
        let server = try #require(Server(15, keepsContext: keepsContext))
        let first = server.payload(message)
        let second = server.payload(message)
        #expect((second.count < first.count / 2) == keepsContext)
        #expect((first == second) == !keepsContext)
        // A client that forgets the window cannot read a message that needs it.
        let forgetful = TestConnection(deflate: Self.agreement(serverContext: false))
        #expect(forgetful.receive(Self.compressed(first)).first?.hasPrefix("text") == true)
        let events = forgetful.receive(Self.compressed(second))
        #expect(keepsContext ? events == ["failed 1007"] : events.count == 1)
    }

    /// §7.1.2.1: a distance that is larger than the window of the server is invalid.
    @Test func windowOfTheServer() throws {
        var random = SeededGenerator(seed: 1)
        let block = random.bytes(1_200)
        let server = try #require(Server(15))
        let payload = server.payload(block + random.bytes(20_000) + block)
        let small = TestConnection(deflate: Self.agreement(server: 9))
        #expect(small.receive(Self.compressed(payload, 2)) == ["failed 1007"])
        let large = TestConnection(deflate: Self.agreement(server: 15))
        #expect(large.receive(Self.compressed(payload, 2)).first?.hasPrefix("binary") == true)
    }

    /// zlib cannot compress with 256 bytes; uncompressed messages are always allowed (§6).
    @Test func smallestWindowOfTheClient() {
        let connection = TestConnection(deflate: Self.agreement(client: 8))
        #expect(connection.send(Array("text".utf8), isText: true))
        #expect(
            connection.send(fragment: Array("a".utf8)) && connection.send(fragment: [], ends: true))
        #expect(connection.written() == ["text text", "binary unfinished a", "more"])
    }

    @Test func threshold() {
        let connection = TestConnection(deflate: Self.agreement(threshold: 10))
        #expect(connection.send([UInt8](repeating: 0x61, count: 9)))
        #expect(connection.written() == ["binary aaaaaaaaa"])
        #expect(connection.send([UInt8](repeating: 0x61, count: 10)))
        #expect(connection.written().first?.hasPrefix("binary reserved 4") == true)
    }

    /// §6.1: RSV1 in the first fragment, whatever its size; the message ends also with an empty one.
    @Test(arguments: [
        ["Hello, ", "you"], ["Hello, you", ""], ["", "Hello, you"], ["", ""], ["a", "", "b", ""],
    ])
    func fragments(_ parts: [String]) throws {
        let connection = TestConnection(deflate: Self.agreement())
        let opinion = TestConnection(deflate: Self.agreement())
        for round in 0..<3 {
            for (index, part) in parts.enumerated() {
                let isLast = index == parts.count - 1
                #expect(connection.send(fragment: Array(part.utf8), isText: true, ends: isLast))
            }
            var rest = Array(connection.output.contents)[...]
            connection.output.removeAll()
            var received: [UInt8] = []
            for index in parts.indices {
                let (frame, count) = try #require(NaiveWebSocket.frame(rest))
                rest = rest.dropFirst(count)
                #expect(frame.first & 0x40 == (index == 0 ? 0x40 : 0))
                received += ServerBytes.frame(
                    index == 0 ? 1 : 0, frame.payload, final: index == parts.count - 1,
                    reserved: index == 0 ? 4 : 0)
            }
            #expect(opinion.receive(received) == ["text \(parts.joined())"], "round \(round)")
        }
    }

    // MARK: - Limits

    @Test func limitAfterDecompression() throws {
        var limits = WebSocketState.Limits()
        limits.messageBytes = 20_000
        let server = try #require(Server(15, keepsContext: false))
        let exact = server.payload([UInt8](repeating: 0x61, count: 20_000))
        let larger = server.payload([UInt8](repeating: 0x61, count: 20_001))
        for segments in Splits.all(Self.compressed(exact)) {
            let connection = TestConnection(limits, deflate: Self.agreement())
            #expect(connection.receive(segments).first?.utf8.count == 20_005)
        }
        for segments in Splits.all(Self.compressed(larger)) {
            let connection = TestConnection(limits, deflate: Self.agreement())
            #expect(connection.receive(segments) == ["failed 1009"])
        }
    }

    /// The content arrives in parts of a bounded size, however much some bytes become.
    @Test func partsAreSmall() throws {
        var limits = WebSocketState.Limits()
        limits.messageBytes = nil
        let server = try #require(Server(15))
        let payload = server.payload([UInt8](repeating: 0x61, count: 1 << 20))
        let connection = TestConnection(limits, deflate: Self.agreement())
        #expect(connection.receive(Self.compressed(payload)).count == 1)
        #expect(connection.largestPart <= 8 << 10)
    }

    /// Bytes that become about 400 times smaller.
    private static func repetitive(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 1)
        var bytes = [UInt8](repeating: 0x61, count: count)
        for index in stride(from: 0, to: count, by: 3_000) {
            bytes[index] = UInt8(random.below(256))
        }
        return bytes
    }

    /// The ratio is that of responses: 1000 for the first 4 MiB by default, any other value from the first bytes.
    @Test(
        arguments: [
            (nil, 8 << 20, true), (200, 3 << 20, true), (200, 5 << 20, false),
            (100, 100_000, false), (100, 60_000, true),
        ] as [(Int?, Int, Bool)])
    func ratio(_ ratio: Int?, _ count: Int, isAllowed: Bool) throws {
        var limits = WebSocketState.Limits()
        limits.messageBytes = nil
        limits.ratio = ratio
        let server = try #require(Server(15))
        let message = Self.repetitive(count)
        let payload = server.payload(message)
        #expect((250...900).contains(count / payload.count))
        let connection = TestConnection(limits, deflate: Self.agreement())
        let events = connection.receive(Self.compressed(payload, 2))
        #expect(events == [isAllowed ? "binary \(count) bytes" : "failed 1009"])
    }

    // MARK: - Faulty bytes

    /// Any change of the bytes has the same result in any split.
    @Test(arguments: UInt64(1)...40)
    func changedBytes(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let server = try #require(Server(9 + random.below(7)))
            var bytes: [UInt8] = []
            for _ in 0..<3 {
                let message = Array(random.text(upTo: 60).utf8)
                let first = server.payload(Array(message.prefix(10)), ends: false)
                bytes += Self.compressed(first, final: false)
                bytes += Self.compressed(server.payload(Array(message.dropFirst(10))), 0)
            }
            for _ in 0..<random.below(4) {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            let whole = TestConnection(deflate: Self.agreement())
            let events = whole.receive(bytes)
            for segments in [bytes.map { [$0] }, Splits.random(bytes, &random)] {
                let split = TestConnection(deflate: Self.agreement())
                #expect(split.receive(segments) == events)
                #expect(
                    split.beginning == whole.beginning || events.last?.hasPrefix("failed") == true)
            }
        }
    }
}
