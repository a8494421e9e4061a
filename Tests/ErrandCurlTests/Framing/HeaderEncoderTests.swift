import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCurl

/// Header blocks are encoded so that any decoder reads them, and so that secrets stay out of tables.
struct HeaderEncoderTests {
    /// An encoder, and the decoder of its peer.
    final class Pair {
        var encoder = HeaderEncoder()
        var peer = NaiveHPACK()

        /// The bytes of a head with these fields.
        func encode(
            _ fields: [HTTPField], isHead: Bool = true, authority: String? = nil,
            path: String? = nil
        ) -> [UInt8] {
            let output = TextBuffer(capacity: 64)
            encoder.begin(isHead: isHead, into: output)
            if let authority { encoder.append(authority: authority, into: output) }
            if let path {
                Array(path.utf8).withUnsafeBytes { encoder.append(path: $0, into: output) }
            }
            for field in fields { encoder.append(field, into: output) }
            return Array(output.contents)
        }

        /// The fields that the peer reads.
        func decode(_ block: [UInt8]) -> [String]? { peer.decode(block)?.map(\.description) }
    }

    private static func field(
        _ name: String, _ value: String,
        _ strategy: HTTPField.DynamicTableIndexingStrategy = .automatic
    ) -> HTTPField {
        var field = HTTPField(name: HTTPField.Name(name) ?? .te, value: value)
        field.indexingStrategy = strategy
        return field
    }

