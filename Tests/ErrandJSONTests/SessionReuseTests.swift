import ErrandJSON
import Foundation
import Synchronization
import Testing

/// Sessions are reused for later documents without visible effects.
@Suite struct SessionReuseTests {
    private struct Point: Codable, Equatable {
        var x: Int
        var y: [String: Double]
        var name: String?
    }

    private static let point = Point(x: 1, y: ["a": 0.5], name: "n/m")
    private static let text = #"{"x":1,"y":{"a":0.5},"name":"n\/m"}"#

    private func encode(_ value: some Encodable, _ encoder: JSONWriter = .init()) -> String? {
        (try? encoder.encodeBytes(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func repeatedCodingGivesTheSameResults() throws {
        for _ in 0..<20 {
            #expect(encode(SessionReuseTests.point) == SessionReuseTests.text)
            #expect(encode([SessionReuseTests.point]) == "[\(SessionReuseTests.text)]")
            #expect(encode(1) == "1")
            #expect(encode("x") == "\"x\"")
            #expect(encode(String(repeating: "long", count: 50_000))?.utf8.count == 200_002)
            let data = Data(SessionReuseTests.text.utf8)
            #expect(try JSONReader().decode(Point.self, from: data) == SessionReuseTests.point)
            #expect(try JSONReader().decode([Int].self, from: Data("[1]".utf8)) == [1])
        }
    }

    @Test func eachCallUsesItsOwnOptions() throws {
        struct Dated: Codable, Equatable {
            var when: Date
            var data: Data
            var ratio: Double
        }
        let value = Dated(when: Date(timeIntervalSince1970: 0), data: Data([1]), ratio: .infinity)
        var other = JSONWriter()
        other.dateEncodingStrategy = .iso8601
        other.dataEncodingStrategy = .deferredToData
        other.outputFormatting = .withoutEscapingSlashes
        other.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        var reader = JSONReader()
        reader.dateDecodingStrategy = .iso8601
        reader.dataDecodingStrategy = .deferredToData
        reader.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        for _ in 0..<5 {
            let text = #"{"when":"1970-01-01T00:00:00Z","data":[1],"ratio":"+"}"#
            #expect(encode(value, other) == text)
            #expect(encode(value) == nil)
            #expect(try reader.decode(Dated.self, from: Data(text.utf8)) == value)
            #expect(throws: DecodingError.self) {
                try JSONReader().decode(Dated.self, from: Data(text.utf8))
            }
            #expect(encode("a/b", other) == "\"a/b\"")
            #expect(encode(["a/b": 1]) == #"{"a\/b":1}"#)
            #expect(encode(SessionReuseTests.point) == SessionReuseTests.text)
        }
    }

    /// A key of one byte whose text changes between documents.
    private struct ChangingKey: CodingKey {
        @TaskLocal static var prefix = ""
        var place: UInt8
        var stringValue: String { "\(ChangingKey.prefix)\(place)" }
        var intValue: Int? { nil }
        init(_ place: UInt8) { self.place = place }
        init?(stringValue: String) { nil }
        init?(intValue: Int) { nil }
    }

    @Test func cachedKeysAreComparedInEachDocument() {
        struct ChangingKeys: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: ChangingKey.self)
                try container.encode(1, forKey: ChangingKey(1))
                try container.encode(2, forKey: ChangingKey(2))
            }
        }
        for prefix in ["a", "b", "a\"", "a", "", "abcdefgh", "abcdefgi"] {
            ChangingKey.$prefix.withValue(prefix) {
                let key = prefix.replacing("\"", with: "\\\"")
                let item = "{\"\(key)1\":1,\"\(key)2\":2}"
                #expect(encode([ChangingKeys(), ChangingKeys()]) == "[\(item),\(item)]")
            }
        }
    }

    @Test func knownKeysAreConvertedInEachDocument() throws {
        struct ChangingKeys: Decodable {
            let values: [Int?]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: ChangingKey.self)
                values = try [1, 2].map {
                    try container.decodeIfPresent(Int.self, forKey: ChangingKey($0))
                }
            }
        }
        var former = "z"
        for prefix in ["a", "b", "a\"", "a", "", "abcdefgh", "abcdefgi", "longerThanAShortKey"] {
            try ChangingKey.$prefix.withValue(prefix) {
                let key = prefix.replacing("\"", with: "\\\"")
                // The keys of the document before come first: they would be found if they were kept.
                let members = [(former, 1, 8), (key, 1, 1), (former, 2, 9), (key, 2, 2)]
                let texts = members.map { "\"\($0)\($1)\":\($2)" }
                let item = "{\(texts.joined(separator: ","))}"
                let text = "[\(item),\(item),{\"\(key)2\":3},{\"2\(key)\":4},\(item)]"
                let items = try JSONReader().decode([ChangingKeys].self, from: Data(text.utf8))
                let last = prefix.isEmpty ? 4 : nil
                #expect(
                    items.map(\.values) == [[1, 2], [1, 2], [nil, 3], [nil, last], [1, 2]])
                former = key
            }
        }
    }

    /// Both types have other texts for the same byte, and either one may come first.
    @Test func keysOfTwoTypesAreNotConfused() throws {
        enum First: CodingKey { case a, b }
        enum Second: CodingKey { case b, a }
        struct FirstAhead: Decodable {
            let values: [Int]
            init(from decoder: any Decoder) throws {
                let first = try decoder.container(keyedBy: First.self)
                let second = try decoder.container(keyedBy: Second.self)
                values = try [
                    first.decode(Int.self, forKey: .a), second.decode(Int.self, forKey: .b),
                    second.decode(Int.self, forKey: .a), first.decode(Int.self, forKey: .b),
                ]
            }
        }
        struct SecondAhead: Decodable {
            let values: [Int]
            init(from decoder: any Decoder) throws {
                let first = try decoder.container(keyedBy: First.self)
                let second = try decoder.container(keyedBy: Second.self)
                values = try [
                    second.decode(Int.self, forKey: .b), first.decode(Int.self, forKey: .a),
                    first.decode(Int.self, forKey: .b), second.decode(Int.self, forKey: .a),
                ]
            }
        }
        for orders in [[0, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]] {
            let items = orders.map { [#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#][$0] }
            let text = Data("[\(items.joined(separator: ",")),\(items[0]),\(items[1])]".utf8)
            let first = try JSONReader().decode([FirstAhead].self, from: text)
            #expect(first.map(\.values) == Array(repeating: [1, 2, 1, 2], count: 5), "\(orders)")
            let second = try JSONReader().decode([SecondAhead].self, from: text)
            #expect(second.map(\.values) == Array(repeating: [2, 1, 2, 1], count: 5), "\(orders)")
        }
    }

    private final class Token: Sendable {}

    /// Whether a token in `userInfo`, also passed to `body`, is deallocated after `body` returns.
    private func isDeallocated(
        _ body: (JSONWriter, CodingUserInfoKey, Token) throws -> Void
    ) throws -> Bool {
        let key = try #require(CodingUserInfoKey(rawValue: "token"))
        weak var seen: Token?
        do {
            let token = Token()
            seen = token
            var encoder = JSONWriter()
            encoder.userInfo[key] = token
            try body(encoder, key, token)
        }
        return seen == nil
    }

    @Test func sessionsRetainNoUserObjects() throws {
        let isDeallocated = try isDeallocated { encoder, key, token in
            var encoder = encoder
            encoder.dateEncodingStrategy = .custom { _, _ in _ = token }
            _ = encode(SessionReuseTests.point, encoder)
            var decoder = JSONReader()
            decoder.userInfo[key] = token
            decoder.dateDecodingStrategy = .custom { _ in
                _ = token
                return Date()
            }
            _ = try decoder.decode(Point.self, from: Data(SessionReuseTests.text.utf8))
        }
        #expect(isDeallocated)
    }

    @Test func failedEncodingReleasesItsState() throws {
        struct Failure: Error {}
        struct Failing: Encodable {
            enum Key: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var later = container.nestedContainer(keyedBy: Key.self, forKey: .a)
                try later.encode(1, forKey: .b)
                _ = container.superEncoder()
                throw Failure()
            }
        }
        let isDeallocated = try isDeallocated { encoder, _, _ in
            #expect(throws: Failure.self) { try encoder.encode(Failing()) }
            #expect(throws: Failure.self) { try encoder.encode([Failing(), Failing()]) }
        }
        #expect(isDeallocated)
    }

    @Test func nestedCodersUseSeparateSessions() throws {
        struct Wrapped: Codable, Equatable {
            var point: Point
            init(_ point: Point) { self.point = point }
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                point = try JSONReader().decode(Point.self, from: Data(text.utf8))
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                let bytes = try JSONWriter().encodeBytes(point)
                try container.encode(String(decoding: bytes, as: UTF8.self))
            }
        }
        let values = (0..<5).map { Wrapped(Point(x: $0, y: [:], name: nil)) }
        for _ in 0..<4 {
            let data = try JSONWriter().encode(["k": values])
            #expect(
                try JSONReader().decode([String: [Wrapped]].self, from: data)["k"] == values)
        }
    }

    @Test func errorsDoNotAffectLaterDocuments() throws {
        struct Failing: Codable {
            var fails: Bool
            var points: [Point]
            init(fails: Bool) {
                self.fails = fails
                points = [SessionReuseTests.point]
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(points)
                var inner = container.nestedContainer(keyedBy: ChangingKey.self)
                try inner.encode(fails ? Double.nan : 1, forKey: ChangingKey(7))
            }
        }
        for index in 0..<12 {
            let fails = index % 3 == 0
            let expected = #"[[\#(SessionReuseTests.text)],{"7":1}]"#
            #expect(encode(Failing(fails: fails)) == (fails ? nil : expected))
            let wrong = Data(#"[{"x":1,"y":{"a":"b"}}]"#.utf8)
            #expect(throws: DecodingError.self) {
                try JSONReader().decode([Point].self, from: wrong)
            }
            #expect(encode(SessionReuseTests.point) == SessionReuseTests.text)
        }
    }

    @Test func retainedCodersAreNotReused() throws {
        final class CoderList: Sendable {
            let paths = Mutex<[@Sendable () -> [String]]>([])
        }
        struct Retaining: Codable {
            var id: Int
            enum Keys: CodingKey { case id }
            @TaskLocal static var list = CoderList()
            init(id: Int) { self.id = id }
            init(from decoder: any Decoder) throws {
                id = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
                nonisolated(unsafe) let coder = decoder
                Retaining.list.paths.withLock { $0.append { coder.codingPath.map(\.stringValue) } }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(id, forKey: .id)
                nonisolated(unsafe) let coder = encoder
                Retaining.list.paths.withLock { $0.append { coder.codingPath.map(\.stringValue) } }
            }
        }
        for round in 0..<5 {
            let text = #"{"k":{"id":\#(round)}}"#
            #expect(encode(["k": Retaining(id: round)]) == text)
            let value = try JSONReader().decode(
                [String: Retaining].self, from: Data(text.utf8))
            #expect(value["k"]?.id == round)
            #expect(encode([Retaining(id: 7)]) == #"[{"id":7}]"#)
        }
        let paths = Retaining.list.paths.withLock { $0 }.map { $0() }
        #expect(paths == Array(repeating: [["k"], ["k"], ["Index 0"]], count: 5).flatMap { $0 })
    }

    @Test func concurrentCodersAreIndependent() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for round in 0..<200 {
                        let value = (0..<8).map {
                            Point(x: task * round + $0, y: ["\(task)": Double(round)], name: nil)
                        }
                        guard let data = try? JSONWriter().encode(value),
                            let again = try? JSONReader().decode([Point].self, from: data),
                            again == value
                        else { return false }
                    }
                    return true
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