    @Test func pseudoHeaderFields() {
        let pair = Pair()
        let output = TextBuffer(capacity: 64)
        for (method, scheme) in [("GET", "https"), ("POST", "http"), ("PUT", "ftp")] {
            pair.encoder.append(method: method, into: output)
            pair.encoder.append(scheme: scheme, into: output)
        }
        pair.encoder.append(protocolName: "websocket", into: output)
        #expect(
            pair.decode(Array(output.contents)) == [
                ":method: GET", ":scheme: https", ":method: POST", ":scheme: http", ":method: PUT",
                ":scheme: ftp", ":protocol: websocket",
            ])
        #expect(Array(output.contents.prefix(4)) == [0x82, 0x87, 0x83, 0x86])
        #expect(pair.encode([], path: "/") == [0x84])
        let block = pair.encode([], authority: "a.test", path: "/x?y=1")
        #expect(pair.decode(block) == [":authority: a.test", ":path: /x?y=1"])
    }

    /// The fields of the next head are one byte each.
    @Test func repeatedHead() {
        let pair = Pair()
        let fields = [
            Self.field("User-Agent", "errand/1"), Self.field("Accept", "*/*"),
            Self.field("X-Custom", "a b"), Self.field("Accept-Encoding", "gzip, deflate"),
        ]
        let expected = [
            ":authority: a.test", "user-agent: errand/1", "accept: */*", "x-custom: a b",
            "accept-encoding: gzip, deflate",
        ]
        let first = pair.encode(fields, authority: "a.test")
        #expect(pair.decode(first) == expected)
        for _ in 0..<3 {
            let next = pair.encode(fields, authority: "a.test")
            #expect(next == [0xC1, 0xC0, 0xBF, 0xBE, 0x90])
            #expect(pair.decode(next) == expected)
        }
        // Fields at other places are found, too.
        let moved = pair.encode(fields.reversed())
        #expect(moved == [0x90, 0xBE, 0xBF, 0xC0])
        #expect(pair.decode(moved) == expected.dropFirst().reversed())
    }

    /// A value enters the table when it is the first one, or repeats.
    @Test func changingValues() {
        let pair = Pair()
        for number in 0..<50 {
            let block = pair.encode([Self.field("x-trace", "trace \(number)")])
            #expect(pair.decode(block) == ["x-trace: trace \(number)"])
            #expect(pair.peer.table.count == 1)
        }
        for _ in 0..<2 { _ = pair.decode(pair.encode([Self.field("x-trace", "trace 49")])) }
        #expect(pair.peer.table.map(\.description) == ["x-trace: trace 49", "x-trace: trace 0"])
    }

    @Test(arguments: ["content-length", "if-none-match", "range", "traceparent"])
    func neverRepeated(_ name: String) {
        let pair = Pair()
        for _ in 0..<3 {
            let block = pair.encode([Self.field(name, "12345")])
            #expect(block[0] & 0xF0 == 0)
            #expect(pair.decode(block) == ["\(name): 12345"])
        }
        #expect(pair.peer.table.isEmpty)
    }

    /// RFC 7541 §7.1.3: credentials and short secrets are never indexed, also by a peer that encodes them again.
    @Test(arguments: [
        ("authorization", "Bearer 0123456789012345678901234567890123456789"),
        ("proxy-authorization", "Basic eA=="), ("cookie", "a=b"), ("x-api-key", "0123456789"),
    ])
    func secrets(_ name: String, _ value: String) {
        let pair = Pair()
        for _ in 0..<3 {
            let block = pair.encode([Self.field(name, value)])
            #expect(block[0] & 0xF0 == 0x10)
            #expect(pair.decode(block) == ["\(name): \(value)"])
        }
        #expect(pair.peer.table.isEmpty)
    }

    /// A long secret cannot be guessed, and cookies are large.
    @Test(arguments: [("cookie", 20), ("x-api-key", 40)])
    func longSecrets(_ name: String, _ count: Int) {
        let pair = Pair()
        let field = Self.field(name, String(repeating: "x", count: count))
        _ = pair.decode(pair.encode([field]))
        #expect(pair.peer.table.count == 1)
        #expect(pair.encode([field]) == [0xBE])
    }

    /// The index of a name in the dynamic table changes with each insertion.
    @Test func literalWithANameOfTheTable() {
        let pair = Pair()
        let short = Self.field("x-api-key", "0123456789")
        let long = Self.field("x-api-key", String(repeating: "x", count: 40))
        for fields in [[long], [short], [short, Self.field("a", "1")], [short], [short]] {
            let expected = fields.map { "\($0.name.canonicalName): \($0.value)" }
            #expect(pair.decode(pair.encode(fields)) == expected)
        }
    }

    @Test func strategies() {
        let pair = Pair()
        let fields = [
            Self.field("a", "1", .avoid), Self.field("b", "2", .disallow),
            Self.field("content-length", "3", .prefer),
        ]
        for _ in 0..<2 {
            #expect(pair.decode(pair.encode(fields)) == ["a: 1", "b: 2", "content-length: 3"])
        }
        #expect(pair.peer.table.map(\.description) == ["content-length: 3"])
        #expect(pair.encode([fields[0]])[0] == 0x00)
        #expect(pair.encode([fields[1]])[0] == 0x10)
    }

    /// Text that is canonically equivalent has other bytes, perhaps as many.
    @Test(arguments: [
        ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{212A}", "K"), (";", "\u{37E}"),
        ("\u{212B}", "A\u{30A}"), ("A\u{30A}", "\u{212B}"),
    ])
    func equivalentText(_ one: String, _ other: String) {
        let pair = Pair()
        for value in [one, one, other, other, one] {
            let block = pair.encode([Self.field("x-text", value)], authority: "\(value).test")
            #expect(
                pair.peer.decode(block) == [
                    NaiveHPACK.Field(":authority", "\(value).test"),
                    NaiveHPACK.Field("x-text", value),
                ])
        }
    }

    @Test func trailersLeaveTheHeadAlone() {
        let pair = Pair()
        let fields = [Self.field("a", "1"), Self.field("b", "2")]
        _ = pair.decode(pair.encode(fields))
        #expect(pair.decode(pair.encode([Self.field("c", "3")], isHead: false)) == ["c: 3"])
        #expect(pair.encode(fields) == [0xC0, 0xBF])
    }

    /// RFC 7541 §4.2: a block begins with the lowest and the last size since the one before.
    @Test func tableSizes() {
        let pair = Pair()
        let fields = [Self.field("a", "1"), Self.field("b", "2")]
        _ = pair.decode(pair.encode(fields))
        pair.encoder.changeTableSize(to: 34)
        pair.encoder.changeTableSize(to: 2_000)
        let block = pair.encode(fields)
        #expect(Array(block.prefix(5)) == [0x3F, 3, 0x3F, 0xB1, 0x0F])
        #expect(pair.decode(block) == ["a: 1", "b: 2"])
        pair.encoder.changeTableSize(to: 0)
        for _ in 0..<2 { #expect(pair.decode(pair.encode(fields)) == ["a: 1", "b: 2"]) }
        #expect(pair.peer.table.isEmpty)
        // The encoder uses no larger table than its own.
        pair.encoder.changeTableSize(to: 1 << 20)
        #expect(pair.encode([]) == [0x3F, 0xE1, 0x1F])
        pair.encoder.changeTableSize(to: 1 << 20)
        #expect(pair.encode([]) == [])
    }

    /// Random heads, tables and orders: the peer reads what was written.
    @Test(arguments: UInt64(1)...40)
    func randomHeads(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pair = Pair()
        let names = ["a", "x-b", "accept", "cookie", "user-agent", "x-key", "range", "etag"]
        for _ in 0..<60 {
            if random.next(12) == 0 { pair.encoder.changeTableSize(to: random.next(5_000)) }
            let fields = (0..<random.next(12)).map { _ in
                let count = random.next(20) == 0 ? random.next(5_000) : random.next(30)
                let text = String(repeating: random.next(3) == 0 ? "é" : "x", count: count)
                return Self.field(names[random.next(names.count)], text + String(random.next(3)))
            }
            let expected = fields.map { NaiveHPACK.Field($0.name.canonicalName, $0.value) }
            let isHead = random.next(8) > 0
            let block = pair.encode(fields, isHead: isHead, authority: "h\(random.next(2)).test")
            #expect(pair.peer.decode(block)?.dropFirst() == expected[...])
            #expect(pair.peer.size == pair.encoder.size)
        }
    }
}
